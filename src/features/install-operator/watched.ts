import type { Kind, KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type Clock, type ClusterReader, isPassing, type ListOptions } from '../../kernel/ports.ts';
import { FACTS } from '../../kube/pod-facts.ts';
import type { List } from './settled-facts.ts';

/** What one watch knows; `failure` until its first answer is there, or again while there is none. */
interface Feed {
  readonly objects: Map<string, KubeObject>;
  failure: ApiFailure | undefined;
}

/** The first answer of a watch is on its way. */
export class NotYet extends ApiFailure {
  constructor(plural: string) {
    super(0, 'NotYet', `the watch of ${plural} has not begun`);
  }
}

/** Between a watch that did not begin and the next try, in milliseconds. */
const AGAIN_MS = 2_000;
/** Nothing changed for this long: time itself may have done it. */
const TICK_MS = 1_000;
/** Changes come in bursts: they are evaluated together. */
const BURST_MS = 100;

/** Lists as watches keep them up to date; each watch begins with the first question for it, and ends with the signal. */
export class Watched {
  readonly #cluster: Pick<ClusterReader, 'watch'>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #feeds = new Map<string, Feed>();
  #broken: { readonly thrown: unknown } | undefined;
  #changed = false;
  #wake: () => void = () => undefined;

  constructor(cluster: Pick<ClusterReader, 'watch'>, clock: Clock, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Throws a passing ApiFailure before the first answer. */
  readonly list: List = async (kind, options = {}) => {
    const key = [kind.group, kind.plural, options.namespace, options.fieldSelector].join('|');
    const known = this.#feeds.get(key);
    const feed: Feed = known ?? { objects: new Map(), failure: new NotYet(kind.plural) };
    if (!known) {
      this.#feeds.set(key, feed);
      this.#follow(feed, kind, options).catch((thrown: unknown) => {
        this.#broken = { thrown };
        this.#touch();
      });
    }
    if (this.#broken) throw this.#broken.thrown;
    if (feed.failure) throw feed.failure;
    return [...feed.objects.values()];
  };

  /** Resolves once anything is known again, and now and then. */
  async change(): Promise<void> {
    const cut = new AbortController();
    const signal = AbortSignal.any([this.#signal, cut.signal]);
    if (!this.#changed) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([woken, this.#clock.sleep(TICK_MS, signal).catch(() => undefined)]);
      cut.abort();
    }
    if (this.#changed) await this.#clock.sleep(BURST_MS, this.#signal).catch(() => undefined);
    this.#changed = false;
  }

  async #follow(feed: Feed, kind: Kind, options: ListOptions): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        await this.#hear(feed, kind, options);
      } catch (thrown) {
        if (this.#signal.aborted) return;
        const isUnserved = thrown instanceof ApiFailure && thrown.status === 404;
        if (!isUnserved && !isPassing(thrown)) throw thrown;
        // A kind that is not served has no objects, until its definition is there.
        feed.objects.clear();
        if (isUnserved) this.#answered(feed);
        else feed.failure = thrown;
      }
      await this.#clock.sleep(AGAIN_MS, this.#signal).catch(() => undefined);
    }
  }

  async #hear(feed: Feed, kind: Kind, options: ListOptions): Promise<void> {
    for await (const update of this.#cluster.watch(kind, { ...options, signal: this.#signal })) {
      if (update.type === 'snapshot') replaceAll(feed, update.items);
      else if (update.type === 'deleted') feed.objects.delete(keyOf(update.object));
      else if (!put(feed, update.object)) continue;
      this.#answered(feed);
    }
  }

  #answered(feed: Feed): void {
    feed.failure = undefined;
    this.#touch();
  }

  #touch(): void {
    this.#changed = true;
    this.#wake();
  }
}

function replaceAll({ objects }: Feed, items: readonly KubeObject[]): void {
  objects.clear();
  for (const item of items) objects.set(keyOf(item), item);
}

/** Whether anything is known again: a heartbeat is not. */
function put({ objects }: Feed, object: KubeObject): boolean {
  const key = keyOf(object);
  const isNews = bodyOf(objects.get(key)) !== bodyOf(object);
  objects.set(key, object);
  return isNews;
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** With the facts of what was cut down as it was read. */
function bodyOf(object: (KubeObject & { readonly [FACTS]?: unknown }) | undefined): string {
  return JSON.stringify([object, object?.[FACTS]], (name, value: unknown) => (name === 'resourceVersion' ? undefined : value));
}
