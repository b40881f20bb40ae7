import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { nodeOf } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { NETSVC_TARGET } from './target.ts';

const { uidChange: _, ...unchanging } = netsvc;
/** Typha last, so that agents have a wave of their own. */
export const waved: Profile = { ...unchanging, typhaRefusesAgentsBefore: 'v3.28.0' };
export const AGENTS = { name: 'netsvc-node', namespace: 'kube-system' };

export const agents = ({ cluster }: Scenario): KubeObject =>
  cluster.store.get(K.DaemonSet, AGENTS.name, AGENTS.namespace) ?? assert.fail('there are no agents');
export const strategy = (scenario: Scenario): unknown => (agents(scenario).spec as { readonly updateStrategy?: unknown }).updateStrategy;
export const agentPods = ({ cluster: { store } }: Scenario): readonly KubeObject[] =>
  store.list(K.Pod).filter(({ metadata }) => metadata.name.startsWith(`${AGENTS.name}-`) && !metadata.deletionTimestamp);
const isNew = (pod: KubeObject): boolean => JSON.stringify(pod.spec).includes(`:${NETSVC_TARGET}`);
/** Nodes whose agent has the new release, ready or not. */
export const newOn = (scenario: Scenario): readonly string[] => agentPods(scenario).filter(isNew).map(nodeOf).toSorted();
export const allNodes = (scenario: Scenario): readonly string[] => scenario.cluster.store.list(K.Node).map(({ metadata }) => metadata.name);
