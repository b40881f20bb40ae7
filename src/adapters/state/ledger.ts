import { isRecord } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type Cluster } from '../../kernel/ports.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { type Content, changedUnderUs, type Entry, ExpectedContents, foreignSecret } from './expectations.ts';

/**
 * Type of every Secret that holds state: writers of Secrets in kube-system already have this program's rights. Far more accounts
 * may write ConfigMaps and Leases (docs/internals/threat-model.md).
 */
export const STATE_TYPE = 'netsvc-upgrade/state';

const LABELS = { 'app.kubernetes.io/managed-by': 'netsvc-upgrade' };
const TRIES = 5;

/**
 * What this program stores in the cluster and acts upon later; nothing else reads or writes these Secrets. While pinned, a read must find
 * what was read or written before, else it throws Fault('stale').
 */
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
  /** Changes what is there, or begins it; again where only its metadata changed meanwhile. `change` resolves to undefined for what is not changed. */
  update(name: string, change: (content: Content | undefined) => Promise<Content | undefined> | Content | undefined): Promise<void>;
  /** From now on, what was seen must be what is found, from the first read of this process on: called when the lock is held. */
  pin(): void;
  /** Other runs may write again. */
  unpin(): void;
}

/** The ledger in Secrets of one type in kube-system. */
export function secretLedger(cluster: Cluster): Ledger {
  const expected = new ExpectedContents();
  /** As this process wrote them last: nobody else writes them while it holds the lock. */
  const written = new Map<string, Entry>();
  const whereIs = (name: string) => `Secret/${STATE_NAMESPACE}/${name}`;

  const get = async (name: string) => {
    const secret = await cluster.get(K.Secret, name, STATE_NAMESPACE);
    if (secret && secret.type !== STATE_TYPE) throw foreignSecret(whereIs(name), name);
    return secret && entryOf(secret);
  };

  /** A single answer may be an outdated one: two have to agree. */
  async function read(name: string): Promise<Entry | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const found = await get(name);
      if (expected.meets(name, found)) return found;
      if (attempt < 2) continue;
      throw changedUnderUs(whereIs(name), found === undefined);
    }
  }

  async function store(name: string, content: Content | undefined, write: () => Promise<KubeObject>): Promise<Entry> {
    expected.attempt(name, content);
    const entry = entryOf(await write());
    expected.settle(name, entry);
    return entry;
  }

  const create = (name: string, content: Content, immutable = false) =>
    store(name, content, () => cluster.create(K.Secret, secretOf(name, content, immutable)));

  const replace = ({ name, content, uid, version, secret }: Entry) =>
    store(name, content, () => {
      const { metadata, ...rest } = secret ? { ...secret, data: content } : secretOf(name, content, false);
      return cluster.replace(K.Secret, { ...rest, metadata: { ...metadata, resourceVersion: version, ...(uid ? { uid } : {}) } });
    });

  return {
    whereIs,
    read,
    async names() {
      const secrets = await cluster.list(K.Secret, { namespace: STATE_NAMESPACE, fieldSelector: `type=${STATE_TYPE}`, metadataOnly: true });
      const names = secrets.map(({ metadata }) => metadata.name).sort();
      expected.lists(names);
      return names;
    },
    create,
    replace,
    async remove(name, version) {
      const found = await read(name);
      if (!found) return;
      if (found.version !== version) throw new ApiFailure(409, 'Conflict', `${whereIs(name)} is another one by now`);
      expected.attempt(name, undefined);
      await cluster.remove(K.Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        namespace: STATE_NAMESPACE,
        name,
        ...(found.uid ? { uid: found.uid } : {}),
      });
      expected.settle(name, undefined);
      written.delete(name);
    },
    async update(name, change) {
      for (let attempt = 1; ; attempt += 1) {
        const live = written.get(name) ?? (await read(name));
        const content = await change(live?.content);
        if (!content) return;
        try {
          written.set(name, await (live ? replace({ ...live, content }) : create(name, content)));
          return;
        } catch (thrown) {
          if (!isOutdated(thrown, written.delete(name)) || attempt >= TRIES) throw thrown;
        }
      }
    },
    pin: () => expected.pin(),
    unpin: () => expected.unpin(),
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

/** Somebody wrote or removed it in between; `isKnown`: it was not read right before. */
function isOutdated(thrown: unknown, isKnown: boolean): boolean {
  return thrown instanceof ApiFailure && (thrown.status === 409 || (thrown.status === 404 && isKnown));
}
