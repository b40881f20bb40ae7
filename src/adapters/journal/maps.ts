import { K } from '../../core/kinds.ts';
import type { KubeObject } from '../../core/object.ts';
import { ApiFailure, type Cluster } from '../../core/ports.ts';
import { isPart, JOURNAL_NAME, type JournalPlace, type Stored } from './place.ts';

const OWNED = 'app.kubernetes.io/managed-by';
const NAMED = 'app.kubernetes.io/name';
const LABELS = { [OWNED]: 'netsvc-upgrade', [NAMED]: JOURNAL_NAME };
const HEAD_KEY = 'journal.json';
const CHUNK_KEY = 'entries.jsonl.gz';

/**
 * The journal in ConfigMaps: the head as text, each chunk as an immutable one, so that the API server itself refuses edits.
 * Selected by name, not by label alone: a label can be lost.
 */
export function journalMaps(cluster: Cluster, namespace: string): JournalPlace {
  const whereIs = (name: string) => `ConfigMap/${namespace}/${name}`;
  return {
    whereIs,
    async read(name) {
      const map = await cluster.get(K.ConfigMap, name, namespace);
      return map && { bytes: bytesOf(map), version: map.metadata.resourceVersion ?? '' };
    },
    async create(name, bytes) {
      await cluster.create(K.ConfigMap, mapOf(name, namespace, bytes));
    },
    async replace(name, bytes, version) {
      const { metadata, ...map } = mapOf(name, namespace, bytes);
      await cluster.replace(K.ConfigMap, { ...map, metadata: { ...metadata, resourceVersion: version } });
    },
    async remove(name, version) {
      const map = await cluster.get(K.ConfigMap, name, namespace);
      if (!map) return;
      if (map.metadata.resourceVersion !== version) throw new ApiFailure(409, 'Conflict', `${whereIs(name)} is another one by now`);
      const { uid } = map.metadata;
      await cluster.remove(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', namespace, name, ...(uid ? { uid } : {}) });
    },
    async names() {
      const maps = await cluster.list(K.ConfigMap, { namespace, metadataOnly: true });
      return maps
        .map(({ metadata }) => metadata.name)
        .filter(isPart)
        .sort();
    },
    async others() {
      const maps = await cluster.list(K.ConfigMap, { labelSelector: `${NAMED}=${JOURNAL_NAME}`, metadataOnly: true });
      const found = maps.flatMap(({ metadata }) => (isPart(metadata.name) ? [metadata.namespace ?? ''] : []));
      return [...new Set(found)].filter((one) => one !== namespace).sort();
    },
    advice: (name, trouble) => (trouble === 'foreign' ? foreignAdvice(namespace) : damagedAdvice(namespace, name)),
  };
}

/** The copy is read only where the cluster has no part of a journal any more. */
function damagedAdvice(namespace: string, name: string): readonly string[] {
  const { save, remove } = wholeJournal(namespace);
  return [
    `look at it: kubectl -n ${namespace} get configmap ${name} -o yaml`,
    'without a local copy (--journal-dir), read docs/journal.md for the recovery by hand; with one:',
    `save what is left: ${save}`,
    `then delete it: ${remove}`,
    `then continue from the copy: kubectl netsvc-upgrade ownerrefs restore --state-namespace ${namespace} --journal-dir DIR --accept NS-751`,
  ];
}

/** Of a backup of another cluster's objects: the instances that it names are not here. */
function foreignAdvice(namespace: string): readonly string[] {
  const { save, remove } = wholeJournal(namespace);
  return [
    `nothing was taken off in this cluster on its strength; the other cluster may need it, so save it: ${save}`,
    `then delete it here: ${remove}`,
    'then continue with the same command',
  ];
}

function wholeJournal(namespace: string): { readonly save: string; readonly remove: string } {
  const kubectl = `kubectl -n ${namespace}`;
  const all = `${kubectl} get configmaps -o name | grep -E '/${JOURNAL_NAME}(-.+-[0-9]{4,}-[0-9]{4,})?$'`;
  return { save: `${all} | xargs ${kubectl} get -o yaml > owner-references.yaml`, remove: `${all} | xargs ${kubectl} delete` };
}

function mapOf(name: string, namespace: string, bytes: Uint8Array): KubeObject {
  const head = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: LABELS } };
  if (name === JOURNAL_NAME) return { ...head, data: { [HEAD_KEY]: Buffer.from(bytes).toString('utf8') } };
  return { ...head, immutable: true, binaryData: { [CHUNK_KEY]: Buffer.from(bytes).toString('base64') } };
}

/** No bytes where the key is missing: the reader says what is wrong with that. */
function bytesOf(map: KubeObject): Stored['bytes'] {
  const text = (map.data as Readonly<Record<string, string>> | undefined)?.[HEAD_KEY];
  if (map.metadata.name === JOURNAL_NAME) return Buffer.from(text ?? '');
  return Buffer.from((map.binaryData as Readonly<Record<string, string>> | undefined)?.[CHUNK_KEY] ?? '', 'base64');
}
