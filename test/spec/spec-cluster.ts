import assert from 'node:assert/strict';
import type { ToolResult } from '../../src/kernel/argv.ts';
import { K } from '../../src/kernel/kinds.ts';
import { type JsonPatchOp, type KubeObject, refOf } from '../../src/kernel/object.ts';
import { ApiFailure, type Clock, type Cluster } from '../../src/kernel/ports.ts';

/** A cluster that the specification is held against: in memory, or a real control plane. */
export interface SpecCluster {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** As a person once installed it: `kubectl apply -f`. */
  installClientSide(document: KubeObject): Promise<void>;
  /** `kubectl apply --server-side --force-conflicts`, as the engine runs it. */
  serverSideApply(documents: readonly KubeObject[], options?: { readonly dryRun?: boolean }): Promise<ToolResult>;
  /** Server-side apply of a ConfigMap with force by any manager, without what kubectl does around it. */
  applyConfigMapAs(manager: string, document: KubeObject): Promise<KubeObject>;
  mergePatchConfigMapAs(manager: string, name: string, patch: unknown): Promise<KubeObject>;
  /** Names of nodes that run pods. */
  readonly nodes: readonly string[];
  /** What new pods on a node meet; `none` frees it. */
  fault(node: string, fault: 'none' | 'not-ready' | 'image-pull'): Promise<void>;
  close(): Promise<void>;
}

const POLL_MS = 200;
const LIMIT_MS = 60_000;

/** Looks again and again until it is so; a rejection that names what never came. */
export async function eventually<T>(clock: Clock, what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const end = clock.now().getTime() + LIMIT_MS;
  while (clock.now().getTime() < end) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await clock.sleep(POLL_MS);
  }
  throw new Error(`it did not come to be that ${what}`);
}

/** The status of a refusal; 200 if there was none. */
export async function statusOf(request: Promise<unknown>): Promise<number> {
  try {
    await request;
    return 200;
  } catch (thrown) {
    if (thrown instanceof ApiFailure) return thrown.status;
    throw thrown;
  }
}

const kindOf = ({ kind }: KubeObject) => K[kind as keyof typeof K];

/** Patches as another manager than kubectl. */
export const patch = ({ cluster }: SpecCluster, live: KubeObject, ...ops: readonly JsonPatchOp[]) =>
  cluster.patch(kindOf(live), refOf(live), ops, 'somebody');

/** As it is now. */
export async function read({ cluster }: SpecCluster, object: KubeObject): Promise<KubeObject> {
  const { name, namespace } = object.metadata;
  return (await cluster.get(kindOf(object), name, namespace)) ?? assert.fail(`${object.kind} ${name} is gone`);
}

let made = 0;

/** A name that no other example uses. */
export function freshName(base: string): string {
  made += 1;
  return `${base}-${made}`;
}

export const configMap = (name: string, data: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});

type Env = readonly { readonly name: string; readonly value: string }[];

/** A DaemonSet of one container; `release` is its image's tag, `pod` what is particular to its pods. */
export const daemonSet = (name: string, release: string, env: Env = [], pod: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name, namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: name } },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        // As agents are: a pod without an address of its own can change hands between simulations of a node.
        hostNetwork: true,
        terminationGracePeriodSeconds: 0,
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'main', image: `registry.netsvc.io/spec/main:${release}`, env }],
        ...pod,
      },
    },
  },
});

/** The same without a node: nothing rolls. */
export const parkedDaemonSet = (name: string, env: Env) => daemonSet(name, 'v1', env, { nodeSelector: { nowhere: 'yes' } });
