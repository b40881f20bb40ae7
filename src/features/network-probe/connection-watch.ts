import type { Action } from '../../kernel/action.ts';
import { command } from '../../kernel/command.ts';
import type { ConnectionTrace, NetworkTrace, Watcher } from '../../kernel/connections.ts';
import { eachOf } from '../../kernel/each-of.ts';
import type { Around, EnginePorts } from '../../kernel/effect-type.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject, ObjectRef } from '../../kernel/object.ts';
import { seeNode } from '../../kernel/pod-look.ts';
import { impact, look, type Suggestion, text } from '../../kernel/step.ts';
import { leanNode } from '../../kube/lean-objects.ts';
import { nodeFacts } from '../../kube/pod-facts.ts';
import { FIX, HELD, heldIn, ofCanary } from '../rollout/index.ts';
import { doubledText, podsOf } from './bound-job.ts';
import { CONTAINER } from './jobs.ts';
import { KEPT_PROBES } from './kept-jobs.ts';
import { type LinkSaid, type LogSaid, readLog } from './kept-said.ts';
import { sweep } from './sweep.ts';
import { podSays } from './verdict.ts';

/** Between two looks at the logs. */
const EVERY_MS = 5_000;
/** A pod reports every five seconds, and at once when a connection ends. */
const REPORTS_MS = 15_000;
/** Answers come several times a second: a connection without one for so long may be about to break. */
const QUIET_MS = 2_000;
/** Where no log could be read for so long at the beginning, none will be. */
const UNREAD_MS = 10_000;
/** A pod that has ended is known a moment after its connections have: a break counts once both pods have outlived it by this. */
const OUTLIVED_MS = 4_000;
/** A node that is gone is known to the cluster by then: a connection that stays away is told with it. */
const NODE_KNOWN_MS = 60_000;
const TIMES_TOLD = 20;
/** Of a log: its last lines, and never more bytes. */
const LOG = 'tailLines=60&limitBytes=16384';
const WIDTH = 4;

/** Which watcher this is. */
export const CONNECTIONS = 'connections';

/** One connection, and the Jobs of its two pods. */
export interface Kept {
  readonly from: string;
  readonly to: string;
  readonly outside: boolean;
  /** Number by which the pod that keeps it reports. */
  readonly link: number;
  readonly keeps: string;
  readonly answers: string;
}

interface Watched {
  readonly kept: Kept;
  said?: LinkSaid;
  /** Our clock minus that of the pod: the smallest difference seen, for a report only comes late. */
  zero: number;
  /** Breaks that were not its pods' own end. */
  broken: number;
  /** Of them, those where a node was not ready. */
  ofNodes: number;
  /** Of `said.broken`, those that were looked into. */
  known: number;
  /** When one was seen of which it is open whether a pod had ended. */
  suspected?: number;
  /** When that one happened, by what its pod reports: silence is only seen after a while. */
  fell?: number;
  readonly breaks: string[];
  ended?: string;
}

/** What one look at all of them has seen. */
interface Look {
  readonly logs: ReadonlyMap<string, LogSaid>;
  /** Pods that run, by the UID of their Job. */
  readonly alive: ReadonlyMap<string, KubeObject>;
  /** Nodes that are not ready. */
  readonly away: ReadonlySet<string>;
  readonly now: number;
}

type Ports = Pick<EnginePorts, 'cluster' | 'clock'>;
type Told = Pick<Around, 'onNetwork' | 'warn'>;

export interface KeptPlace {
  readonly namespace: string;
  /** The first broken connection stops the run. */
  readonly isStrict: boolean;
  /** When the cluster ends the pods by itself, in milliseconds of our clock. */
  readonly until: number;
  /** Whether agents are left that the run has not replaced yet. */
  isRolling(): Promise<boolean>;
}

/** Follows connections by what their pods report, until the chain ends. Stops it at a broken one where that was asked for, or while the verdict on a canary is open. */
export class ConnectionWatch implements Watcher {
  readonly name = CONNECTIONS;
  readonly #ports: Ports;
  readonly #told: Told;
  readonly #place: KeptPlace;
  readonly #jobs: readonly ObjectRef[];
  readonly #links: readonly Watched[];
  readonly #untried: string[] = [];
  /** What was said of a connection that is not there. */
  readonly #says = new Map<number, string>();
  readonly #over = new AbortController();
  readonly #failed = new AbortController();
  readonly #since: Date;
  #pods = new Map<string, KubeObject>();
  /** Jobs of which several pods say that they are theirs, by UID. */
  readonly #doubled = new Map<string, string>();
  #beatMs = 200;
  #because = '';
  #hasRead = false;
  /** Why the last look saw no pods. */
  #blind: string | undefined;
  #isOver = false;
  #isOfCanary = false;
  #looking: Promise<unknown> = Promise.resolve();
  #loop: Promise<void> = Promise.resolve();

