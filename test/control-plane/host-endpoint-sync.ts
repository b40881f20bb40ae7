import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ObjectMeta } from '../../src/kernel/object.ts';
import { type Api, type ApiList, type ApiObject, unless } from './api.ts';
import { storedOf } from './service-objects.ts';

/** How the played controllers behave. */
export interface EndpointManner {
  /** v3 group: `projectcalico.org`. */
  readonly group: string;
  readonly createdBy: readonly [key: string, value: string];
  readonly allowAllProfile: string;
  /** `old` is v3.26, `new` v3.32: how they store labels, what they do with a taken name, how they come back (host endpoint notes 1, 6). */
  readonly manner: 'old' | 'new';
  /** Nodes that get no endpoint, as long as they are in here; seen at the node's next change only. */
  readonly never: Set<string>;
  /** Nodes that get theirs so many milliseconds after the process began to sync. */
  readonly late: ReadonlyMap<string, number>;
  /** DaemonSet of their namespace that those of the new manner wait for before they do anything (host endpoint notes 0.2). */
  readonly agents: string;
  /** Their variable, which beats the setting: `enabled`, `disabled`. */
  readonly environment?: string;
  /** How the kubelet starts those of the old manner again; its own pauses unless said. Those of the new one start inside their container. */
  readonly backOff?: { readonly firstMs: number; readonly mostMs: number };
}

/** A process that cannot go on: it ends with code 1 and is started again. */
export class Crash extends Error {}

/** Until a change is acted on: 10 ms seen of old ones, a second of new ones; the new ones look at everything every five minutes. */
const DELAY_MS = { old: 10, new: 1000 };
const SYNC_EVERY_MS = 300_000;
/** Old ones write so many at once, then two and a half a second. */
const BURST = 46;
const REFILL_MS = 400;
const WIDTH = 16;
const LONGEST_NAME = 253;

/**
 * One process of the controllers, once its caches are full: a sync of everything, then each node when it changes (host endpoint notes
 * 1.2, 1.4). An endpoint that changes is looked at by new ones only.
 */
export class EndpointSync {
  readonly #api: Api;
  readonly #manner: EndpointManner;
  readonly #on: boolean;
  readonly #base: string;
  readonly #nodes = new Map<string, ApiObject>();
  readonly #endpoints = new Map<string, ApiObject>();
  readonly #due = new Map<string, number>();
  readonly #since = Date.now();
  #tokens = BURST;
  #refilledAt = Date.now();
  #signal = new AbortController().signal;

  constructor(api: Api, manner: EndpointManner, on: boolean) {
    this.#api = api;
    this.#manner = manner;
    this.#on = on;
    this.#base = `/apis/crd.${manner.group}/v1/hostendpoints`;
  }

