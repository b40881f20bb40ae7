import assert from 'node:assert/strict';
import type { ApiList, ApiObject } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';
import { manifestFile, ownReleases } from './releases.ts';
import { assertSucceeded } from './upgrade-process.ts';

/** A manifest of the repository's own releases. */
export const own = (release: string, name: string): string => manifestFile(release, `${name}.yaml`, ownReleases);
/** A manifest of a published release. */
export const published = (release: string, name: string): string => manifestFile(release, `${name}.yaml`);

interface Status {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state: { readonly waiting?: { readonly reason: string }; readonly running?: object };
  readonly lastState?: { readonly terminated?: { readonly exitCode: number } };
}

/** The agent's pod on a node, as a person would read it. */
export type Agent = ReturnType<typeof describeAgent>;

export async function agentOn(controlPlane: ControlPlane, node: string, selector = 'k8s-app=netsvc-node'): Promise<Agent | undefined> {
  const query = `labelSelector=${encodeURIComponent(selector)}&fieldSelector=spec.nodeName%3D${node}`;
  const { items } = await controlPlane.api.get<ApiList>(`/api/v1/pods?${query}`);
  const pod = items.find((item) => item.metadata.deletionTimestamp === undefined);
  return pod && describeAgent(pod);
}

export function describeAgent(pod: ApiObject) {
  const status = pod.status as { phase: string; containerStatuses?: readonly Status[]; initContainerStatuses?: readonly Status[] };
  const containers = status.containerStatuses ?? [];
  const spec = pod.spec as { containers: readonly { image: string }[] };
  const statuses = [...(status.initContainerStatuses ?? []), ...containers];
  return {
    uid: pod.metadata.uid,
    phase: status.phase,
    images: spec.containers.map(({ image }) => image),
    readyColumn: `${containers.filter(({ ready }) => ready).length}/${spec.containers.length}`,
    waiting: statuses.flatMap(({ state }) => state.waiting?.reason ?? []),
    lastExit: containers.map(({ lastState }) => lastState?.terminated?.exitCode).find((code) => code !== undefined),
    restarts: Math.max(0, ...containers.map(({ restartCount }) => restartCount)),
  };
}

export async function untilAgent(controlPlane: ControlPlane, node: string, wanted: string, is: (agent: Agent) => boolean): Promise<Agent> {
  let agent: Agent | undefined;
  await until(`the agent on ${node} ${wanted}`, async () => {
    agent = await agentOn(controlPlane, node);
    return agent !== undefined && is(agent);
  });
  assert.ok(agent);
  return agent;
}

/** Removes the agent's pod; resolves with the uid of the one removed. */
export async function replaceAgent(controlPlane: ControlPlane, node: string): Promise<string> {
  const before = await agentOn(controlPlane, node);
  assert.ok(before);
  const selection = ['-n', 'kube-system', '-l', 'k8s-app=netsvc-node', `--field-selector=spec.nodeName=${node}`];
  assertSucceeded(await controlPlane.kubectl(['delete', 'pod', '--wait=false', ...selection]));
  return before.uid;
}

export async function serverSideApply(controlPlane: ControlPlane, file: string): Promise<void> {
  assertSucceeded(await controlPlane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', file]));
}

export async function untilRolledOut(controlPlane: ControlPlane, daemonSet: string): Promise<void> {
  assertSucceeded(await controlPlane.kubectl(['-n', 'kube-system', 'rollout', 'status', `daemonset/${daemonSet}`, '--timeout=60s']));
}
