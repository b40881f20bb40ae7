import type { KubeObject } from '../kernel/object.ts';
import type { Profile, Variant } from '../kernel/profile.ts';
import type { WorkloadName } from '../kernel/rollout.ts';
import type { Manifest, ManifestDocument } from './manifest.ts';
import type { RoleOfBoth } from './roles-of-both.ts';

export type WaveId = 'configuration' | 'agents' | 'typha' | 'add-ons' | 'controllers' | 'roles' | 'all';

/** A part of the target that is applied as one file and waited for before the next. */
export interface Wave {
  readonly id: WaveId;
  readonly title: string;
  /** `upgrade-2-agents.yaml`, beside upgrade.yaml. */
  readonly file: string;
  readonly documents: readonly ManifestDocument[];
}

const TITLES: Readonly<Record<WaveId, string>> = {
  configuration: 'CRDs, roles and configuration',
  agents: 'the node agents',
  typha: 'Typha, which refuses agents older than itself',
  'add-ons': 'the v3 API server and the CSI driver',
  controllers: 'the controllers, which then rename stored policies',
  roles: 'the roles of the target, without what only older workloads ask for',
  all: 'the whole manifest',
};

/** The titles of a rollback, where they differ. */
const TITLES_BACK: Readonly<Partial<Record<WaveId, string>>> = {
  configuration: 'roles and configuration',
  typha: 'Typha first: a newer one refuses older agents',
  controllers: 'the controllers',
  roles: 'the roles of the older release, without what only newer workloads ask for',
};

type Way = 'forward' | 'back';

/**
 * The target in a safe order: new agents understand an old Typha, not the reverse, so in a rollback Typha comes before them. Controllers,
 * last, start what has no undo. `agentsApart`: nothing else is new while agents are held, although the service does not need that.
 */
export function splitWaves(
  manifest: Manifest,
  addOns: readonly Manifest[],
  variant: Variant,
  profile: Profile,
  way: Way = 'forward',
  agentsApart = false,
): readonly Wave[] {
  const beside = addOns.flatMap((addOn) => addOn.documents);
  // Whether the order within an apply matters to this service (domain §0.2, §0.6b).
  const isOrdered = agentsApart || profile.typhaRefusesAgentsBefore !== undefined || profile.policyRenaming !== undefined;
  if (!isOrdered) return numbered([['all', [...manifest.documents, ...beside]]], way);
  const byWave = Map.groupBy(manifest.documents, ({ object }) => waveOf(object, variant));
  byWave.set('add-ons', beside);
  return numbered(
    ORDER[way].map((id) => [id, byWave.get(id) ?? []]),
    way,
  );
}

const ORDER: Readonly<Record<Way, readonly WaveId[]>> = {
  forward: ['configuration', 'agents', 'typha', 'add-ons', 'controllers'],
  back: ['configuration', 'typha', 'agents', 'controllers', 'add-ons'],
};

/** The same where roles have to serve both releases meanwhile: the target's own are the last wave, when no older workload is left. */
export function withRolesOfBoth(waves: readonly Wave[], roles: readonly RoleOfBoth[], way: Way = 'forward'): readonly Wave[] {
  const bothOf = ({ object }: ManifestDocument) => roles.find(({ target }) => target === object)?.both;
  const own = waves.flatMap(({ documents }) => documents.filter(bothOf));
  const before = waves.map(({ id, documents }) => [id, documents.map((one) => bothOf(one) ?? one)] as const);
  return own.length === 0 ? waves : numbered([...before, ['roles', own]], way);
}

function waveOf(object: KubeObject, variant: Variant): WaveId {
  if (isWorkload(object, variant.typha)) return 'typha';
  if (isWorkload(object, variant.controllers)) return 'controllers';
  return WORKLOADS.has(object.kind) ? 'agents' : 'configuration';
}

const WORKLOADS = new Set(['DaemonSet', 'Deployment', 'StatefulSet', 'Job', 'CronJob', 'Pod', 'ReplicaSet']);

function isWorkload(object: KubeObject, name: WorkloadName | undefined): boolean {
  return name !== undefined && object.kind === name.kind && object.metadata.name === name.name;
}

function numbered(waves: readonly (readonly [WaveId, readonly ManifestDocument[]])[], way: Way): readonly Wave[] {
  const stem = way === 'back' ? 'rollback' : 'upgrade';
  const full = waves.filter(([, documents]) => documents.length > 0);
  return full.map(([id, documents], index) => ({
    id,
    documents,
    title: (way === 'back' ? TITLES_BACK[id] : undefined) ?? TITLES[id],
    file: id === 'all' ? `${stem}.yaml` : `${stem}-${index + 1}-${id}.yaml`,
  }));
}
