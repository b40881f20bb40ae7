import { parseAllDocuments } from 'yaml';
import { type CrdFact, crdFact, type Inventory } from '../../src/features/survey/inventory.ts';
import type { KubeObject } from '../../src/kernel/object.ts';

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
    chartReleases: empty,
    clusterInformation: { value: undefined },
    nodes: empty,
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
    clusterInformation: { value: of('ClusterInformation').value[0] },
    crds: { value: crds },
  });
}

/** The documents of a manifest as kubectl reads them; of CRDs, which are most of the text, only the name. */
export function inventoryOfManifest(text: string): Inventory {
  const documents = text.split(/^---.*$/m);
  const crds = documents.filter((document) => /^kind: CustomResourceDefinition/m.test(document));
  const objects = documents.filter((document) => !crds.includes(document)).flatMap(parse);
  return inventoryOfObjects(
    objects,
    crds.map((document) => crdFact(/^ {2}name: (\S+)/m.exec(document)?.[1] ?? '')),
  );
}

function parse(document: string): readonly KubeObject[] {
  return parseAllDocuments(document, { version: '1.1', uniqueKeys: false }).flatMap((parsed) => {
    const [problem] = parsed.errors;
    if (problem) throw problem;
    return (parsed.toJS() as KubeObject | null) ?? [];
  });
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
  const container = ([key, image]: readonly [string, string], index: number) => ({
    name: key.replace('init:', ''),
    image,
    ...(index === 0 ? { env: variables } : {}),
  });
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace, labels, annotations, managedFields: managers.map((manager) => ({ manager })) },
    spec: {
      template: {
        spec: {
          containers: entries.filter(([key]) => !key.startsWith('init:')).map(container),
          initContainers: entries.filter(([key]) => key.startsWith('init:')).map((item) => container(item, 1)),
          volumes: hostPaths.map((path, index) => ({ name: `v${index}`, hostPath: { path } })),
        },
      },
    },
  };
}

export function objectOf(apiVersion: string, kind: string, name: string, rest: Readonly<Record<string, unknown>> = {}): KubeObject {
  const { metadata, ...fields } = rest as { metadata?: object };
  return { apiVersion, kind, metadata: { name, ...metadata }, ...fields };
}
