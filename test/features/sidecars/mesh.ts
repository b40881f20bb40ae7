import assert from 'node:assert/strict';
import { alpStage } from '../../../src/features/sidecars/stage.ts';
import type { Action } from '../../../src/kernel/action.ts';
import type { Tools } from '../../../src/kernel/argv.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import type { Profile } from '../../../src/kernel/profile.ts';
import type { KeptItem } from '../../../src/kernel/run-record.ts';
import type { AnyStage } from '../../../src/kernel/stage.ts';
import { contextOf, object, type Wanted } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { workloadOf } from '../../support/inventory.ts';
import { noteFound } from '../../support/judged-worlds.ts';
import { CALICO_TARGET } from '../../support/target.ts';

export const NEW = CALICO_TARGET;
export const OLD = 'v3.27.5';
export const template = (release: string, extra = '') =>
  `policy: enabled\n  - name: dikastes\n    image: quay.io/calico/dikastes:${release}\n${extra}last: line\n`;
export const fileOf = (release: string, extra = '') => `data:\n  config: |\n${template(release, extra).replace(/^(?=.)/gm, '    ')}`;
/** Template files by release and path. */
export type Files = Readonly<Record<string, string>>;
export const FILES: Files = {
  [`${NEW}/manifests/alp/istio-inject-configmap-1.15.yaml`]: fileOf(NEW, 'fresh: yes\n'),
  [`${OLD}/manifests/alp/istio-inject-configmap-1.15.yaml`]: fileOf(OLD),
};

export const injector = (config: string, name = 'istio-sidecar-injector') =>
  object('v1', `ConfigMap/istio-system/${name}`, { metadata: { uid: 'map' }, data: { config, values: '{}' } });
export const istiod = (tag: string, revision?: string) =>
  workloadOf('Deployment', 'istiod', {
    ...{ namespace: 'istio-system', labels: revision ? { 'istio.io/rev': revision } : {} },
    images: { discovery: `docker.io/istio/pilot:${tag}` },
  });
export const owned = (kind: string, name: string) => [{ apiVersion: 'apps/v1', kind, name, uid: 'u', controller: true }];

export function pod(name: string, sidecar: string, ownerReferences: unknown = undefined, labels = {}): KubeObject {
  return object('v1', `Pod/shop/${name}`, {
    metadata: { labels, ...(ownerReferences ? { ownerReferences } : {}), creationTimestamp: '2026-01-01T10:00:00Z' },
    spec: {
      containers: [
        { name: 'app', image: 'shop' },
        { name: 'dikastes', image: `quay.io/calico/dikastes:${sidecar}` },
      ],
    },
    status: { phase: 'Running' },
  });
}

export interface Case {
  readonly objects: readonly KubeObject[];
  readonly files?: Files;
  readonly options?: Wanted;
  readonly kept?: readonly KeptItem[];
  readonly profile?: Profile;
  readonly tools?: Pick<Tools, 'which'>;
  /** As it is by itself unless said. */
  readonly stage?: AnyStage;
  /** Id of the upgrade that a rollback takes back. */
  readonly takesBack?: string;
}

export const alpUndo = alpStage.undo ?? assert.fail();

/** Agents of the target, so that the installation is known. */
const agents = workloadOf('DaemonSet', 'calico-node', {
  images: { 'calico-node': `quay.io/calico/node:${NEW}` },
  env: { DATASTORE_TYPE: 'kubernetes' },
});

export async function open({ objects, files = FILES, options = {}, kept = [], profile, tools, stage = alpStage, takesBack }: Case) {
  const { cluster } = clusterOf([agents, ...objects]);
  const sources = {
    cluster,
    artifacts: {
      has: async (release: string, path: string) => `${release}/${path}` in files,
      fetch: async (release: string, path: string) => ({ bytes: new TextEncoder().encode(files[`${release}/${path}`]) }),
    },
    files: { readText: async (path: string) => files[path] ?? '' },
    records: { keptWith: async () => kept },
    tools,
  } as unknown as Sources;
  const plain = contextOf({ path: 'manifest', variant: 'calico', ...options }, profile);
  const upgrade = { runId: takesBack ?? '', from: OLD, to: NEW, wrote: ['alp'], startedAt: '2026-01-01T00:00:00Z' };
  const context = takesBack === undefined ? plain : { ...plain, goal: { release: OLD, takesBack: upgrade } };
  const opened = await stage.open(sources, context);
  noteFound(context, opened.findings());
  return opened;
}

export async function planned(given: Case): Promise<readonly Action[] | string> {
  const plan = (await open(given)).plan();
  return 'skip' in plan ? plan.skip : plan.actions;
}

export const ids = (plan: readonly Action[] | string) => (typeof plan === 'string' ? plan : plan.map(({ id }) => id).join(' '));
export const finding = async (given: Case, id: string) => (await open(given)).findings().find((one) => one.id === id);
export const written = (plan: readonly Action[] | string) => {
  const action = typeof plan === 'string' ? undefined : plan.find(({ effect }) => effect.type === 'write');
  return action?.effect.type === 'write' ? action.effect.content : '';
};
