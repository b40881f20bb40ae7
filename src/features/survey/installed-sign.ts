import type { Installation, OperatorInput } from '../../kernel/installation.ts';
import { crdName, type KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { containersOf, settingsOf } from '../../kube/workload.ts';
import { type Agent, componentsOf, hasComponent, mixedComponents } from './components.ts';
import { dataPlaneOf } from './data-plane.ts';
import { managersOf } from './managed-by.ts';
import { findingsOf } from './refusals.ts';
import { releaseOf } from './release-evidence.ts';
import { type Seen, valueOr } from './seen.ts';
import { deletionsOf, unfinishedOf } from './unfinished.ts';

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
    ...dataPlaneOf(agent, { ...seen, datastore, installation }),
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
    restoresCrds: operator !== undefined && restoresCrds(operator, profile),
    ...(chart ? { chart } : {}),
    ...(installation ? { input: inputOf(installation, operator, seen) } : {}),
    deletions: deletionsOf([agent?.object, operator], seen),
    unfinished: unfinishedOf(path, agent?.object, seen),
    evidence: [...decision.evidence, ...evidence],
  };
}

/** What the operator goes by; of another name than `default` it takes one Installation alone, which it lays over that. */
function inputOf(resource: KubeObject, operator: KubeObject | undefined, seen: Seen): OperatorInput {
  const overlay = seen.installations.find(({ metadata }) => metadata.name === 'overlay');
  const workloads = [...seen.daemonSets, ...seen.deployments];
  const [nodes, services] = [valueOr(seen.nodes, []), valueOr(seen.services, [])];
  const found = findingsOf(seen.profile.operator.crossings?.findings ?? [], { ...seen, workloads, nodes, services });
  return {
    resource,
    ...(overlay && overlay !== resource ? { overlay } : {}),
    found: { ...found, ...(operator ? { operatorNamespace: placeOf(operator).namespace } : {}) },
  };
}

function restoresCrds(operator: KubeObject, { operator: { crdsArg } }: Profile): boolean {
  return crdsArg !== undefined && containersOf(operator).some(({ args = [] }) => args.includes(crdsArg));
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
