import { basename } from 'node:path';
import type { Action } from '../../src/kernel/action.ts';
import { isRecord } from '../../src/kernel/json.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { JsonPatchOp, Kind, KubeObject, ManagedFieldsEntry } from '../../src/kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../src/kernel/ports.ts';
import { holdOps, releaseOps } from '../../src/kube/held.ts';
import { adoptedOwnership, KUBECTL, LAST_APPLIED } from '../../src/kube/managed-fields.ts';
import { containersOf, shapeOf } from '../../src/kube/workload.ts';
import { applyJsonPatch } from '../../src/manifest/json-patch.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { appliedServerSide, CLIENT_SIDE, clientSideDocument } from '../../src/sandbox/apply.ts';
import { claimed } from '../../src/sandbox/field-sets.ts';
import { findKind } from '../../src/sandbox/store.ts';
import { isSelected } from '../../src/sandbox/watch.ts';
import { NOW } from '../fixtures/facts.ts';

export type ApplyingCluster = ReturnType<typeof applyingCluster>;

const NODES = 2;
const keyOf = ({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>) => `${kind}/${metadata.name}`;

/**
 * A cluster in memory that applies, patches and rolls out at once, as far as the apply stage can tell the difference.
 */
export function applyingCluster(installed: readonly KubeObject[]) {
  const store = new Map<string, KubeObject>();
  const files = new Map<string, string>();
  /** Command lines and patches that changed something, in order. */
  const writes: string[] = [];
  let version = 0;
  const put = (object: KubeObject) => {
    const uid = store.get(keyOf(object))?.metadata.uid ?? `uid-${keyOf(object)}`;
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
    const [version = '', group = ''] = document.apiVersion.split('/').reverse();
    const kind = { group, version, kind: document.kind, plural: '', namespaced: false };
    const live = store.get(keyOf(document));
    const object = appliedServerSide(kind, live, document, { manager: KUBECTL, now: new Date(NOW) });
    const { uid, resourceVersion } = live?.metadata ?? {};
    return live ? { ...object, metadata: { ...object.metadata, uid, resourceVersion } } : object;
  };
  const applyAll = (file: string) => {
    for (const { object } of parseManifest(files.get(basename(file)) ?? '', file).documents) {
      const result = apply(object);
      put(result);
      if (adoptedOwnership(result)) throw new Error(`${keyOf(object)}: kubectl would roll twice`);
    }
  };
  /** Every pod becomes what its workload says. */
  const settle = () => [...store.values()].flatMap(rolledOut).forEach(put);

  for (let index = 1; index <= NODES; index += 1) put({ apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${index}` } });
  put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } });
  installed.forEach(put);
  settle();

  const kinds = (): readonly Kind[] => [...Object.values(K), ...[...store.values()].flatMap(kindOfCrd)];
  const cluster: Partial<ClusterReader> = {
    discover: async () => ({ kinds: kinds(), failed: [] }),
    resolve: async (apiVersion, kind) => findKind(kinds(), apiVersion, kind),
    get: async (kind, name) => store.get(`${kind.kind}/${name}`),
    async list({ kind }, options = {}) {
      const found = [...store.values()].filter((one) => one.kind === kind && isSelected(one, options));
      return options.keep ? found.map(options.keep) : found;
    },
    dryRunApply: async (_kind, document) => apply(document),
    dryRunPatch: async (kind, ref, ops) => patched(ref.name, kind.kind, ops),
    dryRunCreate: async (_kind, document) => document,
    raw: async () => {
      throw new ApiFailure(404, 'NotFound', 'it serves no schema');
    },
  };
  return {
    cluster: cluster as ClusterReader,
    writes,
    settle,
    /** Everything that is there. */
    objects: (): readonly KubeObject[] => [...store.values()],
    /** The object as it is now; undefined if there is none. */
    object: (kind: string, name: string) => store.get(`${kind}/${name}`),
    /** Changes an object as another writer would: nobody is asked. */
    edit(kind: string, name: string, ops: readonly JsonPatchOp[], managedBy?: ManagedFieldsEntry) {
      const object = patched(name, kind, ops);
      const managedFields = [...(object.metadata.managedFields ?? []), ...(managedBy ? [managedBy] : [])];
      put({ ...object, metadata: { ...object.metadata, managedFields } });
    },
    /** Does what the engine would do with the action. */
    perform({ effect }: Action) {
      if (effect.type === 'write') files.set(effect.file, effect.content);
      if (effect.type === 'wait') settle();
      for (const { target, patch } of effect.type === 'patch-all' ? effect.patches : []) {
        put(patched(target.name, target.kind, patch));
        writes.push(`patch ${target.kind}/${target.name}`);
      }
      if (effect.type === 'hold-workload' || effect.type === 'release-workload') {
        const live = store.get(`Deployment/${effect.target.name}`);
        const ops =
          live && (effect.type === 'hold-workload' ? holdOps(live, effect.ignores, effect.run) : releaseOps(live, effect.ignores));
        put(patched(effect.target.name, 'Deployment', ops ?? []));
        writes.push(`${effect.type} ${effect.target.name}`);
      }
      if (effect.type !== 'exec') return;
      writes.push([effect.run.tool, ...effect.run.args].join(' '));
      applyAll(effect.run.args.at(-1) ?? '');
    },
  };
}

function kindOfCrd({ kind, spec }: KubeObject): readonly Kind[] {
  if (kind !== 'CustomResourceDefinition' || !isRecord(spec) || !isRecord(spec.names)) return [];
  const { kind: served, plural } = spec.names;
  const namespaced = spec.scope === 'Namespaced';
  return [{ group: String(spec.group), version: 'v1', kind: String(served), plural: String(plural), namespaced }];
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

/** A workload whose rollout is over, and its pods; nothing of another object. */
function rolledOut(object: KubeObject): readonly KubeObject[] {
  if (object.kind !== 'DaemonSet' && object.kind !== 'Deployment') return [];
  const { replicas = 1, template } = shapeOf(object).spec ?? {};
  const { name, namespace } = object.metadata;
  const pods = object.kind === 'DaemonSet' ? NODES : replicas;
  const counts = object.kind === 'DaemonSet' ? DAEMON_COUNTS : DEPLOYMENT_COUNTS;
  const containers = containersOf(object);
  const containerStatuses = containers.map((one) => ({ name: one.name, ready: true }));
  return [
    { ...object, status: Object.fromEntries(counts.map((count) => [count, pods])) },
    ...Array.from({ length: pods }, (_, index) => ({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: { name: `${name}-${index + 1}`, namespace, labels: template?.metadata?.labels },
      spec: { nodeName: `node-${index + 1}`, containers },
      status: { phase: 'Running', containerStatuses, conditions: [{ type: 'Ready', status: 'True' }] },
    })),
  ];
}

const DAEMON_COUNTS = ['desiredNumberScheduled', 'updatedNumberScheduled', 'numberReady', 'numberAvailable'];
const DEPLOYMENT_COUNTS = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'];