  constructor(ports: Ports, told: Told, place: KeptPlace, jobs: readonly ObjectRef[], kept: readonly Kept[]) {
    this.#ports = ports;
    this.#told = told;
    this.#place = place;
    this.#jobs = jobs;
    this.#links = kept.map((one) => ({ kept: one, zero: Number.POSITIVE_INFINITY, broken: 0, ofNodes: 0, known: 0, breaks: [] }));
    this.#since = ports.clock.now();
  }

  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  get trace(): NetworkTrace {
    const made = this.#links.filter(isMade);
    return {
      since: this.#since.toISOString(),
      until: this.#ports.clock.now().toISOString(),
      beatMs: this.#beatMs,
      connections: made.map((one) => traceOf(one)),
      untried: [...this.#untried],
    };
  }

  /** Until each connection was made, or the time is up: what was never made is named, and not watched. */
  async opened(limitMs: number, stop: AbortSignal): Promise<void> {
    const begun = this.#ports.clock.now().getTime();
    const waited = () => this.#ports.clock.now().getTime() - begun;
    while (waited() < (this.#hasRead ? limitMs : UNREAD_MS) && !stop.aborted) {
      await this.#look();
      if (this.#links.every((one) => isMade(one) || one.ended !== undefined)) break;
      await this.#ports.clock.sleep(1_000, stop).catch(() => undefined);
    }
    for (const one of this.#links.filter((link) => !isMade(link))) {
      one.ended ??= this.#says.get(one.kept.link) ?? 'it was not answered';
      this.#untried.push(`${wayText(one.kept)}: ${one.ended}`);
    }
  }

  /** Why there is none. */
  get lacks(): string {
    return whyEnded(this.#links);
  }

  skipped(what: string): void {
    this.#untried.push(what);
  }

  /** Follows them until `end`. With a canary any broken one stops the run, until `passed`. */
  watch(isOfCanary: boolean): void {
    this.#isOfCanary = isOfCanary;
    this.#told.onNetwork(this.trace);
    this.#loop = this.#follow().catch(() => undefined);
  }

  /** The verdict on a canary. Throws Fault('stopped'). */
  async passed(stop: AbortSignal): Promise<void> {
    await this.settled(stop);
    this.#isOfCanary = false;
  }

  /**
   * The verdict on what was done so far, while other agents are held. Waits for a report of each pod from now on, and for what is quiet or
   * broken now. Throws Fault('stopped').
   */
  async settled(stop: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const asked = clock.now().getTime();
    const isOpen = (one: Watched) => one.ended === undefined && (one.suspected !== undefined || !isSettled(one, asked));
    let open: readonly Watched[];
    for (;;) {
      await this.#look();
      if (this.failed.aborted) throw this.#fault(true);
      const waited = clock.now().getTime() - asked;
      open = this.#links.filter(isOpen);
      const isQuiet = open.some(({ suspected, said }) => suspected !== undefined || (said?.joined && said.now - said.last >= QUIET_MS));
      if (open.length === 0 || stop.aborted || waited >= (isQuiet ? NODE_KNOWN_MS : 0) + REPORTS_MS) break;
      await clock.sleep(1_000, stop).catch(() => undefined);
    }
    if (!stop.aborted) this.#assertTold(open, asked);
  }

  /** What says nothing has not lasted: without a report there is no verdict. */
  #assertTold(open: readonly Watched[], asked: number): void {
    const silent = open.find(({ zero, said }) => said === undefined || zero + said.now < asked);
    if (silent === undefined) return;
    const says = this.#says.get(silent.kept.link) ?? this.#blind ?? 'its pod reports nothing';
    throw new Fault('stopped', `no verdict on the connection ${wayText(silent.kept)}: ${says}`, [
      look(text`${command`kubectl -n ${this.#place.namespace} get pods -o wide -l ${KEPT_PROBES}`}`),
      ...HELD,
    ]);
  }

  async end(): Promise<void> {
    this.#over.abort();
    await this.#loop;
    await this.#look().catch(() => undefined);
    if (this.#links.some(({ suspected }) => suspected !== undefined)) {
      await this.#ports.clock.sleep(OUTLIVED_MS, new AbortController().signal);
      await this.#look().catch(() => undefined);
    }
    await sweep(this.#ports, this.#jobs, this.#told).catch(() => undefined);
    this.#told.onNetwork(this.trace);
  }

  fault(last: Action | undefined): Fault {
    return this.#fault(this.#isOfCanary || heldIn(last) !== undefined);
  }

  #fault(isHeld: boolean): Fault {
    const broken = this.#links.find((one) => one.broken > 0)?.kept;
    const where = broken ? [...new Set([broken.to, broken.from])].join(' and ') : '';
    const lost = impact(`running pods on ${where} may have lost connections as well: test an application there now`);
    return new Fault('stopped', ofCanary(this.#because, this.#isOfCanary ? 'canary' : undefined), [
      ...(broken ? [seeNode(broken.to), lost] : []),
      ...(isHeld ? HELD : ROLLING),
    ]);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await this.#ports.clock.sleep(EVERY_MS, signal);
      await this.#look();
    }
  }

  /** One at a time. What gives no answer now is asked again. */
  #look(): Promise<void> {
    const next = this.#looking.then(() => this.#lookOnce());
    this.#looking = next.catch(() => undefined);
    return next;
  }

  async #lookOnce(): Promise<void> {
    if (this.#pods.size === 0) this.#pods = (await this.#aliveNow()) ?? this.#pods;
    const logs = await this.#logs();
    const now = this.#ports.clock.now().getTime();
    // Read after the logs: where a pod has ended, so has its connection.
    const alive = await this.#aliveNow();
    if (alive === undefined) return;
    const away = this.#links.some(({ suspected }) => suspected !== undefined) ? await this.#awayNodes() : new Set<string>();
    const before = this.#figures;
    const because = this.#links.flatMap((one) => this.#learn(one, { logs, alive, away, now }));
    this.#pods = alive;
    await this.#tellOver(now);
    if (because.length > 0) {
      this.#because = because[0] ?? '';
      for (const one of because) this.#told.onNetwork(this.trace, one);
      if (this.#place.isStrict || this.#isOfCanary) this.#failed.abort();
    } else if (before !== this.#figures) this.#told.onNetwork(this.trace);
  }

  /** What is told again when it changes. */
  get #figures(): string {
    return JSON.stringify(this.#links.map((one) => [one.broken, one.ended, one.said && longestOf(one.said)]));
  }

  /** What one connection has been through since the last look; a text for each break. */
  #learn(one: Watched, look: Look): readonly string[] {
    const { logs, alive, now } = look;
    const { kept } = one;
    const log = logs.get(kept.keeps);
    const said = log?.links.get(kept.link);
    const words = log?.says.get(kept.link);
    if (words !== undefined) this.#says.set(kept.link, words);
    this.#beatMs = log?.beatMs ?? this.#beatMs;
    if (one.ended !== undefined) return [];
    const isAlive = alive.has(kept.keeps) && alive.has(kept.answers);
    if (!isAlive) {
      const doubled = this.#doubled.get(kept.keeps) ?? this.#doubled.get(kept.answers);
      one.ended = doubled ?? (now >= this.#place.until ? JOBS_OVER : 'one of its pods was removed, or has ended');
      // Nobody answers any more: that is no gap.
      const last = said ?? one.said;
      if (last) one.said = { ...last, now: last.last };
      return doubled === undefined ? [] : [`no verdict on the connection ${wayText(kept)}: ${doubled}`];
    }
    if (said && (one.said === undefined || said.now >= one.said.now)) {
      one.said = said;
      one.zero = Math.min(one.zero, now - said.now);
    }
    return this.#breaksOf(one, look);
  }

  /** Those that were not known yet, once it is known whether a pod or a node has ended. */
  #breaksOf(one: Watched, { away, now }: Look): readonly string[] {
    const { kept } = one;
    const fresh = (one.said?.broken ?? 0) - one.known;
    if (fresh <= 0 || !one.said) return [];
    one.suspected ??= now;
    one.fell ??= Math.min(now, one.said.fell === undefined ? now : one.zero + one.said.fell);
    const lost = [...new Set([kept.from, kept.to])].filter((node) => away.has(node));
    const isDecided = one.said.joined || lost.length > 0 || now - one.fell >= NODE_KNOWN_MS || this.#over.signal.aborted;
    if (now - one.suspected < OUTLIVED_MS || !isDecided) return [];
    const at = new Date(one.fell).toISOString();
    delete one.suspected;
    delete one.fell;
    one.known = one.said.broken;
    one.broken += fresh;
    if (lost.length > 0) one.ofNodes += fresh;
    if (one.breaks.length < TIMES_TOLD) one.breaks.push(at);
    const nodes = lost.length === 0 ? '' : `; ${lost.join(' and ')} is not ready: what ended there is the node, not only its agent`;
    return [`a connection ${wayText(kept)} broke at ${at.slice(11, 19)}Z${nodes}`];
  }

  /** Undefined where the server gives no answer now: the next look asks again. */
  async #aliveNow(): Promise<Map<string, KubeObject> | undefined> {
    try {
      const alive = await this.#alive();
      this.#blind = undefined;
      return alive;
    } catch (thrown) {
      if (this.#blind === undefined)
        this.#told.onNetwork(this.trace, `connections cannot be looked at now: ${messageOf(thrown)}; they are looked at again`);
      this.#blind = messageOf(thrown);
      return undefined;
    }
  }

  async #awayNodes(): Promise<ReadonlySet<string>> {
    const nodes = await this.#ports.cluster.list(K.Node, { keep: leanNode }).catch(() => []);
    return new Set(nodes.map(nodeFacts).flatMap(({ name, ready }) => (ready ? [] : [name])));
  }

  /** With `--probe-strict`, or on a canary, no agent may be replaced that nobody watches. */
  async #tellOver(now: number): Promise<void> {
    const made = this.#links.filter(isMade);
    // While none has been made yet, none has ended either.
    const isEnded = made.length > 0 && made.every(({ ended }) => ended !== undefined);
    const why = now >= this.#place.until ? `${JOBS_OVER}; a longer --timeout makes it longer` : isEnded ? whyEnded(made) : undefined;
    if (this.#isOver || why === undefined) return;
    this.#isOver = true;
    this.#because = `connections are not watched any more: ${why}`;
    this.#told.onNetwork(this.trace, this.#because);
    const isRolling = this.#place.isStrict && (await this.#place.isRolling().catch(() => true));
    if (isRolling || this.#isOfCanary) this.#failed.abort();
  }

  /** The pods that run, by the UID of their Job. */
  async #alive(): Promise<Map<string, KubeObject>> {
    const { namespace } = this.#place;
    const pods = await this.#ports.cluster.list(K.Pod, { namespace, labelSelector: KEPT_PROBES });
    const alive = new Map<string, KubeObject>();
    for (const job of new Set(this.#links.flatMap(({ kept }) => [kept.keeps, kept.answers]))) {
      const [pod, ...more] = podsOf(pods, job);
      if (more.length > 0) this.#doubled.set(job, doubledText(more.length + 1, this.#jobs.find(({ uid }) => uid === job)?.name ?? job));
      else if (pod && podSays(pod).state === 'runs') alive.set(job, pod);
    }
    return alive;
  }

  async #logs(): Promise<ReadonlyMap<string, LogSaid>> {
    const keepers = [...new Set(this.#links.filter(({ ended }) => ended === undefined).map(({ kept }) => kept.keeps))];
    const { namespace } = this.#place;
    const read = await eachOf(keepers, WIDTH, async (uid) => {
      const pod = this.#pods.get(uid)?.metadata.name;
      if (pod === undefined) return [];
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log?container=${CONTAINER}&${LOG}`;
      const log = await this.#ports.cluster.raw(path).catch((thrown: unknown) => {
        for (const { kept } of this.#links)
          if (kept.keeps === uid) this.#says.set(kept.link, `its log cannot be read: ${messageOf(thrown)}`);
        return undefined;
      });
      this.#hasRead ||= log !== undefined;
      return log === undefined ? [] : [[uid, readLog(log)] as const];
    });
    return new Map(read.flat());
  }
}

const JOBS_OVER = 'the time limit of their Jobs is over';

const ROLLING: readonly Suggestion[] = [
  'this run writes nothing more; agents that the cluster replaces by itself are replaced further',
  FIX,
];

const whyEnded = (links: readonly Watched[]): string => [...new Set(links.flatMap(({ ended }) => ended ?? []))].join('; ');

const isMade = ({ said }: Watched): boolean => said !== undefined && said.last > 0;

/** Reported after that moment, and not quiet. */
const isSettled = ({ zero, said }: Watched, since: number): boolean =>
  said === undefined || (zero + said.now >= since && (!said.joined || said.now - said.last < QUIET_MS));

/** With the gap that is not over yet. */
const longestOf = ({ longestMs, now, last }: LinkSaid): number => (last === 0 ? 0 : Math.max(longestMs, now - last));

function traceOf({ kept, said, zero, broken, ofNodes, breaks, ended }: Watched): ConnectionTrace {
  const { from, to, outside } = kept;
  const isOpenGap = said !== undefined && said.now - said.last > said.longestMs;
  const at = said && said.when + said.last > 0 ? new Date(zero + (isOpenGap ? said.now : said.when)).toISOString() : undefined;
  return {
    ...{ from, to, broken, breaks: [...breaks], beats: said?.beats ?? 0, longestMs: said ? longestOf(said) : 0 },
    ...(ofNodes > 0 ? { ofNodes } : {}),
    ...(outside ? { outside } : {}),
    ...(at === undefined ? {} : { at }),
    ...(ended === undefined ? {} : { ended }),
  };
}

/** `from a pod on node-01 to one on node-03`. */
export function wayText({ from, to, outside }: Pick<Kept, 'from' | 'to' | 'outside'>): string {
  return outside ? `from the network of node ${from} to a pod on ${to}` : `from a pod on ${from} to one on ${to}`;
}
