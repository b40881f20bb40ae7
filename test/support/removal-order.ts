import { gunzipSync } from 'node:zlib';
import type { JournalEntry } from '../../src/kernel/journal.ts';
import type { JsonPatchOp } from '../../src/kernel/object.ts';
import type { LoggedRequest } from '../control-plane/proxy-log.ts';

const HEAD = /\/secrets\/netsvc-upgrade-owners$/;
const REFERENCE = /^\/metadata\/ownerReferences\/\d+$/;

interface Secret {
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
}
/**
 * Removals of owner references that came before the server had stored the very record of them and the program had been told so: by the
 * answer to the write of the journal's head that names the record, or, if that was lost, by a head that it read later. Journal and
 * patches are read from the requests' bodies, past the program. For requests that begin without any journal, of one process or of
 * several; there must be none. A log without a removal is no proof of anything, and says so.
 */
export function removalsTooEarly(requests: readonly LoggedRequest[]): readonly string[] {
  const removals = requests.filter(({ method }) => method === 'PATCH').flatMap(removalsOf);
  if (removals.length === 0) return ['nothing was removed'];
  const chunks = new Map(requests.flatMap(chunkOf));
  const heads = requests.filter(({ path }) => HEAD.test(path.split('?')[0] ?? ''));
  const told = heads.flatMap((head) => {
    const by = heads.find((one) => one.arrivedAt >= head.arrivedAt && isAnswered(one) && one.fault !== 'stale')?.answeredAt;
    return head.method === 'PUT' && head.serverStatus === 200 && by !== undefined ? [{ by, names: namesIn(head) }] : [];
  });
  return removals
    .filter(({ key, at }) => !told.some(({ by, names }) => by < at && names.some((name) => chunks.get(name)?.has(key))))
    .map(({ text }) => `${text} came before its record was acknowledged`);
}

const isAnswered = ({ clientStatus }: LoggedRequest): boolean => clientStatus === 200 || clientStatus === 201;

/** Each reference that a patch removes, by the UIDs of its object and of its owner. */
function removalsOf({ number, path, arrivedAt, body }: LoggedRequest) {
  const parsed: unknown = JSON.parse(body ?? '[]');
  const ops = Array.isArray(parsed) ? (parsed as readonly JsonPatchOp[]) : [];
  const object = ops.find((one) => one.op === 'test' && one.path === '/metadata/uid')?.value;
  return ops.flatMap(({ op, path: at }, index) => {
    if (op !== 'remove' || !REFERENCE.test(at)) return [];
    const before = ops[index - 1];
    const owner = before?.op === 'test' && before.path === at ? (before.value as { readonly uid: string }).uid : 'whatever is there';
    return [{ key: `${object} ${owner}`, at: arrivedAt, text: `request ${number} PATCH ${path}, which removes ${owner},` }];
  });
}

/** What a chunk of the journal records, by its name. */
function chunkOf({ method, body }: LoggedRequest): readonly (readonly [string, ReadonlySet<string>])[] {
  if (method !== 'POST' || !body?.includes('entries.jsonl.gz')) return [];
  const { metadata, data = {} } = JSON.parse(body) as Secret;
  const text = gunzipSync(Buffer.from(data['entries.jsonl.gz'] ?? '', 'base64')).toString();
  const entries = text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as JournalEntry);
  return [[metadata.name, new Set(entries.flatMap((one) => one.removed.map((at) => `${one.object.uid} ${one.references[at]?.uid}`)))]];
}

/** The chunks that a head names. */
function namesIn({ body }: LoggedRequest): readonly string[] {
  const { data = {} } = JSON.parse(body ?? '{}') as Secret;
  const { journal } = JSON.parse(Buffer.from(data['journal.json'] ?? 'e30=', 'base64').toString('utf8')) as {
    readonly journal?: { readonly appends: readonly { readonly chunks: readonly { readonly name: string }[] }[] };
  };
  return journal?.appends.flatMap(({ chunks }) => chunks.map(({ name }) => name)) ?? [];
}