  /** Runs until the signal. Throws Crash where the real process ends by itself. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    await this.#fill();
    const looks = this.#manner.manner === 'new';
    const followed = Promise.all([
      this.#follow('/api/v1/nodes', this.#nodes, ({ metadata }) => metadata.name),
      this.#follow(this.#base, this.#endpoints, (one, isGone) => (looks && (!isGone || this.#isMine(one)) ? nodeOf(one) : undefined)),
    ]);
    await this.#syncAll();
    let syncedAt = Date.now();
    while (!signal.aborted) {
      if (this.#manner.manner === 'new' && Date.now() - syncedAt > SYNC_EVERY_MS) {
        await this.#syncAll();
        syncedAt = Date.now();
      }
      await this.#syncDue();
      await pause(5);
    }
    await followed;
  }

  async #fill(): Promise<void> {
    const [nodes, endpoints] = await Promise.all(['/api/v1/nodes', this.#base].map((path) => this.#api.get<ApiList>(path)));
    for (const node of nodes?.items ?? []) this.#nodes.set(node.metadata.name, node);
    for (const endpoint of endpoints?.items ?? []) this.#endpoints.set(endpoint.metadata.name, endpoint);
  }

  /** `lookAt`: the node that such a change is about; none where nobody looks. */
  #follow(path: string, kept: Map<string, ApiObject>, lookAt: (object: ApiObject, isGone: boolean) => string | undefined): Promise<void> {
    const changed = (object: ApiObject) => {
      const before = kept.get(object.metadata.name);
      kept.set(object.metadata.name, object);
      if (before?.metadata.resourceVersion !== object.metadata.resourceVersion) this.#later(lookAt(object, false));
    };
    const gone = (object: ApiObject) => {
      kept.delete(object.metadata.name);
      this.#later(lookAt(object, true));
    };
    return this.#api.follow(path, changed, this.#signal, gone);
  }

  #later(node: string | undefined, delay = DELAY_MS[this.#manner.manner]): void {
    if (node !== undefined) this.#due.set(node, Math.min(this.#due.get(node) ?? Number.POSITIVE_INFINITY, Date.now() + delay));
  }

  async #syncDue(): Promise<void> {
    const now = Date.now();
    const due = [...this.#due].filter(([, at]) => at <= now).map(([node]) => node);
    for (const node of due) this.#due.delete(node);
    await each(due, (node) => this.#syncNode(node));
  }

  async #syncAll(): Promise<void> {
    const mine = [...this.#endpoints.values()].filter((one) => this.#isMine(one));
    await each(
      mine.filter((one) => this.#isStray(one)),
      (one) => this.#remove(one),
    );
    await each([...this.#nodes.keys()], (node) => this.#syncNode(node));
  }

  /** They know theirs by the label alone; only new ones mind a name that they would not give. */
  #isStray(endpoint: ApiObject): boolean {
    const node = nodeOf(endpoint);
    if (!this.#on || !this.#nodes.has(node)) return true;
    return this.#manner.manner === 'new' && endpoint.metadata.name !== this.#nameOf(node);
  }

  async #syncNode(name: string): Promise<void> {
    for (const one of [...this.#endpoints.values()]) {
      if (nodeOf(one) === name && this.#isMine(one) && this.#isStray(one)) await this.#remove(one);
    }
    const node = this.#nodes.get(name);
    if (this.#signal.aborted || !this.#on || !node || this.#manner.never.has(name)) return;
    const early = this.#since + (this.#manner.late.get(name) ?? 0) - Date.now();
    if (early > 0) this.#later(name, early);
    else await this.#write(node);
  }

  async #write(node: ApiObject): Promise<void> {
    const name = this.#nameOf(node.metadata.name);
    const live = this.#endpoints.get(name);
    // New ones leave a name that is taken alone; old ones take the endpoint over, whatever it holds.
    if (live && !this.#isMine(live) && this.#manner.manner === 'new') return;
    const wanted = this.#wanted(node, name);
    if (live && isDeepStrictEqual(this.#seenLabels(live), this.#seenLabels(wanted)) && sameSpec(live, wanted)) return;
    await this.#token();
    if (!live) {
      if (!this.#signal.aborted) this.#endpoints.set(name, await this.#api.send('POST', this.#base, wanted));
      return;
    }
    const { uid, resourceVersion } = live.metadata;
    const body = { ...wanted, metadata: { ...wanted.metadata, uid, resourceVersion } };
    this.#endpoints.set(name, await this.#api.send('PUT', `${this.#base}/${name}`, body));
  }

  #wanted(node: ApiObject, name: string) {
    const { group, createdBy, allowAllProfile, manner } = this.#manner;
    const mark = Object.fromEntries([createdBy]);
    const labels = { ...serviceLabels(node, group), ...mark };
    const creationTimestamp = new Date().toISOString();
    const noted = manner === 'old' ? { uid: randomUUID(), creationTimestamp } : { creationTimestamp, labels };
    const addresses = (node.status as { readonly addresses?: readonly { readonly type: string; readonly address: string }[] }).addresses;
    return {
      apiVersion: `crd.${group}/v1`,
      kind: 'HostEndpoint',
      metadata: { name, labels: manner === 'old' ? labels : mark, annotations: { [`${group}/metadata`]: JSON.stringify(noted) } },
      spec: {
        node: node.metadata.name,
        interfaceName: '*',
        expectedIPs: (addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address),
        profiles: [allowAllProfile],
      },
    };
  }

  async #remove(endpoint: ApiObject): Promise<void> {
    this.#endpoints.delete(endpoint.metadata.name);
    await this.#api.send('DELETE', `${this.#base}/${endpoint.metadata.name}`);
  }

  #nameOf(node: string): string {
    const name = `${node}${SUFFIX}`;
    if (name.length <= LONGEST_NAME) return name;
    if (this.#manner.manner === 'old') throw new Crash(`name is too long by ${name.length - LONGEST_NAME} bytes`);
    return `${createHash('sha256').update(name).digest('base64url').replaceAll(/[-_.]/g, '').toLowerCase()}${SUFFIX}`;
  }

  #isMine(endpoint: Pick<ApiObject, 'metadata'>): boolean {
    const [key, value] = this.#manner.createdBy;
    return this.#seenLabels(endpoint)[key] === value;
  }

  /** Old ones read the object's labels alone; for new ones both places count, the annotation first. */
  #seenLabels(endpoint: { readonly metadata: ObjectMeta }): Readonly<Record<string, string>> {
    const { labels = {} } = endpoint.metadata;
    return this.#manner.manner === 'old' ? labels : { ...labels, ...storedOf(endpoint, this.#manner.group)?.labels };
  }

  /** As client-go's limiter: whoever finds none waits for the next that nobody has reserved. */
  async #token(): Promise<void> {
    if (this.#manner.manner === 'new') return;
    const now = Date.now();
    this.#tokens = Math.min(BURST, this.#tokens + (now - this.#refilledAt) / REFILL_MS) - 1;
    this.#refilledAt = now;
    if (this.#tokens < 0) await pause(-this.#tokens * REFILL_MS, undefined, { signal: this.#signal }).catch(() => undefined);
  }
}

const SUFFIX = '-auto-hep';

const nodeOf = ({ spec }: ApiObject): string => (spec as { readonly node?: string } | undefined)?.node ?? '';

/** Of the service's own node: those its CLI gave it, and over these the Kubernetes node's. */
function serviceLabels({ metadata }: ApiObject, group: string): Readonly<Record<string, string>> {
  const { labels, annotations } = metadata;
  return { ...(JSON.parse(annotations?.[`${group}/labels`] ?? '{}') as Readonly<Record<string, string>>), ...labels };
}

function sameSpec(one: Pick<ApiObject, string>, other: Pick<ApiObject, string>): boolean {
  const [a, b] = [one.spec, other.spec] as readonly Readonly<Record<string, unknown>>[];
  return ['node', 'interfaceName', 'expectedIPs', 'profiles'].every((field) => JSON.stringify(a?.[field]) === JSON.stringify(b?.[field]));
}

/** What somebody else changed or deleted meanwhile is looked at again at its next change. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of queue) await work(item).catch(unless(404, 409));
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}
