import { isRecord } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type Cluster } from '../../kernel/ports.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { type Content, changedUnderUs, type Entry, foreignSecret, markOf } from './entry.ts';

/**
 * Type of every Secret that holds state: writers of Secrets in kube-system already have this program's rights. Far more accounts
 * may write ConfigMaps and Leases (docs/internals/threat-model.md).
 */
export const STATE_TYPE = 'netsvc-upgrade/state';

const LABELS = { 'app.kubernetes.io/managed-by': 'netsvc-upgrade' };
const TRIES = 5;

/** What this program stores in the cluster and acts upon later; nothing else reads or writes these Secrets. */
export interface Ledger {
  /** `Secret/kube-system/netsvc-upgrade-run`. */
  whereIs(name: string): string;
  /** Undefined if there is none. Throws Fault('failed') for a Secret of another type. */
  read(name: string): Promise<Entry | undefined>;
  /** Names of all that there is, sorted. */
  names(): Promise<readonly string[]>;
  /** Throws ApiFailure 409 if the name is taken. An immutable one cannot be changed, not even by us. */
  create(name: string, content: Content, immutable?: boolean): Promise<Entry>;
  /** Throws ApiFailure 409 if it is another version by now. */
  replace(entry: Entry): Promise<Entry>;
  /** Throws ApiFailure 409 if it is another version by now; nothing happens if it is not there. */
  remove(name: string, version: string): Promise<void>;
  /**
   * Changes what is there, or begins it; `change` resolves to undefined for what is not changed. Throws Fault('stale') where that is neither
   * what this process first read nor what it wrote last.
   */
  update(name: string, change: (content: Content | undefined) => Promise<Content | undefined> | Content | undefined): Promise<void>;
}

/** The ledger in Secrets of one type in kube-system. */
export function secretLedger(cluster: Cluster): Ledger {
  /** Marks of what may be found under a name: what was read first, then what was written last. A write without an answer allows two. */
  const known = new Map<string, ReadonlySet<string>>();
  /** As this process wrote them last. */
  const written = new Map<string, Entry>();
  const whereIs = (name: string) => `Secret/${STATE_NAMESPACE}/${name}`;

  const get = async (name: string) => {
    const secret = await cluster.get(K.Secret, name, STATE_NAMESPACE);
    if (secret && secret.type !== STATE_TYPE) throw foreignSecret(whereIs(name), name);
    return secret && entryOf(secret);
  };

  async function read(name: string): Promise<Entry | undefined> {
    const found = await get(name);
    if (!known.has(name)) known.set(name, new Set([markOf(found?.content)]));
    return found;
  }

  /** What is about to be written over: whatever a run bases its next record upon, another's is never lost. */
  async function readOwn(name: string): Promise<Entry | undefined> {
    const found = await read(name);
    if (known.get(name)?.has(markOf(found?.content))) return found;
    throw changedUnderUs(whereIs(name), found === undefined);
  }

  const create = async (name: string, content: Content, immutable = false) =>
    entryOf(await cluster.create(K.Secret, secretOf(name, content, immutable)));

  async function replace({ name, content, uid, version, secret }: Entry): Promise<Entry> {
    const { metadata, ...rest } = secret ? { ...secret, data: content } : secretOf(name, content, false);
    const versioned = { ...metadata, resourceVersion: version, ...(uid ? { uid } : {}) };
    return entryOf(await cluster.replace(K.Secret, { ...rest, metadata: versioned }));
  }

  /** Until its answer comes, both contents may be found. */
  async function writeOver(name: string, live: Entry | undefined, content: Content): Promise<void> {
    known.set(name, new Set([markOf(live?.content), markOf(content)]));
    written.set(name, await (live ? replace({ ...live, content }) : create(name, content)));
    known.set(name, new Set([markOf(content)]));
  }

  return {
    whereIs,
    read,
    async names() {
      const secrets = await cluster.list(K.Secret, { namespace: STATE_NAMESPACE, fieldSelector: `type=${STATE_TYPE}`, metadataOnly: true });
      return secrets.map(({ metadata }) => metadata.name).sort();
    },
    create,
    replace,
    async remove(name, version) {
      const found = await read(name);
      if (!found) return;
      if (found.version !== version) throw new ApiFailure(409, 'Conflict', `${whereIs(name)} is another one by now`);
      await cluster.remove(K.Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        namespace: STATE_NAMESPACE,
        name,
        ...(found.uid ? { uid: found.uid } : {}),
      });
      written.delete(name);
      known.delete(name);
    },
    async update(name, change) {
      for (let attempt = 1; ; attempt += 1) {
        const live = written.get(name) ?? (await readOwn(name));
        const content = await change(live?.content);
        if (!content) return;
        try {
          return await writeOver(name, live, content);
        } catch (thrown) {
          if (!isOutdated(thrown, written.delete(name)) || attempt >= TRIES) throw thrown;
          // The answer to an earlier try was lost.
          if (isSame((await readOwn(name))?.content, content)) return;
        }
      }
    },
  };
}

function secretOf(name: string, data: Content, immutable: boolean): KubeObject {
  const metadata = { name, namespace: STATE_NAMESPACE, labels: { ...LABELS, 'app.kubernetes.io/name': labelOf(name) } };
  return { apiVersion: 'v1', kind: 'Secret', type: STATE_TYPE, metadata, ...(immutable ? { immutable } : {}), data };
}

/** What the Secret belongs to, for users who look: `netsvc-upgrade-run`, `netsvc-upgrade-owners`. */
function labelOf(name: string): string {
  return name.split('-').slice(0, 3).join('-');
}

function entryOf(secret: KubeObject): Entry {
  const { name, uid = '', resourceVersion: version = '' } = secret.metadata;
  return { name, content: contentOf(secret.data), uid, version, secret };
}

/** What is no text under its key was put there by nobody whom a server checked. */
function contentOf(data: unknown): Content {
  return Object.fromEntries(
    Object.entries(isRecord(data) ? data : {}).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}

const isSame = (one: Content | undefined, other: Content) => markOf(one) === markOf(other);

/** Somebody wrote or removed it in between; `isKnown`: it was not read right before. */
function isOutdated(thrown: unknown, isKnown: boolean): boolean {
  return thrown instanceof ApiFailure && (thrown.status === 409 || (thrown.status === 404 && isKnown));
}
