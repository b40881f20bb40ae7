import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Clock } from '../../src/kernel/ports.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { nodeOf, podStatus } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { NETSVC_TARGET } from './target.ts';

const { uidChange: _, ...unchanging } = netsvc;
/** Typha last, so that agents have a wave of their own. */
export const waved: Profile = { ...unchanging, typhaRefusesAgentsBefore: 'v3.28.0' };
export const AGENTS = { name: 'netsvc-node', namespace: 'kube-system' };

/** Of the document's names and of Calico's. */
const AGENT_NAMES = /^(?:netsvc|calico)-node-/;

export const agents = ({ cluster }: Scenario): KubeObject =>
  cluster.store.get(K.DaemonSet, AGENTS.name, AGENTS.namespace) ?? assert.fail('there are no agents');
export const strategy = (scenario: Scenario): unknown => (agents(scenario).spec as { readonly updateStrategy?: unknown }).updateStrategy;
export const agentPods = ({ cluster: { store } }: Scenario): readonly KubeObject[] =>
  store.list(K.Pod).filter(({ metadata }) => metadata.name.startsWith(`${AGENTS.name}-`) && !metadata.deletionTimestamp);
const isNew = (pod: KubeObject): boolean => JSON.stringify(pod.spec).includes(`:${NETSVC_TARGET}`);
/** Nodes whose agent has the new release, ready or not. */
export const newOn = (scenario: Scenario): readonly string[] => agentPods(scenario).filter(isNew).map(nodeOf).toSorted();
export const allNodes = (scenario: Scenario): readonly string[] => scenario.cluster.store.list(K.Node).map(({ metadata }) => metadata.name);
/** What a user with kubectl does: another template, with the same image. */
export async function setVariable(scenario: Scenario, value: string): Promise<void> {
  const { template } = agents(scenario).spec as {
    readonly template: { readonly spec: { readonly containers: readonly { readonly env?: unknown }[] } };
  };
  const [first] = template.spec.containers;
  const env = { name: 'NETSVC_TEST', value };
  const at = '/spec/template/spec/containers/0/env';
  const op =
    first?.env === undefined ? { op: 'add' as const, path: at, value: [env] } : { op: 'add' as const, path: `${at}/-`, value: env };
  await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, [op], 'kubectl-set');
}
/** A release that nobody has tried here. */
export async function setImage(scenario: Scenario): Promise<void> {
  const op = { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'registry.example/netsvc/node:v9.9.9' } as const;
  await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, [op], 'kubectl-set');
}
/** Nodes whose agent has it. */
export const withVariable = (scenario: Scenario): readonly string[] =>
  agentPods(scenario)
    .filter((pod) => JSON.stringify(pod.spec).includes('NETSVC_TEST'))
    .map(nodeOf)
    .toSorted();
/** The agent of this node runs, and is ready or not. */
export function setAgent({ cluster: { store }, clock }: Scenario, node: string, state: 'ready' | 'not-ready'): void {
  const pod = store.list(K.Pod).find((one) => AGENT_NAMES.test(one.metadata.name) && nodeOf(one) === node);
  assert.ok(pod);
  store.update(K.Pod, { ...pod, status: podStatus(pod, state, clock.now().toISOString()) } as KubeObject);
}
/** The kubelet starts a container of this agent again, which is ready at once. */
export function restartAgent({ cluster: { store }, clock }: Scenario, node = 'node-01'): void {
  const pod = store.list(K.Pod).find((one) => AGENT_NAMES.test(one.metadata.name) && nodeOf(one) === node);
  assert.ok(pod);
  const status = podStatus(pod, 'ready', clock.now().toISOString());
  const containerStatuses = status.containerStatuses.map((one, index) => (index === 0 ? { ...one, restartCount: 1 } : one));
  store.update(K.Pod, { ...pod, status: { ...status, containerStatuses } } as KubeObject);
}
/** The clock of a machine that is set forward by ten minutes, so long after this is so, or after now. */
export function clockSetForward({ clock, cluster }: Scenario, afterMs: number, isTime?: () => boolean): Clock {
  let ahead = 0;
  let isPlanned = false;
  const plan = () => {
    if (isPlanned || isTime?.() === false) return;
    isPlanned = true;
    clock.schedule(afterMs, () => {
      ahead = 600_000;
    });
  };
  plan();
  cluster.store.listen(plan);
  return { now: () => new Date(clock.now().getTime() + ahead), sleep: (ms, signal) => clock.sleep(ms, signal) };
}
/** With all that runs there. */
export function removeNode({ cluster: { store } }: Scenario, name: string): void {
  store.delete(K.Node, name);
  for (const pod of store.list(K.Pod)) if (nodeOf(pod) === name) store.delete(K.Pod, pod.metadata.name, pod.metadata.namespace);
}

export const ROLLING = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };

/** A colleague sets the strategy that the agents had, with the mark of this program on it or without. */
export async function roll({ cluster }: Scenario, keepsMark: boolean): Promise<void> {
  const unmark = { op: 'remove', path: '/metadata/annotations/netsvc-upgrade~1strategy' } as const;
  const patch = [{ op: 'replace', path: '/spec/updateStrategy', value: ROLLING } as const, ...(keepsMark ? [] : [unmark])];
  await cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, patch, 'kubectl-edit');
}
