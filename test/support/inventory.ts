import { type CrdFact, crdFact, type Inventory } from '../../src/features/survey/inventory.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { objectsIn, parseManifest } from '../../src/manifest/manifest.ts';

/** An inventory of an empty cluster, with what a test says is there. */
export function inventoryOf(parts: Partial<Inventory> = {}): Inventory {
  const empty = { value: [] };
  return {
    daemonSets: empty,
    deployments: empty,
    pods: empty,
    configMaps: empty,
    crds: empty,
    installations: empty,
    services: empty,
    chartReleases: empty,
    clusterInformation: { value: undefined },
    agentSettings: empty,
    nodes: empty,
    moved: empty,
    migrations: empty,
    ...parts,
  };
}

/** The inventory of a cluster that holds just these objects: nothing runs yet. */
export function inventoryOfObjects(objects: readonly KubeObject[], crds: readonly CrdFact[] = []): Inventory {
  const of = (kind: string) => ({ value: objects.filter((object) => object.kind === kind) });
  return inventoryOf({
    daemonSets: of('DaemonSet'),
    deployments: of('Deployment'),
    configMaps: of('ConfigMap'),
    installations: of('Installation'),
    nodes: of('Node'),
    services: of('Service'),
    migrations: of('DatastoreMigration'),
    clusterInformation: { value: of('ClusterInformation').value[0] },
    agentSettings: of('FelixConfiguration'),
    crds: { value: crds },
  });
}

/** The documents of a manifest as this program reads them; of CRDs, which are most of the text, only the name. */
export function inventoryOfManifest(text: string): Inventory {
  const documents = text.split(/^---.*$/m);
  const crds = documents.filter((document) => /^kind: CustomResourceDefinition/m.test(document));
  const objects = objectsIn(parseManifest(documents.filter((document) => !crds.includes(document)).join('\n---\n'), 'manifest'));
  return inventoryOfObjects(
    objects,
    crds.map((document) => crdFact(/^ {2}name: (\S+)/m.exec(document)?.[1] ?? '')),
  );
}

interface WorkloadParts {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly managers?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Image by container name; names that begin with `init:` are init containers. */
  readonly images: Readonly<Record<string, string>>;
  readonly hostPaths?: readonly string[];
}

/** A DaemonSet or Deployment of the named containers; `env` belongs to the first. */
export function workloadOf(kind: 'DaemonSet' | 'Deployment', name: string, parts: WorkloadParts): KubeObject {
  const { namespace = 'kube-system', labels, annotations, managers = [], env = {}, images, hostPaths = [] } = parts;
  const entries = Object.entries(images);
  const variables = Object.entries(env).map(([key, value]) => ({ name: key, value }));
  const inits = entries.filter(([key]) => key.startsWith('init:')).map(([key, image]) => ({ name: key.slice(5), image }));
  const containers = entries.filter(([key]) => !key.startsWith('init:')).map(([key, image]) => ({ name: key, image }));
  const [first, ...others] = containers;
  const volumes = hostPaths.map((path, index) => ({ name: `v${index}`, hostPath: { path } }));
  const metadata = { name, namespace, labels, annotations, managedFields: managers.map((manager) => ({ manager })) };
  const pod = { containers: [...(first ? [{ ...first, env: variables }] : []), ...others], initContainers: inits, volumes };
  return { apiVersion: 'apps/v1', kind, metadata, spec: { template: { spec: pod } } };
}

export function objectOf(apiVersion: string, kind: string, name: string, rest: Readonly<Record<string, unknown>> = {}): KubeObject {
  const { metadata, ...fields } = rest as { metadata?: object };
  return { apiVersion, kind, metadata: { name, ...metadata }, ...fields };
}
