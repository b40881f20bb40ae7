import { command } from '../../kernel/command.ts';
import { firstOf } from '../../kernel/counted.ts';
import type { Around, EnginePorts } from '../../kernel/effect-type.ts';
import { Fault, MovedOn } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject, ObjectRef } from '../../kernel/object.ts';
import { persisting } from '../../kernel/persisting.ts';
import { seeNode } from '../../kernel/pod-look.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { Again, againAs, means, or, seeWhy, text } from '../../kernel/step.ts';
import type { HookName } from '../../kernel/user-command.ts';
import { CONNECTIONS, ConnectionWatch } from '../network-probe/index.ts';
import { type DriverView, HELD_ON, type HeldFor, type OldPod, type PodDriver } from '../rollout/index.ts';
import { nodesText } from './choice.ts';
import { isHeld } from './own-strategy.ts';

type Ports = Pick<EnginePorts, 'cluster' | 'commands' | 'clock'>;
type AroundDriver = Pick<Around, 'mustHold' | 'stop' | 'cut' | 'report' | 'onLine' | 'watcher'>;

/** What is replaced, and how. */
export interface Driven {
  readonly agents: ObjectRef;
  /** The only nodes whose agents are replaced; all of them where it is absent. */
  readonly nodes?: readonly string[];
  /** Of `nodes`, those whose agent is new already. */
  readonly done?: readonly string[];
  /** Agents that may be away at a time. */
  readonly atOnce: number;
  /** Commands of the user that are run around each node. */
  readonly hooks: readonly HookName[];
  /** Milliseconds for each of them. */
  readonly hookMs: number;
  readonly heldFor: HeldFor;
  /** No group is begun, and none is the last, before the connections have lasted through the one before. */
  readonly isStrict: boolean;
}

/** The DaemonSet, held by this program. Throws MovedOn where somebody gave it another strategy meanwhile. */
export async function heldAgents({ cluster }: Pick<Ports, 'cluster'>, { name, namespace = '' }: ObjectRef): Promise<KubeObject> {
  const live = await cluster.get(K.DaemonSet, name, namespace);
  if (live && isHeld(live)) return live;
  throw new MovedOn(`DaemonSet ${namespace}/${name} has another update strategy by now`);
}

/** More of them are only in the user's own log. */
const NAMED = 20;

const withFlag = (name: string, value: string) =>
  text`${new Again(`run the same command again with --${name}=${value}`, '', [name, value])}`;

/** Old agents that nobody chose are given this long to be ready again: a node restarts in less. Milliseconds. */
const AWAY_MS = 180_000;

/** Deletes agents of a held DaemonSet, a few at a time: the next ones once those before are ready. */
export class AgentDriver implements PodDriver {
  readonly #ports: Ports;
  readonly #driven: Driven;
  readonly #around: AroundDriver;
  readonly #nodes: string[];
  /** Nodes that a command was run before, or whose agent was deleted, and that none was run after. */
  #open: string[] = [];
  #stopped: Fault | undefined;
  /** Of commands that failed. */
  readonly #failed: Record<HookName, string[]> = { 'before-node': [], 'after-node': [] };
  replaced = 0;
  stoppedIn: string | undefined;
  /** Of those, after how many the connections were seen to last. */
  #seen = 0;
  /** Of what was waited, by node and time. */
  #readySince: ReadonlyMap<string, number> | undefined;
  /** Since when the same agents have been away, as many as may be, without one of the wanted. */
  #full: { readonly of: string; readonly since: number } | undefined;

  constructor(ports: Ports, driven: Driven, around: AroundDriver) {
    this.#ports = ports;
    this.#driven = driven;
    this.#around = around;
    this.#nodes = [...(driven.done ?? [])];
  }

  get nodes(): readonly string[] {
    return this.#nodes;
  }

  get chosen(): readonly string[] | undefined {
    const { heldFor, done = [], nodes = [] } = this.#driven;
    return heldFor === 'canary' ? [...done, ...nodes] : undefined;
  }

