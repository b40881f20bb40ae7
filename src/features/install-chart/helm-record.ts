import { isRecord, type JsonMap, mapAt, parsedJson, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { objectsIn, parseManifest, readManifest } from '../../manifest/manifest.ts';

/** One stored revision of a chart release, as far as the upgrade looks at it (domain §2.2). */
export interface HelmRecord {
  readonly name: string;
  readonly namespace: string;
  readonly revision: number;
  /** `deployed`, `superseded`, `failed`, `pending-upgrade`, … */
  readonly status: string;
  /** When its status was written; milliseconds since the epoch, undefined where it does not say. */
  readonly changedAt?: number;
  /** The tool's own last words about it. */
  readonly description: string;
  readonly chart: { readonly name: string; readonly version: string };
  /** Values that the user gave; may hold secrets: never shown. */
  readonly values: JsonMap;
  /** Values that the chart of this revision came with. */
  readonly defaults: JsonMap;
  /** The rendered objects. */
  readonly manifest: string;
  /** How the chart tool writes the objects: helm 4 says it, older ones always patch. */
  readonly applyMethod: 'client-side' | 'server-side';
}

type Recorded = Pick<HelmRecord, 'manifest' | 'namespace' | 'name' | 'revision'>;

const known = new WeakMap<Recorded, readonly KubeObject[]>();

const nameOf = ({ namespace, name, revision }: Recorded) => `the stored release ${namespace}/${name}, revision ${revision}`;

/** The record, with its objects read: whoever may write it chose their text. Throws Fault where they are no manifest. */
export async function withObjects<Record extends Recorded>(record: Record): Promise<Record> {
  known.set(record, objectsIn(await readManifest(record.manifest, nameOf(record))));
  return record;
}

/** The objects of a revision. */
export function recordedObjects(record: Recorded): readonly KubeObject[] {
  return known.get(record) ?? objectsIn(parseManifest(record.manifest, nameOf(record)));
}

/** A chart may leave the namespace out, and means the release's. */
export function placedIn(namespace: string): (object: KubeObject) => KubeObject {
  return (object) => ({ ...object, metadata: { namespace, ...object.metadata } });
}

/** Reads the JSON of a stored revision. Throws Error with what is missing. */
export function parseHelmRecord(json: string): HelmRecord {
  const record = parsedJson(json);
  if (!isRecord(record)) throw new Error(record === undefined ? 'it is not JSON' : 'it is not a release');
  const chart = mapAt(record, 'chart', 'metadata');
  const status = textAt(record, 'info', 'status');
  if (typeof record.name !== 'string' || typeof record.version !== 'number' || status === undefined || typeof chart.name !== 'string') {
    throw new Error('it has no name, revision, status or chart');
  }
  const changedAt = Date.parse(textAt(record, 'info', 'last_deployed') ?? '');
  return {
    ...(Number.isNaN(changedAt) ? {} : { changedAt }),
    name: record.name,
    namespace: textAt(record, 'namespace') ?? '',
    revision: record.version,
    status,
    description: textAt(record, 'info', 'description') ?? '',
    chart: { name: chart.name, version: textAt(chart, 'version') ?? '' },
    values: mapAt(record, 'config'),
    defaults: mapAt(record, 'chart', 'values'),
    manifest: textAt(record, 'manifest') ?? '',
    applyMethod: textAt(record, 'apply_method') === 'ssa' ? 'server-side' : 'client-side',
  };
}

/** An operation that has not ended: every other one is refused by the chart tool. */
export function isPending({ status }: Pick<HelmRecord, 'status'>): boolean {
  return status.startsWith('pending-') || status === 'uninstalling';
}

/** Bytes of a stored release after unpacking; a cluster object holds 1 MiB packed. */
const LIMIT_BYTES = 64 * 1024 * 1024;
/** Nobody packs deeper: the Secret's own layer, the chart tool's, and none besides. */
const LAYERS = 2;

/**
 * The JSON text of a stored chart release (domain §2.2): base64 by the API (Secrets only), base64 by the chart tool, gzip; or stored plain.
 * Rejects with the reason if it is none of these or larger than 64 MiB.
 */
export async function unpackRelease(stored: string): Promise<string> {
  let bytes = new TextEncoder().encode(stored.trim());
  for (let layer = 0; layer < LAYERS && !isGzip(bytes) && !isJson(bytes); layer += 1) bytes = decodeBase64(bytes);
  if (isGzip(bytes)) bytes = await gunzip(bytes);
  if (!isJson(bytes)) throw new Error('it is not a packed chart release');
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function isJson(bytes: Uint8Array): boolean {
  return bytes[0] === 0x7b;
}

function decodeBase64(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  try {
    const letters = atob(new TextDecoder().decode(bytes));
    const decoded = new Uint8Array(letters.length);
    // By index: character by character, a release of a megabyte takes a third of a second.
    for (let index = 0; index < letters.length; index += 1) decoded[index] = letters.charCodeAt(index);
    return decoded;
  } catch {
    throw new Error('it is not base64');
  }
}

/** By the language's own streams: no import, in Node as in a browser. */
async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))) {
    size += chunk.byteLength;
    if (size > LIMIT_BYTES) throw new Error('unpacked it is larger than 64 MiB');
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks.map((chunk) => Uint8Array.from(chunk))).arrayBuffer());
}
