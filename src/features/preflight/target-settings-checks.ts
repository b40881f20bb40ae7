import { notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import type { Installation } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json-map.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { allContainersOf, findWorkload } from '../rollout/index.ts';
import type { PreflightFacts } from '../survey/index.ts';
import {
  crosses,
  failed,
  hasFullManifest,
  listed,
  PROGRAM,
  type PreflightCheck,
  readTarget,
  sourceRelease,
  withInstallation,
} from '../survey/index.ts';

/** What stands before an image's last path segment: `docker.io/calico`; Docker Hub's short form is spelt out. */
export function registryOf(image: string): string {
  const path = image
    .replace(/@sha256:.*$/, '')
    .split('/')
    .slice(0, -1);
  const first = path[0] ?? '';
  const host = first.includes('.') || first.includes(':') || first === 'localhost';
  return (host ? path : ['docker.io', ...path]).join('/');
}

function within(registry: string, prefix: string): boolean {
  const full = registryOf(`${prefix}/x`);
  return registry === full || registry.startsWith(`${full}/`);
}

/** Components that have always had a registry of their own. */
const ELSEWHERE = new Set(['flannel', 'operator']);

export const targetSettingsChecks: readonly PreflightCheck[] = [
  {
    id: 'NS-606',
    title: 'images can be pulled from their registry',
    category: 'manifest',
    severity: 'warning',
    ref: 'domain §12/28',
    judge: withInstallation((installation, facts, context): Verdict => {
      const move = context.profile.registryMove;
      const source = sourceRelease(installation, facts, context);
      if (!move || !crosses(source, context.options.release, move.since)) return notApplicable('images stay in their registry');
      const used = [
        ...new Set(installation.components.filter(({ component }) => !ELSEWHERE.has(component)).map(({ image }) => registryOf(image))),
      ];
      const others = used.filter((registry) => !within(registry, move.to));
      const mirrors = others.filter((registry) => !within(registry, move.from));
      const wanted = targetImages(documentsOf(installation, facts)).filter((image) => within(registryOf(image), move.to));
      if (others.length === 0) return ok(`images already come from ${move.to}`);
      // An operator pulls what its own manifest does not name.
      const subjects = wanted.length > 0 ? wanted : [move.to];
      return failed(
        `images come from ${listed(others)} now, ${wanted.length > 0 ? counted(wanted.length, 'image') : 'those'} of the target from ${move.to}`,
        mirrors.length > 0
          ? `Copy the images of the target to your mirror before the upgrade; ${ownRegistry(installation)} is kept.`
          : `Let every node, allow-list and pull secret know ${move.to}; pull one image on a node to be sure.`,
        { evidence: subjects.map((text) => ({ text })), next: `${PROGRAM} preflight --probe-images` },
      );
    }),
  },
  {
    id: 'NS-607',
    title: 'interface MTU unchanged',
    category: 'manifest',
    severity: 'warning',
    ref: 'domain §4.4',
    judge: withInstallation((_installation, facts): Verdict => {
      const live = read(facts.agentConfig);
      if (!live) return notApplicable('this installation has no ConfigMap of the agents');
      const { name, namespace = '' } = live.metadata;
      const next = findWorkload(
        readTarget(facts).documents.filter(({ kind }) => kind === 'ConfigMap'),
        { name, namespace },
      );
      const [before, after] = [jsonAt(live, 'data', MTU), jsonAt(next, 'data', MTU)];
      if (before === undefined || after === undefined || before === after) return ok(`${MTU} stays ${String(before ?? 'unset')}`);
      return failed(
        `${MTU} is ${String(before)} now and ${String(after)}${after === '0' ? ' (found out by each agent)' : ''} in the target: new pods may get another MTU than running ones`,
        'Decide which it is to be: the plan shows what will be kept; restart pods afterwards if the value changes.',
        { evidence: [{ text: `ConfigMap/${namespace}/${name}` }], next: `${PROGRAM} plan -o wide` },
      );
    }),
  },
];

/** Where the user has said from which registry images come. */
const ownRegistry = (installation: Installation): string =>
  hasFullManifest(installation) ? 'the registry prefix of your images' : 'the registry that your Installation names';

/** An operator's documents name none of the service's images: nothing is lost if they were not read. */
function documentsOf(installation: Installation, { target }: PreflightFacts): readonly KubeObject[] {
  return 'unread' in target && !hasFullManifest(installation) ? [] : readTarget({ target }).documents;
}

function targetImages(documents: readonly KubeObject[]): readonly string[] {
  return [...new Set(documents.flatMap(allContainersOf).flatMap(({ image }) => (image === undefined ? [] : [image])))];
}

const MTU = 'veth_mtu';
