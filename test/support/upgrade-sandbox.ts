import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { containersOf } from '../../src/kube/workload.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { type OwnerSandbox, ownerSandbox, renaming } from './owner-sandbox.ts';
import { ownReleases } from './releases.ts';
import { NETSVC_TARGET } from './target.ts';

const SERVER = 'netsvc-apiserver';
const CONTROLLERS = 'netsvc-kube-controllers';
const SPACE = 'kube-system';
const FILE = 'apiserver.yaml';
const [SOURCE, TARGET] = ['v3.26.4', NETSVC_TARGET] as const;

/** The service of the sandbox, with an API server of its own and controllers that rename stored policies. */
export const served: Profile = {
  ...renaming,
  addOns: [
    {
      id: 'apiserver',
      file: FILE,
      workload: { kind: 'Deployment', namespace: SPACE, name: SERVER, container: SERVER, ready: { type: 'all-containers' } },
      otherNamespaces: [],
    },
  ],
};

/** The demo's releases, each with the manifest of an API server. Returns the folder. */
export async function releasesWithServer(folder: string): Promise<string> {
  const releases = join(folder, 'releases');
  await mkdir(releases, { recursive: true });
  await cp(ownReleases, releases, { recursive: true });
  for (const release of [SOURCE, TARGET]) await writeFile(join(releases, release, 'manifests', FILE), serverManifest(release));
  return releases;
}

/** Until the aggregator has seen that the new API server answers. Virtual milliseconds. */
const SEEN_MS = 10_000;
/** Controllers look so often whether every agent is rolled out; then a policy goes after the other. */
const POLL_MS = 5_000;
const APART_MS = 1_000;

/**
 * Owned objects on an installation with an API server, in which everything that endangers them follows from the upgrade itself: the UIDs
 * change when the new API server is there, the aggregated API is available some time later, and the new controllers then rename policies.
 */
export async function upgradeSandbox(releasesFolder: string): Promise<OwnerSandbox> {
  const sandbox = await ownerSandbox({ releasesFolder, ownedPolicy: true });
  const { cluster, clock } = sandbox.scenario;
  for (const { object } of parseManifest(serverManifest(SOURCE), FILE).documents) cluster.installClientSide(object);
  await clock.sleep(2 * SEEN_MS);
  announce(cluster, true);
  let isRenaming = false;
  const renameNext = () => {
    if (sandbox.renamePolicies(1) > 0) clock.schedule(APART_MS, renameNext);
  };
  cluster.store.listen(({ kind, after }) => {
    if (kind.plural !== K.Deployment.plural || !after || !isOfTarget(after)) return;
    const { name } = after.metadata;
    if (name === SERVER && !isComplete(after)) announce(cluster, false);
    if (name === SERVER && isComplete(after) && !sandbox.upgraded) {
      sandbox.switchUids();
      clock.schedule(SEEN_MS, () => announce(cluster, true));
    }
    if (name === CONTROLLERS && isComplete(after) && !isRenaming) {
      isRenaming = true;
      clock.schedule(POLL_MS, renameNext);
    }
  });
  return sandbox;
}

function isOfTarget(deployment: KubeObject): boolean {
  return containersOf(deployment).some(({ image = '' }) => image.endsWith(`:${TARGET}`));
}

function isComplete({ metadata, status, spec }: KubeObject): boolean {
  const { replicas } = spec as { readonly replicas: number };
  const { observedGeneration, updatedReplicas, readyReplicas } = (status ?? {}) as Readonly<Record<string, number>>;
  return observedGeneration === metadata.generation && updatedReplicas === replicas && readyReplicas === replicas;
}

/** What the aggregator says of the service's v3 API. */
function announce({ store }: SandboxCluster, isAvailable: boolean): void {
  const service = store.get(K.APIService, 'v3.netsvc.io');
  if (!service) throw new Error('the sandbox has no v3 API');
  const status = { conditions: [{ type: 'Available', status: isAvailable ? 'True' : 'False', message: 'played by the test' }] };
  store.update(K.APIService, { ...service, status });
}

function serverManifest(release: string): string {
  return `apiVersion: v1
kind: ServiceAccount
metadata: { name: ${SERVER}, namespace: ${SPACE} }
---
apiVersion: v1
kind: Service
metadata: { name: netsvc-api, namespace: ${SPACE} }
spec:
  selector: { k8s-app: ${SERVER} }
  ports: [{ port: 443, protocol: TCP, targetPort: 5443 }]
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${SERVER}, namespace: ${SPACE}, labels: { k8s-app: ${SERVER} } }
spec:
  replicas: 1
  strategy: { type: Recreate }
  selector: { matchLabels: { k8s-app: ${SERVER} } }
  template:
    metadata: { labels: { k8s-app: ${SERVER} } }
    spec:
      serviceAccountName: ${SERVER}
      containers: [{ name: ${SERVER}, image: "registry.netsvc.io/netsvc/apiserver:${release}" }]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: { name: v3.netsvc.io }
spec:
  { group: netsvc.io, version: v3, groupPriorityMinimum: 1500, versionPriority: 200, service: { name: netsvc-api, namespace: ${SPACE} } }
`;
}
