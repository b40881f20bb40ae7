import { sameValue } from './json.ts';
import type { Kind, KubeObject } from './object.ts';
import { ApiFailure, type ClusterReader, type ListOptions, type Sources } from './ports.ts';

type Remembered = Omit<ClusterReader, 'clockSkewMs' | 'watch' | 'raw'>;

/** Which object, as documents and references say it. */
interface Named {
  readonly name: string;
  readonly namespace?: string;
}

type Keep = NonNullable<ListOptions['keep']>;

/** Answers to dry runs that an earlier look was given. */
export interface EarlierAnswers {
  /** How old it may be is for them to say. */
  find(key: string): KubeObject | undefined;
  /** The last one, whatever was done since. */
  last(key: string): KubeObject | undefined;
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

/** An object without what the server and its controllers write on their own, and what tells it from another with the same content. */
function contentOf({ status, metadata, ...rest }: KubeObject): unknown {
  const { uid: _, resourceVersion: __, generation: ___, creationTimestamp: ____, managedFields = [], ...kept } = metadata;
  const owners = managedFields.filter(({ subresource }) => subresource !== 'status').map(({ time: _____, ...entry }) => entry);
  const isStatusOwned = owners.some(({ fieldsV1 }) => fieldsV1?.['f:status'] !== undefined);
  return { ...rest, metadata: { ...kept, owners }, status: isStatusOwned ? status : undefined };
}

/**
 * The cluster read once for several stages, for planning only; failures are not remembered, except 404. A dry-run answer, also an earlier
 * look's, holds only for the resourceVersion read here; else both are forgotten. Server-side apply is idempotent: an object that is as the
 * same apply was to leave it is the answer itself.
 */
export function oneLook<Reader extends ClusterReader>(cluster: Reader, earlier?: EarlierAnswers): Reader {
  if (looks.has(cluster)) return cluster;
  const { held, once } = remembering();
  const objectKey = (kind: Kind, name: string, namespace?: string) =>
    JSON.stringify(['get', kind.group, kind.version, kind.plural, namespace, name]);
  const dryRun = async (
    kind: Kind,
    { name, namespace }: Named,
    asked: readonly unknown[],
    send: () => Promise<KubeObject>,
    isDone: (key: string, state: KubeObject) => boolean = () => false,
  ) => {
    const object = objectKey(kind, name, namespace);
    const key = JSON.stringify(['dry run', object, ...asked]);
    const read = held.get(object) as Promise<KubeObject | undefined> | undefined;
    const forget = () => {
      held.delete(key);
      held.delete(object);
    };
    const before = earlier?.find(key);
    const state = read && (await read);
    const isStill = before && read && state?.metadata.resourceVersion === before.metadata.resourceVersion;
    const known = isStill ? before : state && isDone(key, state) ? state : undefined;
    const answer = await once(key, async () => known ?? send()).catch((thrown: unknown) => {
      forget();
      throw thrown;
    });
    earlier?.keep(key, answer);
    if (read === undefined || state?.metadata.resourceVersion !== answer.metadata.resourceVersion) forget();
    return answer;
  };
  const isApplied = (key: string, state: KubeObject) => {
    const answer = earlier?.last(key);
    return answer !== undefined && sameValue(contentOf(state), contentOf(answer));
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
      dryRun(kind, document.metadata, [document, fieldManager], () => cluster.dryRunApply(kind, document, fieldManager), isApplied),
    dryRunPatch: (kind, ref, patch, fieldManager) =>
      dryRun(kind, ref, [patch, fieldManager], () => cluster.dryRunPatch(kind, ref, patch, fieldManager)),
  };
  const look = { ...cluster, ...remembered };
  looks.add(look);
  return look;
}