  async next(look: () => DriverView, waited: number): Promise<boolean | 'later'> {
    await this.#after(look);
    if (this.#stopped) throw this.#stopped;
    const view = look();
    const { old, ready, hasFailed } = view;
    // What failed while a command was at work is evaluated first, and has the time limit of the others.
    if (hasFailed) return 'later';
    const wanted = this.#wantedOf(view);
    // Without any of its nodes nothing is proved: they may come back, or the wait says so.
    if (wanted.length === 0 && this.chosen?.every((node) => !ready.has(node))) return 'later';
    const group = this.#groupOf(wanted, old, waited);
    if (group.length > 0 && !this.#haveLasted(look(), waited)) return 'later';
    if ((group.length > 0 || wanted.length === 0) && !(await this.#hasSeen())) return true;
    await this.#replaceAll(group, look);
    // The rest of its group comes to its end first.
    if (this.#stopped && this.#open.length === 0) throw this.#stopped;
    return wanted.length > 0;
  }

  /** As the controller of a DaemonSet waits between its pods. What was ready at the first look may have been for long. */
  #haveLasted({ ready, minReadyMs }: DriverView, waited: number): boolean {
    if (minReadyMs === 0) return true;
    const now = this.#ports.clock.now().getTime();
    const before = this.#readySince;
    this.#readySince = new Map(
      [...ready].map(([node, at]) => {
        const key = `${node} ${at}`;
        return [key, before ? (before.get(key) ?? waited) : waited - Math.max(0, now - at)];
      }),
    );
    return [...this.#readySince.values()].every((since) => waited - since >= minReadyMs);
  }

  #wantedOf({ old }: DriverView): readonly OldPod[] {
    return old.filter(({ node }) => this.#driven.nodes?.includes(node) ?? true);
  }

  get #hasHooks(): boolean {
    return this.#driven.hooks.length > 0;
  }

  /** Commands take their time: of a group, another agent may have failed meanwhile, or be away. */
  #mayReplace({ uid, is }: OldPod, look: () => DriverView): boolean {
    if (!this.#hasHooks) return true;
    const { old, ready, nodes, hasFailed } = look();
    const away = old.filter((one) => one.is === 'away' && one.uid !== uid && !this.#nodes.includes(one.node));
    const begun = this.#nodes.filter((node) => nodes.has(node) && !ready.has(node));
    return !hasFailed && (is !== 'ready' || away.length + begun.length < this.#driven.atOnce);
  }

  /** Silence is seen only after a while, in which agents may have turned not ready: false asks to look at them again. */
  async #hasSeen(): Promise<boolean> {
    const watch = this.#driven.isStrict && this.replaced > this.#seen ? this.#around.watcher(CONNECTIONS) : undefined;
    if (!(watch instanceof ConnectionWatch)) return true;
    await watch.settled(this.#around.stop);
    this.#seen = this.replaced;
    return false;
  }

  /** Agents that are away already count, and cost nothing: they are the first. Those of lost nodes are the last, as they may never go. */
  #groupOf(wanted: readonly OldPod[], old: readonly OldPod[], waited: number): readonly OldPod[] {
    const { atOnce } = this.#driven;
    const [ready = [], away = [], lost = []] = (['ready', 'away', 'lost'] as const).map((state) => wanted.filter(({ is }) => is === state));
    const allAway = old.filter(({ is }) => is === 'away');
    const room = Math.max(0, atOnce - allAway.length);
    const group = [...away, ...ready.slice(0, room), ...(ready.length === 0 ? lost : [])].slice(0, atOnce);
    if (group.length > 0 || wanted.length === 0) this.#full = undefined;
    else this.#refuseFull(allAway, waited);
    return group;
  }

  #refuseFull(away: readonly OldPod[], waited: number): void {
    const of = away.map(({ uid }) => uid).join();
    if (this.#full?.of !== of) this.#full = { of, since: waited };
    if (waited - this.#full.since < AWAY_MS) return;
    const { agents, atOnce, heldFor } = this.#driven;
    const more = String(away.length + 1);
    const [nodes, one] = [nodesText(away.map(({ node }) => node)), away.length === 1];
    const looks = away.slice(0, 3).map(({ name }) => seeWhy(command`kubectl -n ${agents.namespace ?? ''} describe pod ${name}`));
    throw new Fault(
      'stopped',
      `the ${one ? 'agent' : 'agents'} of ${nodes} ${one ? 'is' : 'are'} not ready, and at most ${atOnce} may be away at a time`,
      [
        ...looks,
        HELD_ON,
        text`repair what is not ready, then ${againAs('it resumes')}`,
        ...(heldFor === 'canary' ? [or(withFlag('canary', away.map(({ node }) => node).join(',')))] : []),
        or(withFlag('max-unavailable', more)),
      ],
    );
  }

  /** What of the user's commands is not done, where the work ends early: a resumed run begins with these nodes again. */
  get left(): readonly string[] {
    const nodes = this.#open.filter((node) => !this.#nodes.includes(node));
    if (nodes.length === 0) return this.#failed['before-node'];
    const more = `--before-node was run for ${firstOf(nodes, NAMED)}, whose agent this run did not replace: undo there what it did`;
    return [...this.#failed['before-node'], more];
  }

  /** The same of nodes whose agent is new: no resumed run comes to them. */
  get owed(): readonly string[] {
    const nodes = this.#open.filter((node) => this.#nodes.includes(node));
    if (nodes.length === 0 || !this.#driven.hooks.includes('after-node')) return this.#failed['after-node'];
    const more = `--after-node was not run for ${firstOf(nodes, NAMED)}: do there yourself what it does, once the agent is ready`;
    return [...this.#failed['after-node'], more];
  }

  async #replaceAll(group: readonly OldPod[], look: () => DriverView): Promise<void> {
    for (const pod of group) {
      if (this.#hasHooks) await this.#after(look);
      // A probe may have failed meanwhile, or the user asked to stop: no further node is begun.
      if (this.#stopped || this.#around.stop.aborted) return;
      // Its node was removed meanwhile, or somebody deleted it: then its successor is new.
      if (!look().old.some(({ uid }) => uid === pod.uid)) continue;
      if (!this.#mayReplace(pod, look)) return;
      await this.#replace(pod, look);
    }
  }

  async #replace(pod: OldPod, look: () => DriverView): Promise<void> {
    const { node, name, uid } = pod;
    const { agents, hooks } = this.#driven;
    await heldAgents(this.#ports, agents);
    // One that was prepared, and had to wait then, is so still.
    if (hooks.includes('before-node') && !this.#open.includes(node)) {
      this.#open.push(node);
      if (!(await this.#run('before-node', node, look))) {
        this.#open = this.#open.filter((one) => one !== node);
        return;
      }
      // It may have taken its time, and the user have asked to stop meanwhile.
      await heldAgents(this.#ports, agents);
      if (this.#around.stop.aborted || !this.#mayReplace(pod, look)) return;
    }
    const ref = { apiVersion: 'v1', kind: 'Pod', namespace: agents.namespace ?? '', name, uid };
    const send = async (): Promise<void> => {
      this.#around.mustHold();
      await this.#ports.cluster.remove(K.Pod, ref);
    };
    // Whoever deleted it meanwhile gave the node a new one; so has a request whose answer was lost.
    await persisting(this.#ports.clock, send).catch((thrown: unknown) => {
      if (!(thrown instanceof ApiFailure && [404, 409].includes(thrown.status))) throw thrown;
    });
    this.replaced += 1;
    this.#nodes.push(node);
    if (!this.#open.includes(node)) this.#open.push(node);
  }

  /** For nodes whose agent is new and ready. One that was removed meanwhile needs nothing any more. */
  async #after(look: () => DriverView): Promise<void> {
    const { nodes, ready } = look();
    this.#open = this.#open.filter((node) => nodes.has(node));
    for (const node of this.#open.filter((one) => ready.has(one))) {
      if (this.#driven.hooks.includes('after-node')) await this.#run('after-node', node, look);
      this.#open = this.#open.filter((one) => one !== node);
    }
  }

  /** False if it failed: then nothing further is replaced. A drain of a node that was removed meanwhile may fail. */
  async #run(name: HookName, node: string, look: () => DriverView): Promise<boolean> {
    const { stop, cut: signal, report, onLine } = this.#around;
    const hook = `--${name} of ${node}`;
    onLine(`runs ${hook}`, 'stdout');
    report(this.replaced, this.replaced + this.#wantedOf(look()).length, hook);
    const onStop = () => {
      this.stoppedIn = hook;
      onLine(`stops once ${hook} has ended`, 'stdout');
    };
    stop.addEventListener('abort', onStop);
    const { because } = await this.#ports.commands
      .run(name, { node, limitMs: this.#driven.hookMs, signal })
      .finally(() => stop.removeEventListener('abort', onStop));
    if (because === undefined || !look().nodes.has(node)) return true;
    this.#failed[name].push(
      name === 'before-node'
        ? `the agent of ${node} was not replaced: undo there what --before-node did (a number in --canary takes no node that is cordoned)`
        : `do on ${node} yourself what --after-node does: a resumed run does not run it there again`,
    );
    this.#stopped ??= new Fault('stopped', `--${name} failed for ${node}: ${because}`, [
      seeNode(node),
      ...(name === 'before-node' ? [] : [`the agent of ${node} was replaced and is ready`]),
      HELD_ON,
      means(`rollback runs --${name} for each of its nodes, too. To go back without it, give --${name}=true`),
      text`fix the cause, then ${againAs('it resumes; what was replaced stays so')}`,
    ]);
    return false;
  }
}
