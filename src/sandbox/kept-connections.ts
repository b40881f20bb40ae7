import { jsonAt, textAt } from '../kernel/json.ts';
import { K } from '../kernel/kinds.ts';
import type { KubeObject } from '../kernel/object.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { podShape } from '../kube/pod-facts.ts';
import type { VirtualClock } from './clock.ts';
import type { Nodes } from './nodes.ts';
import { crashLog, isStopping, nodeOf } from './pods-of.ts';
import type { Store } from './store.ts';

interface Link {
  joined: boolean;
  broken: number;
  beats: number;
  longest: number;
  when: number;
  last: number;
  /** As its program reported it, right when it broke. */
  readonly breaks: string[];
}

/** An answer comes as often, in hundredths of a second. */
const BEAT = 20;
/** Without one for so long it is broken. */
const SILENT = 3_000;

/** The logs of pods that keep connections: as their program reports, by what is wrong with the nodes at both ends. */
export class KeptConnections {
  readonly #links = new Map<string, Link>();
  readonly #store: Store;
  readonly #clock: VirtualClock;
  readonly #nodes: Nodes;

  constructor(store: Store, clock: VirtualClock, nodes: Nodes) {
    [this.#store, this.#clock, this.#nodes] = [store, clock, nodes];
    nodes.onFault(() => this.#seeAll());
  }

  /** Throws ApiFailure where there is no such pod. */
  logOf(namespace: string, name: string): string {
    const pod = this.#store.get(K.Pod, name, namespace);
    if (!pod) throw new ApiFailure(404, 'NotFound', `pods "${name}" not found`);
    if (scriptOf(pod) !== 'keeps') return crashLog(pod);
    const lines = linksOf(pod).flatMap(({ link, address }) => {
      const seen = this.#see(pod, link, address);
      return [...seen.breaks, this.#report(link, seen)];
    });
    return ['beat 0.2', ...lines].join('\n');
  }

  #seeAll(): void {
    for (const pod of this.#store.list(K.Pod)) {
      if (scriptOf(pod) === 'keeps') for (const { link, address } of linksOf(pod)) this.#see(pod, link, address);
    }
  }

  #see(pod: KubeObject, number: string, address: string): Link {
    const key = `${pod.metadata.uid} ${number}`;
    const link = this.#links.get(key) ?? { joined: false, broken: 0, beats: 0, longest: 0, when: 0, last: 0, breaks: [] };
    this.#links.set(key, link);
    const peer = this.#store.list(K.Pod).find((one) => textAt(one, 'status', 'podIP') === address && !isStopping(one));
    const faults = [pod, peer].map((one) => (one ? this.#nodes.faultOf(nodeOf(one)) : 'cut'));
    const now = this.#now();
    const isThere = faults.every((fault) => !['cut', 'down', 'silent'].includes(fault));
    const isSilent = faults.includes('silent') && !faults.includes('cut') && now - link.last < SILENT;
    const gap = link.last === 0 ? 0 : isThere && link.joined ? BEAT : now - link.last;
    if (isThere) {
      if (gap > link.longest) Object.assign(link, { longest: gap, when: now });
      link.beats += link.last === 0 || !link.joined ? 1 : Math.floor((now - link.last) / BEAT);
      Object.assign(link, { joined: true, last: now });
    } else if (link.joined && !isSilent) {
      Object.assign(link, { joined: false, broken: link.broken + 1, ...(faults.includes('silent') ? {} : { last: now }) });
      link.breaks.push(this.#report(number, link));
    }
    return link;
  }

  #report(number: string, { joined, broken, beats, longest, when, last }: Link): string {
    return `link ${number} ${this.#now()} ${joined ? 'yes' : 'no'} ${broken} ${beats} ${longest} ${when} ${last}`;
  }

  #now(): number {
    return Math.floor((this.#clock.now().getTime() - Date.UTC(2025, 0, 1)) / 10);
  }
}

function commandOf(pod: KubeObject): readonly string[] {
  const command = jsonAt(podShape(pod).spec?.containers?.[0], 'command');
  return Array.isArray(command) ? command.map(String) : [];
}

const scriptOf = (pod: KubeObject): string | undefined => commandOf(pod)[3];

/** Behind the word and the limit: number, address and port of each. */
function linksOf(pod: KubeObject): readonly { readonly link: string; readonly address: string }[] {
  const words = commandOf(pod).slice(6);
  return words.flatMap((link, index) => (index % 3 === 0 ? [{ link, address: words[index + 1] ?? '' }] : []));
}
