import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Trace } from '../../src/core/trace.ts';

export const corpus = join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus');

/** One edited manifest of the corpus: the release it was made from, the file, and what becomes of its edits. */
export interface CorpusFile {
  readonly name: string;
  readonly base: string;
  readonly file: string;
  /** The target's file where it has another name there. */
  readonly target?: string;
  readonly outcomes: Partial<Record<Trace['outcome'], number>>;
}

/** Calico's manifest for VXLAN of the target is not packed; the plain one differs in two variables that these files set. */
const PLAIN = 'calico.yaml';

export const corpusFiles: readonly CorpusFile[] = [
  { name: 'calico-etcd-v3.18.1-dotbalo', base: 'v3.18.0', file: 'calico-etcd.yaml', outcomes: { kept: 4, obsolete: 1, target: 1 } },
  { name: 'calico-v3.15.0-andrewmackrodt', base: 'v3.15.0', file: PLAIN, outcomes: { kept: 2, target: 1 } },
  { name: 'calico-v3.17.1-mhmxs', base: 'v3.17.1', file: PLAIN, outcomes: { kept: 4, already: 1, conflict: 1, target: 1 } },
  { name: 'calico-v3.19.1-kubecube-io', base: 'v3.19.1', file: PLAIN, outcomes: { already: 2, obsolete: 1, conflict: 4 } },
  { name: 'calico-v3.19.3-cloudnativer', base: 'v3.21.5', file: PLAIN, outcomes: { kept: 12 } },
  { name: 'calico-v3.23.3-yuikuen', base: 'v3.23.4', file: PLAIN, outcomes: { kept: 5 } },
  { name: 'calico-v3.25.0-zakaria-statistics', base: 'v3.25.0', file: PLAIN, outcomes: { kept: 3 } },
  { name: 'calico-v3.27.2-kubevirt', base: 'v3.27.2', file: PLAIN, outcomes: { kept: 11, already: 8 } },
  { name: 'calico-v3.31.2-shixiaochuangdev', base: 'v3.31.2', file: PLAIN, outcomes: { kept: 7 } },
  { name: 'canal-v3.21.1-ilkilab', base: 'v3.21.1', file: 'canal.yaml', outcomes: { kept: 5, obsolete: 1, target: 1 } },
  { name: 'canal-v3.26.4-ChickenIQ', base: 'v3.26.4', file: 'canal.yaml', outcomes: { kept: 8 } },
  { name: 'operator-v3.17.0-aws', base: 'v3.17.0', file: 'tigera-operator.yaml', outcomes: { kept: 1 } },
  { name: 'operator-v3.31.2-shixiaochuangdev', base: 'v3.31.2', file: 'tigera-operator.yaml', outcomes: { kept: 1 } },
  {
    name: 'policy-only-v3.17.1-aws',
    base: 'v3.17.1',
    file: 'calico-policy-only.yaml',
    outcomes: { kept: 43, already: 2, conflict: 3, target: 16 },
  },
  { name: 'policy-only-v3.23.0-kubernetes-sigs', base: 'v3.23.0', file: 'calico-policy-only.yaml', outcomes: { kept: 6, already: 1 } },
  { name: 'typha-v3.19.0-IamMrCupp', base: 'v3.19.0', file: 'calico-typha.yaml', outcomes: { kept: 2, target: 1 } },
  { name: 'typha-v3.25.1-dotbalo', base: 'v3.25.1', file: 'calico-typha.yaml', outcomes: { kept: 7 } },
  {
    name: 'vxlan-v3.28.1-canonical',
    base: 'v3.28.1',
    file: 'calico-vxlan.yaml',
    target: PLAIN,
    outcomes: { kept: 17, already: 1, conflict: 4 },
  },
  { name: 'vxlan-v3.29.4-kubernetes-sigs', base: 'v3.29.4', file: 'calico-vxlan.yaml', target: PLAIN, outcomes: { kept: 7, conflict: 1 } },
];

/** An edit by object and path, as the index and a trace both tell it. */
export interface IndexedEdit {
  readonly object: string;
  readonly path: string;
}

/** The index compares that file with the release before, which did not have this yet. */
const OF_ITS_RELEASE = 'volumes[cni-bin-dir].hostPath.type';

/** The edits that the index lists of a file; mere order and spelling of the default registry are none. */
export function indexedEdits(name: string): readonly IndexedEdit[] {
  const index = readFileSync(join(corpus, 'INDEX.md'), 'utf8');
  const section = index.split(/^## /m).find((one) => one.startsWith(`${name}.yaml`)) ?? '';
  const lines = section.slice(section.indexOf('Edits:')).match(/^- .*/gm) ?? [];
  return lines
    .filter((line) => !isNoEdit(line) && !(name.includes('canonical') && line.includes(OF_ITS_RELEASE)))
    .flatMap((line) => editOf(line) ?? []);
}

function isNoEdit(line: string): boolean {
  const image = /`docker\.io\/(\S+)` → `(\S+)`/.exec(line);
  return /another order|CRD bodies|entries → /.test(line) || (image !== null && image[1] === image[2]);
}

function editOf(line: string): IndexedEdit | undefined {
  const whole = /^- object (?:added|removed): (\S+)/.exec(line);
  if (whole) return { object: whole[1] ?? '', path: '' };
  const definition = /^- CRD (\w+):/.exec(line);
  if (definition) return { object: `CustomResourceDefinition/${definition[1]}`, path: '' };
  const field = /^- (\w+\/[^:\s]+): `([^`]+)`/.exec(line);
  return field ? { object: field[1] ?? '', path: plain(field[2] ?? '') } : undefined;
}

export function tracedEdit({ ref, path }: Trace): IndexedEdit {
  return { object: `${ref.kind}/${ref.name}`, path: plain(path) };
}

/** One spelling of paths: dots only, plugins by nothing, sets without their items, renamed items by their new name. */
function plain(path: string): string {
  return path
    .replace('(json)', '')
    .replace('mount-bpffs', 'ebpf-bootstrap')
    .replaceAll(/[[\].]+/g, '.')
    .replace(/\.plugins\.[^.]+/, '.plugins')
    .replace(/\b(tolerations|rules|command)\..*/, '$1')
    .replace(/\.$/, '');
}

/** They tell of the same place, or one of a place within the other's. */
export function meet(a: IndexedEdit, b: IndexedEdit): boolean {
  if (a.object !== b.object && !(a.object.startsWith('Custom') && b.object.startsWith(`${a.object}.`))) return false;
  const [short, long] = a.path.length < b.path.length ? [a.path, b.path] : [b.path, a.path];
  return short === long || (short !== '' && long.startsWith(`${short}.`));
}
