import type { Action } from '../../src/kernel/action.ts';
import { isRecord } from '../../src/kernel/json.ts';
import { K } from '../../src/kernel/kinds.ts';
import {
  apiVersionOf,
  type FieldsV1,
  type JsonPatchOp,
  type Kind,
  type KubeObject,
  type ManagedFieldsEntry,
} from '../../src/kernel/object.ts';
import { ApiFailure, type ClusterReader, type ListOptions } from '../../src/kernel/ports.ts';
import { LAST_APPLIED } from '../../src/kube/applied-owners.ts';
import { prune, union } from '../../src/kube/fields-v1.ts';
import { itemsByKey } from '../../src/kube/list-keys.ts';
import { adoptedOwnership, clientSideManagers, KUBECTL } from '../../src/kube/managed-fields.ts';
import { fieldsOf } from '../../src/manifest/apply-document.ts';
import { applyJsonPatch } from '../../src/manifest/json-patch.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';

/** A cluster in memory that applies, patches and rolls out at once, as far as the apply stage can tell the difference. */
export interface ApplyingCluster {
  readonly cluster: ClusterReader;
  /** Does what the engine would do with the action. */
  perform(action: Action): void;
  /** Command lines and patches that changed something, in order. */
  readonly writes: string[];
  /** Everything that is there. */
  objects(): readonly KubeObject[];
  /** The object as it is now; undefined if there is none. */
  object(kind: string, name: string): KubeObject | undefined;
  /** Changes an object as another writer would: nobody is asked. */
  edit(kind: string, name: string, ops: readonly JsonPatchOp[], managedBy?: ManagedFieldsEntry): void;
  /** Every pod becomes what its workload says. */
  settle(): void;
}

