import type { Kind, KubeObject } from './object.ts';
import { ApiFailure, type ClusterReader, type ListOptions, type Sources } from './ports.ts';

type Remembered = Omit<ClusterReader, 'clockSkewMs' | 'watch' | 'raw'>;

/** Which object, as documents and references say it. */
interface Named {
  readonly name: string;
  readonly namespace?: string;
}

type Keep = NonNullable<ListOptions['keep']>;

/** Answers to dry runs that an earlier look was given; how old they may be is for them to say. */
export interface EarlierAnswers {
  find(key: string): KubeObject | undefined;
  keep(key: string, answer: KubeObject): void;
}

/** A list longer than this is read again rather than held until the whole plan is made. */
const HELD_OBJECTS = 2000;

/** A look at a look would remember everything twice. */
const looks = new WeakSet<ClusterReader>();

function remembering() {
  const held = new Map<string, Promise<unknown>>();
  const once = <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const known = held.get(key) as Promise<T> | undefined;
    if (known) return known;
    const asked = read();
    held.set(key, asked);
    asked.catch((thrown: unknown) => {
      if (!(thrown instanceof ApiFailure && thrown.status === 404)) held.delete(key);
    });
    return asked;
  };
  return { held, once };
}

type State = Pick<Sources, 'records' | 'journal'>;

/** What runs noted in the cluster, as one look sees it; `noted` once this run has noted more. For surveys alone: a write reads the cluster itself. */
export function oneLookAtState<Ports extends State>({ records, journal }: Ports) {
  const [noted, removed] = [remembering(), remembering()];
  return {
    state: {
      records: {
        ...records,
        load: () => noted.once('record', () => records.load()),
        keptWith: (part: string) => noted.once(part, () => records.keptWith(part)),
      },
      journal: { ...journal, load: () => removed.once('', () => journal.load()) },
    } satisfies State,
    noted: () => noted.held.clear(),
  };
}

/**
 * The cluster read once for several stages, for planning only; failures are not remembered, except 404. A dry-run answer, also an earlier
 * look's, holds only for the resourceVersion read here; else both are forgotten.
 */
export function oneLook<Reader extends ClusterReader>(cluster: Reader, earlier?: EarlierAnswers): Reader {
  if (looks.has(cluster)) return cluster;
  const { held, once } = remembering();
  const objectKey = (kind: Kind, name: string, namespace?: string) =>
    JSON.stringify(['get', kind.group, kind.version, kind.plural, namespace, name]);
  const dryRun = async (kind: Kind, { name, namespace }: Named, asked: readonly unknown[], send: () => Promise<KubeObject>) => {
    const object = objectKey(kind, name, namespace);
    const key = JSON.stringify(['dry run', object, ...asked]);
    const read = held.get(object) as Promise<KubeObject | undefined> | undefined;
    const forget = () => {
      held.delete(key);
      held.delete(object);
    };
    const before = earlier?.find(key);
    const isStill = before && read && (await read)?.metadata.resourceVersion === before.metadata.resourceVersion;
    const answer = await once(key, async () => (isStill ? before : send())).catch((thrown: unknown) => {
      forget();
      throw thrown;
    });
    earlier?.keep(key, answer);
    const state = read && (await read);
    if (read === undefined || state?.metadata.resourceVersion !== answer.metadata.resourceVersion) forget();
    return answer;
  };
  // What is kept of the objects is a function, of which JSON would say nothing: lists cut down in two ways are two lists.
  const cuts = new Map<Keep, number>();
  const numberOf = (keep: Keep) => {
    const number = cuts.get(keep) ?? cuts.size;
    cuts.set(keep, number);
    return number;
  };
  const remembered: Remembered = {
    version: () => once('version', () => cluster.version()),
    discover: (how) => {
      if (how === 'anew') held.delete('discover');
      return once('discover', () => cluster.discover());
    },
    resolve: (apiVersion, kind) => once(JSON.stringify(['resolve', apiVersion, kind]), () => cluster.resolve(apiVersion, kind)),
    get: (kind, name, namespace) => once(objectKey(kind, name, namespace), () => cluster.get(kind, name, namespace)),
    async list(kind, options = {}) {
      const { signal, keep, ...asked } = options;
      if (signal) return cluster.list(kind, options);
      const part = keep ? numberOf(keep) : 'whole';
      const key = JSON.stringify(['list', kind.group, kind.version, kind.plural, part, Object.entries(asked).sort()]);
      const found = await once(key, () => cluster.list(kind, options));
      if (found.length > HELD_OBJECTS) held.delete(key);
      return found;
    },
    dryRunCreate: (kind, document) => {
      const key = JSON.stringify(['dry create', kind.group, kind.plural, document]);
      return once(key, async () => {
        const answer = earlier?.find(key) ?? (await cluster.dryRunCreate(kind, document));
        earlier?.keep(key, answer);
        return answer;
      });
    },
    reviewAccess: (requests) => once(JSON.stringify(['access', requests]), () => cluster.reviewAccess(requests)),
    dryRunApply: (kind, document, fieldManager) =>
      dryRun(kind, document.metadata, [document, fieldManager], () => cluster.dryRunApply(kind, document, fieldManager)),
    dryRunPatch: (kind, ref, patch, fieldManager) =>
      dryRun(kind, ref, [patch, fieldManager], () => cluster.dryRunPatch(kind, ref, patch, fieldManager)),
  };
  const look = { ...cluster, ...remembered };
  looks.add(look);
  return look;
}
