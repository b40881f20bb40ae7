import type { NotRead, Reading } from '../../kernel/check.ts';
import type { Installation } from '../../kernel/installation.ts';
import { crdName, type KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { settingsOf } from '../../kube/workload.ts';
import { type Agent, componentsOf, hasComponent, mixedComponents } from './components.ts';
import type { Inventory } from './inventory.ts';
import { managersOf } from './managed-by.ts';
import { releaseOf } from './release-evidence.ts';

/** What the decision found out; the rest of the Installation follows from the objects. */
export interface Decision extends Pick<Installation, 'path' | 'variant' | 'datastore' | 'chart' | 'evidence'> {
  readonly agent?: Agent;
  readonly operator?: KubeObject;
  readonly installation?: KubeObject;
}

/** The Installation of a decision: components, release, owners, and the evidence in reading order. */
export function installed(decision: Decision, seen: Seen): Installation {
  const { path, variant, datastore, agent, operator, installation, chart } = decision;
  const { profile, nodes, clusterInformation } = seen;
  const components = componentsOf(agent, [...seen.daemonSets, ...seen.deployments], seen.pods, profile);
  const facts = { components, installation, operator, clusterInformation };
  const { release, line, evidence } = releaseOf(facts, profile);
  return {
    path,
    ...(variant === undefined ? {} : { variant }),
    datastore,
    ...(release === undefined ? {} : { release }),
    ...(line === undefined ? {} : { line }),
    ...('value' in nodes ? { nodes: nodes.value.length } : {}),
    components,
    mixed: mixedComponents(components, release),
    hasTypha: hasComponent(components, 'typha'),
    hasApiServer: hasComponent(components, 'apiserver'),
    hasCsiDriver: hasComponent(components, 'csi'),
    nativeV3Crds: hasNativeCrds(agent, seen),
    managedBy: managers(decision, seen),
    prunableCrds: prunableCrds(seen),
    ...(agent ? { agent: { kind: 'DaemonSet', ...placeOf(agent.object), container: agent.container.name } } : {}),
    ...(operator ? { operator: placeOf(operator) } : {}),
    ...(chart ? { chart } : {}),
    evidence: [...decision.evidence, ...evidence],
  };
}

/** CRDs that the service's releases install: with one of them goes every object of its kind. */
function prunableCrds({ crds, profile: { crdGroup, operatorGroup, removedKinds } }: Seen): Installation['prunableCrds'] {
  return crds
    .filter(({ name, group }) => group === crdGroup || group === operatorGroup || removedKinds.some((kind) => crdName(kind) === name))
    .flatMap(({ pruners = [] }) => pruners);
}

/** Who else manages the agents, the controllers, the operator or the Installation. */
export function managers(
  { agent, operator, installation, chart }: Pick<Decision, 'agent' | 'operator' | 'installation' | 'chart'>,
  { profile, ...readings }: Seen,
) {
  const namespace = agent?.object.metadata.namespace;
  const names = [...profile.variants.map((variant) => variant.controllers.name), profile.operator.controllers.name];
  const controllers = readings.deployments.filter(({ metadata }) => metadata.namespace === namespace && names.includes(metadata.name));
  return managersOf(
    {
      objects: [agent?.object, operator, installation, ...controllers].flatMap((object) => object ?? []),
      workloads: [...readings.daemonSets, ...readings.deployments],
      configMaps: readings.configMaps,
      configMapNames: profile.variants.map((variant) => variant.configMap),
      crds: readings.crds,
      ...(chart ? { chartRelease: chart.name } : {}),
    },
    profile,
  );
}

/** CRDs of the v3 group itself, or agents told to use them (domain §0.11). */
function hasNativeCrds(agent: Agent | undefined, { profile, ...readings }: Seen): boolean {
  if (readings.crds.some(({ group }) => group === profile.apiGroup)) return true;
  const selector = profile.nativeApiEnv;
  if (!agent || !selector) return false;
  const settings = settingsOf(agent.container, agent.object.metadata.namespace ?? '', readings.configMaps);
  return settings.env(selector.name)?.value === selector.value;
}

const placeOf = ({ metadata: { namespace = '', name } }: KubeObject) => ({ namespace, name });

/** Without these nothing can be said of an installation. */
const NEEDED = ['daemonSets', 'deployments', 'pods', 'configMaps', 'crds', 'installations'] as const;
type Needed = (typeof NEEDED)[number];

/** What was read: first the part of the inventory without which nothing can be said, then second sources, which may be unread. */
export type Seen = Omit<Inventory, Needed> & {
  readonly [N in Needed]: Exclude<Inventory[N], NotRead>['value'];
} & { readonly profile: Profile };

/** All of it, or why parts are missing: an installation is never detected from half of the facts. */
export function seenIn(inventory: Inventory, profile: Profile): Seen | { readonly unread: readonly string[] } {
  const readings = NEEDED.map((name) => ({ name, reading: inventory[name] }));
  const unread = readings.flatMap(({ name, reading }) => ('unread' in reading ? `${name}: ${reading.unread}` : []));
  if (unread.length > 0) return { unread };
  const values = readings.map(({ name, reading }) => [name, valueOr<unknown>(reading, [])]);
  return { ...inventory, ...Object.fromEntries(values), profile };
}

/** The value of a reading, or its replacement where it is only a second source. */
export function valueOr<T>(reading: Reading<T>, otherwise: T): T {
  return 'unread' in reading ? otherwise : reading.value;
}
