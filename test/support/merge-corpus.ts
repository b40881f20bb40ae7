import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Edit } from '../../src/kernel/edit.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { documentsIn, editedManifests, objectName } from './edited-manifests.ts';
import { editsBetween, type ManifestEdit, withEdits } from './manifest-edits.ts';
import { manifestFile } from './releases.ts';

/** One edited manifest, and what becomes of its edits. */
export interface CorpusFile {
  readonly name: string;
  /** The target's file where it has another name there. */
  readonly target?: string;
  readonly outcomes: Partial<Record<Edit['outcome'], number>>;
}

/** Calico's manifest for VXLAN of the target is not packed; the plain one differs in two variables that these files set. */
const PLAIN = 'calico.yaml';

export const corpusFiles: readonly CorpusFile[] = [
  { name: 'calico-etcd-v3.18.1-dotbalo', outcomes: { kept: 4, obsolete: 1, target: 1 } },
  { name: 'calico-v3.15.0-andrewmackrodt', outcomes: { kept: 2 } },
  { name: 'calico-v3.17.1-mhmxs', outcomes: { kept: 4, already: 1, conflict: 1, target: 1 } },
  { name: 'calico-v3.19.1-kubecube-io', outcomes: { already: 2, obsolete: 1, conflict: 4 } },
  { name: 'calico-v3.19.3-cloudnativer', outcomes: { kept: 12 } },
  { name: 'calico-v3.23.3-yuikuen', outcomes: { kept: 5 } },
  { name: 'calico-v3.25.0-zakaria-statistics', outcomes: { kept: 3 } },
  { name: 'calico-v3.27.2-kubevirt', outcomes: { kept: 11, already: 8 } },
  { name: 'calico-v3.31.2-shixiaochuangdev', outcomes: { kept: 7 } },
  { name: 'canal-v3.21.1-ilkilab', outcomes: { kept: 5, obsolete: 1 } },
  { name: 'canal-v3.26.4-ChickenIQ', outcomes: { kept: 8 } },
  { name: 'operator-v3.17.0-aws', outcomes: { kept: 1 } },
  { name: 'operator-v3.31.2-shixiaochuangdev', outcomes: { kept: 1 } },
  {
    name: 'policy-only-v3.17.1-aws',
    outcomes: { kept: 43, already: 2, conflict: 3, target: 16 },
  },
  { name: 'policy-only-v3.23.0-kubernetes-sigs', outcomes: { kept: 6, already: 1 } },
  { name: 'typha-v3.19.0-IamMrCupp', outcomes: { kept: 2, target: 1 } },
  { name: 'typha-v3.25.1-dotbalo', outcomes: { kept: 7 } },
  {
    name: 'vxlan-v3.28.1-canonical',
    target: PLAIN,
    outcomes: { kept: 17, already: 1, conflict: 4 },
  },
  { name: 'vxlan-v3.29.4-kubernetes-sigs', target: PLAIN, outcomes: { kept: 7, conflict: 1 } },
];

/** An edit by object and path, as the data and the merge both tell it. */
export interface ToldEdit {
  readonly object: string;
  readonly path: string;
}

/** The edits that a person made in a file; mere order, an entry that stood there twice, another release's image and the default registry's spelling are none. */
export function toldEdits(name: string): readonly ToldEdit[] {
  const { release, file, edits } = editedManifests[name] ?? assert.fail(name);
  const base = new Map(documentsIn(readFileSync(manifestFile(release, file), 'utf8')).map(({ object }) => [objectName(object), object]));
  return edits
    .filter(
      (edit) =>
        !edit.order && !isDescription(edit) && !isRepetition(base.get(edit.object), edit) && !isSameImage(base.get(edit.object), edit),
    )
    .flatMap((edit) => told(edit, base.get(edit.object)));
}

/** Texts for people in definitions are not compared. */
function isDescription({ object, path = [] }: ManifestEdit): boolean {
  return object.startsWith('CustomResourceDefinition/') && path.at(-1) === 'description';
}

function told({ object: name, path, ...edit }: ManifestEdit, base: KubeObject | undefined): readonly ToldEdit[] {
  const [kind, , own] = name.split('/');
  const object = `${kind}/${own}`;
  // A definition is compared as a whole.
  if (path === undefined || kind === 'CustomResourceDefinition') return [{ object, path: '' }];
  const steps = (all: typeof path) => plain(all.map((step) => (typeof step === 'string' ? step : Object.values(step).join())).join('.'));
  const [before, after] = [base, withEdits(base, [{ path, ...edit }])].map((one) => json(fieldOf(one, path)));
  if (!before || !after) return [{ object, path: steps(path) }];
  return editsBetween(before, after).map((inner) => ({ object, path: steps([...path, ...inner.path]) }));
}

/** What stands in a text as JSON, lists by their places; undefined where there is none. */
function json(text: unknown): unknown {
  if (typeof text !== 'string' || !text.trimStart().startsWith('{')) return undefined;
  const quoted = text.replaceAll(/(:\s*)(__\w+__)/g, '$1"$2"');
  return JSON.parse(quoted, (_, value) => (Array.isArray(value) ? { ...value } : value));
}

function fieldOf(object: unknown, path: readonly (string | object)[]): unknown {
  return path.reduce<unknown>((value, step) => {
    if (typeof step === 'string') return (value as Readonly<Record<string, unknown>> | undefined)?.[step];
    const [[key = '', name] = []] = Object.entries(step);
    return (value as readonly Readonly<Record<string, unknown>>[] | undefined)?.find((entry) => entry[key] === name);
  }, object);
}

const isRepetition = (object: KubeObject | undefined, { path = [], changes }: ManifestEdit): boolean => {
  const list = fieldOf(object, path);
  if (!changes || !Array.isArray(list)) return false;
  const after = withEdits(list, [{ path: [], changes }]) as readonly unknown[];
  return [list, after].every((one, index) => one.every((entry) => [after, list][index]?.some((other) => isDeepStrictEqual(entry, other))));
};

/** Of which release an image is says what is installed, and is no edit. */
const isSameImage = (object: KubeObject | undefined, { path = [], value }: ManifestEdit): boolean =>
  path.at(-1) === 'image' && repository(fieldOf(object, path)) === repository(value);

const repository = (image: unknown): string =>
  String(image)
    .replace(/^docker\.io\//, '')
    .replace(/:[^:/]*$/, '');

export function tracedEdit({ ref, path }: Edit): ToldEdit {
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
export function meet(a: ToldEdit, b: ToldEdit): boolean {
  if (a.object !== b.object && !(a.object.startsWith('Custom') && b.object.startsWith(`${a.object}.`))) return false;
  const [short, long] = a.path.length < b.path.length ? [a.path, b.path] : [b.path, a.path];
  return short === long || (short !== '' && long.startsWith(`${short}.`));
}
