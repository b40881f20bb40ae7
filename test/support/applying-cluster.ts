import type { Action } from '../../src/kernel/action.ts';
import { isRecord } from '../../src/kernel/json.ts';
import { K } from '../../src/kernel/kinds.ts';
import { apiVersionOf, type JsonPatchOp, type Kind, type KubeObject, type ManagedFieldsEntry } from '../../src/kernel/object.ts';
import { ApiFailure, type ClusterReader, type ListOptions } from '../../src/kernel/ports.ts';
import { adoptedOwnership, KUBECTL, LAST_APPLIED } from '../../src/kube/managed-fields.ts';
import { applyJsonPatch } from '../../src/manifest/json-patch.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { appliedServerSide, CLIENT_SIDE, clientSideDocument } from '../../src/sandbox/apply.ts';
import { claimed } from '../../src/sandbox/field-sets.ts';
import { NOW } from '../fixtures/facts.ts';

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
  /** By kubectl, with forced conflicts. */
  const apply = (document: KubeObject) => {
    const [group = '', version = group] = document.apiVersion.includes('/') ? document.apiVersion.split('/') : ['', document.apiVersion];
    const kind = { group, version, kind: document.kind, plural: '', namespaced: false };
    const live = store.get(keyOf(document));
    const object = appliedServerSide(kind, live, document, { manager: KUBECTL, now: new Date(NOW) });
    const { uid, resourceVersion } = live?.metadata ?? {};
    return live ? { ...object, metadata: { ...object.metadata, uid, resourceVersion } } : object;
  };
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
      for (const { target, patch } of patchesOf(effect)) {
        put(patched(target.name, target.kind, patch));
        writes.push(`patch ${target.kind}/${target.name}`);
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

const patchesOf = (effect: Action['effect']) => (effect.type === 'patch-all' ? effect.patches : []);

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

/** A document as `kubectl apply` without `--server-side` leaves it. */
export function appliedClientSide(document: KubeObject): KubeObject {
  return ownedBy(CLIENT_SIDE, clientSideDocument(document));
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