const keyOf = ({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>) => `${kind}/${metadata.name}`;

/** `kubectlMigrates`: kubectl may take over what was applied client-side, as it does where nobody did before. */
export function applyingCluster(installed: readonly KubeObject[], { nodes = 2, kubectlMigrates = false } = {}): ApplyingCluster {
  const store = new Map<string, KubeObject>();
  const files = new Map<string, string>();
  const writes: string[] = [];
  let version = 0;
  const put = (object: KubeObject) => {
    const before = store.get(keyOf(object));
    const uid = before?.metadata.uid ?? `uid-${keyOf(object)}`;
    version += 1;
    store.set(keyOf(object), { ...object, metadata: { ...object.metadata, uid, resourceVersion: String(version) } });
  };
  const patched = (name: string, kind: string, ops: readonly JsonPatchOp[]) => {
    const live = store.get(`${kind}/${name}`);
    if (!live) throw new ApiFailure(404, 'NotFound', `${kind} ${name} not found`);
    const wanted = ops.find((op) => op.path === '/metadata/resourceVersion')?.value;
    if (wanted !== undefined && wanted !== live.metadata.resourceVersion) throw new ApiFailure(409, 'Conflict', 'changed meanwhile');
    return applyJsonPatch(live, ops);
  };
  const apply = (document: KubeObject) => applied(store.get(keyOf(document)), document);
  const settle = () => {
    for (const object of [...store.values()]) if (object.kind === 'DaemonSet' || object.kind === 'Deployment') rollOut(object, nodes, put);
  };

  for (let index = 1; index <= nodes; index += 1) put({ apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${index}` } });
  put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } });
  for (const object of installed) put(object);
  settle();

  return {
    writes,
    settle,
    cluster: readerOf(store, patched, apply),
    objects: () => [...store.values()],
    object: (kind, name) => store.get(`${kind}/${name}`),
    edit(kind, name, ops, managedBy) {
      const object = patched(name, kind, ops);
      const managedFields = [...(object.metadata.managedFields ?? []), ...(managedBy ? [managedBy] : [])];
      put({ ...object, metadata: { ...object.metadata, managedFields } });
    },
    perform({ effect }) {
      if (effect.type === 'write') files.set(effect.file, effect.content);
      if (effect.type === 'wait') settle();
      if (effect.type === 'patch') {
        const guard: JsonPatchOp[] = [{ op: 'replace', path: '/metadata/resourceVersion', value: effect.precondition.resourceVersion }];
        put(patched(effect.target.name, effect.target.kind, [...guard, ...effect.patch]));
        writes.push(`patch ${effect.target.kind}/${effect.target.name}`);
      }
      if (effect.type !== 'exec') return;
      writes.push([effect.run.tool, ...effect.run.args].join(' '));
      const file = effect.run.args.at(-1) ?? '';
      const text = files.get(file.slice(file.lastIndexOf('/') + 1)) ?? '';
      for (const { object } of parseManifest(text, file).documents) {
        const result = apply(object);
        put(result);
        const managedFields = adoptedOwnership(result);
        if (!managedFields) continue;
        if (!kubectlMigrates) throw new Error(`${keyOf(object)}: kubectl would roll twice`);
        put({ ...result, metadata: { ...result.metadata, managedFields } });
        put(apply(object));
      }
    },
  };
}

type Patched = (name: string, kind: string, ops: readonly JsonPatchOp[]) => KubeObject;

function readerOf(store: ReadonlyMap<string, KubeObject>, patched: Patched, apply: (one: KubeObject) => KubeObject): ClusterReader {
  const kinds = (): readonly Kind[] => [...Object.values(K), ...[...store.values()].flatMap(kindOfCrd)];
  const reader: Partial<ClusterReader> = {
    discover: async () => ({ kinds: kinds(), failed: [] }),
    resolve: async (apiVersion, kind) => kinds().find((one) => apiVersionOf(one) === apiVersion && one.kind === kind),
    get: async (kind, name) => store.get(`${kind.kind}/${name}`),
    list: async (kind, options) => [...store.values()].filter((one) => one.kind === kind.kind && isSelected(one, options)),
    dryRunApply: async (_kind, document) => apply(document),
    dryRunPatch: async (kind, ref, ops) => patched(ref.name, kind.kind, ops),
    dryRunCreate: async (_kind, document) => document,
    raw: async () => {
      throw new ApiFailure(404, 'NotFound', 'it serves no schema');
    },
  };
  return reader as ClusterReader;
}

function kindOfCrd({ kind, spec }: KubeObject): readonly Kind[] {
  if (kind !== 'CustomResourceDefinition' || !isRecord(spec) || !isRecord(spec.names)) return [];
  const group = String(spec.group);
  return [
    { group, version: 'v1', kind: String(spec.names.kind), plural: String(spec.names.plural), namespaced: spec.scope === 'Namespaced' },
  ];
}

/** The two shapes of selectors that stages use: `a=b` and `a in (b,c)`. */
function isSelected({ metadata }: KubeObject, { namespace, labelSelector = '' }: ListOptions = {}): boolean {
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  const among = /^(\S+) in \((.*)\)$/.exec(labelSelector);
  if (among) return (among[2] ?? '').split(',').includes(metadata.labels?.[among[1] ?? ''] ?? '');
  return labelSelector === '' || labelSelector.split(',').every((one) => metadata.labels?.[one.split('=')[0] ?? ''] === one.split('=')[1]);
}

/** The fields that a document claims: all but its identity. */
function claimed({ apiVersion: _, kind: __, metadata, ...fields }: KubeObject): FieldsV1 {
  const { name: ___, namespace: ____, ...rest } = metadata;
  return fieldsOf({ ...(Object.keys(rest).length > 0 ? { metadata: rest } : {}), ...fields }, '');
}

/** A document as `kubectl apply` without `--server-side` leaves it. */
export function appliedClientSide(document: KubeObject): KubeObject {
  const annotations = { ...document.metadata.annotations, [LAST_APPLIED]: JSON.stringify(document) };
  const object = { ...document, metadata: { ...document.metadata, annotations } };
  return ownedBy('kubectl-client-side-apply', object);
}

/** An object all of whose fields one Update manager owns, as `kubectl create` leaves it. */
export function ownedBy(manager: string, object: KubeObject): KubeObject {
  const entry = { manager, operation: 'Update', apiVersion: object.apiVersion, fieldsV1: claimed(object) };
  return { ...object, metadata: { ...object.metadata, managedFields: [entry] } };
}

/** An object as another manager's server-side apply leaves it: that one owns all fields too. */
export function appliedBy(manager: string, object: KubeObject): KubeObject {
  const { managedFields = [], ...rest } = object.metadata;
  const { [LAST_APPLIED]: _, ...annotations } = object.metadata.annotations ?? {};
  const said = { ...object, metadata: { ...rest, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) } };
  const entry = { manager, operation: 'Apply', apiVersion: object.apiVersion, fieldsV1: claimed(said) };
  return { ...object, metadata: { ...object.metadata, managedFields: [...managedFields, entry] } };
}

/** One server-side apply by kubectl with forced conflicts. */
function applied(live: KubeObject | undefined, document: KubeObject): KubeObject {
  const entries = live?.metadata.managedFields ?? [];
  const own = entries.find(({ manager, operation }) => manager === KUBECTL && operation === 'Apply');
  const others = entries.filter((entry) => entry !== own);
  const now = claimed(document);
  const owned = [now, ...others.map(({ fieldsV1 }) => fieldsV1 ?? {})].reduce(union, {});
  const object = merged(prune(live, own?.fieldsV1 ?? {}, owned), document, '') as KubeObject;
  const { name, namespace, annotations } = document.metadata;
  // Where client-side apply was before, kubectl goes on writing what it applied.
  const last: Readonly<Record<string, string>> = live?.metadata.annotations?.[LAST_APPLIED]
    ? { [LAST_APPLIED]: JSON.stringify(document) }
    : {};
  const kept = { ...object.metadata.annotations, ...annotations, ...last };
  const managedFields = [
    { manager: KUBECTL, operation: 'Apply', apiVersion: document.apiVersion, fieldsV1: now },
    ...others.map((entry) => (clientSideManagers([entry]).length > 0 ? entry : { ...entry, fieldsV1: entry.fieldsV1 ?? {} })),
  ];
  const { uid, resourceVersion } = live?.metadata ?? {};
  const identity = { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid, resourceVersion } : {}) };
  return { ...object, metadata: { ...object.metadata, annotations: kept, ...identity, managedFields } };
}

function merged(live: unknown, document: unknown, name: string): unknown {
  if (isRecord(live) && isRecord(document)) {
    return { ...live, ...Object.fromEntries(Object.entries(document).map(([field, value]) => [field, merged(live[field], value, field)])) };
  }
  if (!Array.isArray(live) || !Array.isArray(document)) return document;
  const [there, wanted] = [itemsByKey(name, live), itemsByKey(name, document)];
  if (!there || !wanted) return document;
  const items = [...wanted].map(([key, item]) => merged(there.get(key), item, ''));
  return [...items, ...[...there].filter(([key]) => !wanted.has(key)).map(([, item]) => item)];
}

interface WorkloadShape {
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
    };
  };
}

function rollOut(object: KubeObject, nodes: number, put: (object: KubeObject) => void): void {
  const { spec } = object as unknown as WorkloadShape;
  const pods = object.kind === 'DaemonSet' ? nodes : (spec.replicas ?? 1);
  const counts = object.kind === 'DaemonSet' ? DAEMON_COUNTS : DEPLOYMENT_COUNTS;
  put({ ...object, status: Object.fromEntries(counts.map((count) => [count, pods])) });
  const { containers } = spec.template.spec;
  for (let index = 1; index <= pods; index += 1) {
    const containerStatuses = containers.map(({ name }) => ({ name, ready: true }));
    put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${object.metadata.name}-${index}`, namespace: object.metadata.namespace, labels: spec.template.metadata?.labels },
      spec: { nodeName: `node-${index}`, containers },
      status: { phase: 'Running', containerStatuses, conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }
}

const DAEMON_COUNTS = ['desiredNumberScheduled', 'updatedNumberScheduled', 'numberReady', 'numberAvailable'];
const DEPLOYMENT_COUNTS = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'];
