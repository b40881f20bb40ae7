import { jsonAt } from '../../src/kernel/json.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { imageRelease } from '../../src/kernel/release.ts';
import { containersOf } from '../../src/kube/workload.ts';
import { isPodReady, isStopping, nodeOf } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { CALICO_TARGET, NETSVC_TARGET } from './target.ts';

/** What a cluster in memory is at one moment of an upgrade. */
export interface Moment {
  readonly strategy: { readonly type?: string; readonly rollingUpdate?: { readonly maxUnavailable?: number | string } };
  /** That which somebody had set before. */
  readonly isOwnStrategy: boolean;
  /** The template of the agents is that of the target. */
  readonly isNew: boolean;
  /** Nodes whose agent has it, ready or not. */
  readonly fresh: readonly string[];
  /** Of the pods that are not stopping, by node. */
  readonly uids: Readonly<Record<string, string>>;
  /** Nodes whose agent does not have it. */
  readonly old: readonly string[];
  readonly typha?: 'old' | 'new';
  readonly controllers: 'old' | 'new';
  /** The switch of the controllers' renaming. */
  readonly renaming?: string;
  /** Of the stored policies. */
  readonly names: readonly string[];
}

/** What somebody had set. */
export const OWN = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } as const;

const targetOf = ({ name }: Profile): string => (name === 'calico' ? CALICO_TARGET : NETSVC_TARGET);
/** Both have these names in every variant here. */
const namesOf = ({ variants: [first] }: Profile) => {
  if (!first) throw new Error('a profile has variants');
  return { agent: first.agent.name, controllers: first.controllers.name, typha: 'calico-typha' };
};

/** The DaemonSet that every test here is about. */
export function agentsOf({ cluster: { store } }: Scenario, profile: Profile): KubeObject {
  const found = store.get(K.DaemonSet, namesOf(profile).agent, 'kube-system');
  if (!found) throw new Error('there are no agents');
  return found;
}

function agentPodsOf({ cluster: { store } }: Scenario, profile: Profile): readonly KubeObject[] {
  const { agent } = namesOf(profile);
  return store.list(K.Pod).filter(({ metadata }) => metadata.name.startsWith(`${agent}-`));
}

/** Nodes without an agent that is ready. */
export function podsAway(scenario: Scenario, profile: Profile): number {
  const ready = new Set(
    agentPodsOf(scenario, profile)
      .filter((pod) => isPodReady(pod) && !isStopping(pod))
      .map(nodeOf),
  );
  return scenario.cluster.store.list(K.Node).filter(({ metadata }) => !ready.has(metadata.name)).length;
}

export function momentOf(scenario: Scenario, profile: Profile): Moment {
  const { store } = scenario.cluster;
  const target = targetOf(profile);
  const isOfTarget = (one: KubeObject | undefined) => {
    const [image = ''] = one ? containersOf(one).map((container) => container.image ?? '') : [];
    return imageRelease(image) === target;
  };
  const state = (name: string) => {
    const live = store.get(K.Deployment, name, 'kube-system');
    return live && (isOfTarget(live) ? 'new' : 'old');
  };
  const live = agentsOf(scenario, profile);
  const strategy = (live.spec as { readonly updateStrategy?: Moment['strategy'] }).updateStrategy ?? {};
  const running = agentPodsOf(scenario, profile).filter(({ metadata }) => !metadata.deletionTimestamp);
  const isFresh = (pod: KubeObject) => JSON.stringify(pod.spec).includes(`:${target}`);
  const fresh = running.filter(isFresh);
  const { typha: typhaName, controllers } = namesOf(profile);
  const typha = state(typhaName);
  const stored = (plural: string) =>
    scenario.cluster
      .kinds()
      .filter((kind) => kind.group === profile.crdGroup && kind.plural === plural)
      .flatMap((kind) => store.list(kind));
  const [configuration] = stored(profile.controllersConfiguration.plural);
  const renaming = profile.policyRenaming && jsonAt(configuration, ...profile.policyRenaming.switchField.split('.'));
  return {
    strategy,
    isOwnStrategy: JSON.stringify(strategy) === JSON.stringify(OWN),
    isNew: isOfTarget(live),
    fresh: fresh.map(nodeOf).toSorted(),
    uids: Object.fromEntries(running.map((pod) => [nodeOf(pod), pod.metadata.uid ?? ''])),
    old: running
      .filter((pod) => !isFresh(pod))
      .map(nodeOf)
      .toSorted(),
    ...(typha ? { typha } : {}),
    controllers: state(controllers) ?? 'old',
    ...(typeof renaming === 'string' ? { renaming } : {}),
    names: stored('globalnetworkpolicies').map(({ metadata }) => metadata.name),
  };
}
