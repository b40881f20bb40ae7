import { gapsOf, networkText, type Watcher } from '../../kernel/connections.ts';
import { counted, timeText } from '../../kernel/counted.ts';
import { type Around, announced, type EffectTypes, type EnginePorts, type Performed, whole } from '../../kernel/effect-type.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, type ObjectRef, refOf } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { AGAIN } from '../../kernel/step.ts';
import { slimNode } from '../../kube/lean-objects.ts';
import { type AgentOnNode, type AgentsOf, readAgents } from './agents.ts';
import { deniedText, SEE_RIGHTS } from './bound-job.ts';
import { CONNECTIONS, ConnectionWatch, type Kept } from './connection-watch.ts';
import { answeringJob, type Dialled, KEPT_PROBES, keepingJob } from './kept-jobs.ts';
import { chooseKept } from './kept-nodes.ts';
import { type Awaiting, firstStuck, LISTENS_MS, type Posted, type Settled, settled } from './probe.ts';
import { sweep } from './sweep.ts';
import { factsOf } from './verdict.ts';

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'keep-connections': KeepConnections;
    readonly 'see-connections': SeeConnections;
  }
}

/** Jobs on some nodes whose pods keep connections to each other, followed until the chain ends, and deleted then. */
interface KeepConnections {
  readonly type: 'keep-connections';
  readonly image: string;
  readonly namespace: string;
  readonly agents: AgentsOf;
  /** Nodes that are upgraded first: the verdict on them takes these connections in. */
  readonly canary: readonly string[];
  /** The first broken connection stops the run. */
  readonly isStrict: boolean;
  /** Ended as soon as they are there: whether image, rights and namespace are as they have to be. */
  readonly isTrial: boolean;
  /** The limit of the wait: after it the cluster ends the pods by itself. */
  readonly limitMs: number;
}

/** No connection has broken so far: the verdict of a canary takes it in. */
interface SeeConnections {
  readonly type: 'see-connections';
}

export const keptEffects: Pick<EffectTypes, 'keep-connections' | 'see-connections'> = {
  'keep-connections': {
    does: 'writes',
    isFixed: false,
    leaves: CONNECTIONS,
    perform: keep,
    async dryRun({ cluster }, { namespace, image, limitMs }) {
      const part = { namespace, image, id: 'dry-run', node: 'any', part: 'answers', endsAfter: Math.ceil(limitMs / 1000) };
      await cluster.dryRunCreate(K.Job, answeringJob(part, OTHERS));
      return { detail: 'not created (dry run)' };
    },
    text({ image, namespace, limitMs, isStrict, isTrial }) {
      const until = isTrial ? 'as soon as they are there' : `when this command ends, after ${timeText(limitMs)} at most`;
      const stops = isStrict && !isTrial ? ', and stop at the first that breaks' : '';
      return `create Jobs on up to 6 nodes, in namespace ${namespace} with image ${image}, whose pods keep connections to each other${stops}; delete them ${until}`;
    },
    mask: whole,
    digest: ({ type, image, namespace, isStrict, isTrial, canary }) => ({ type, image, namespace, isStrict, isTrial, canary }),
  },
  'see-connections': {
    does: 'nothing',
    isFixed: false,
    async perform(_, __, around) {
      const watch = around.watcher(CONNECTIONS);
      if (!(watch instanceof ConnectionWatch)) return { detail: 'no connection is kept' };
      await watch.passed(around.stop);
      return { detail: networkText(watch.trace) };
    },
    dryRun: announced,
    text: () => 'see that no connection of the probe has broken',
    mask: whole,
    digest: whole,
  },
};

/** A pod of the next node, and one outside the pod network. */
const OTHERS = 2;
const ANSWER: Awaiting = { wanted: 'runs', selector: KEPT_PROBES, limitMs: LISTENS_MS, what: 'pods that answer' };
const KEEP: Awaiting = { wanted: 'runs', selector: KEPT_PROBES, limitMs: LISTENS_MS, what: 'pods that keep connections' };

/** What could not be begun is a warning, and a stop where connections decide. Throws Fault('interrupted') when stopped. */
async function keep(ports: EnginePorts, effect: KeepConnections, around: Around): Promise<Performed> {
  const created: ObjectRef[] = [];
  let isKept = false;
  try {
    const begun = await begin(ports, effect, around, created).catch((thrown: unknown) => {
      if (thrown instanceof ApiFailure) return messageOf(thrown);
      throw thrown;
    });
    isKept = typeof begun !== 'string' && !effect.isTrial;
    if (typeof begun !== 'string' && effect.isTrial) return { detail: 'connections can be kept' };
    if (typeof begun !== 'string') {
      around.watch(begun);
      begun.watch(effect.canary.length > 0);
      const { connections } = begun.trace;
      return { detail: `${counted(connections.length, 'connection')} between pods on ${counted(gapsOf(begun.trace).length, 'node')}` };
    }
    const told = `no connections are kept: ${begun}`;
    if (effect.isStrict) throw new Fault('stopped', `${told}; no agent was replaced`, ['correct it, or leave out --probe-strict', AGAIN]);
    around.warn(told);
    // In another round of the stage it would fail likewise.
    around.watch(nothingKept());
    return { detail: told, told };
  } finally {
    if (!isKept) await sweep(ports, created, around);
  }
}

function nothingKept(): Watcher {
  return {
    name: CONNECTIONS,
    failed: new AbortController().signal,
    fault: () => new Fault('failed', 'no connections are kept', [AGAIN]),
    end: async () => undefined,
  };
}

/** The connections, or why there are none. Creates Jobs, and leaves them. */
async function begin(ports: EnginePorts, effect: KeepConnections, around: Around, created: ObjectRef[]): Promise<ConnectionWatch | string> {
  const { cluster, clock } = ports;
  const { namespace, image, agents, canary, isStrict, limitMs } = effect;
  const denied = await deniedText(cluster, namespace, { readsLogs: true });
  if (denied !== undefined) return `${denied}${SEE_RIGHTS}`;
  const [found, listed] = await Promise.all([readAgents(ports, agents), cluster.list(K.Node, { keep: slimNode })]);
  const nodes = chooseKept(found, listed, canary);
  if (nodes.length === 0) return 'no node with an agent takes pods';
  const id = clock.now().getTime().toString(36);
  const part = (name: string, { node }: AgentOnNode) => ({
    ...{ namespace, image, id, node, part: name },
    endsAfter: Math.ceil(limitMs / 1000),
  });
  const until = clock.now().getTime() + limitMs;
  const create = async (document: KubeObject, on: AgentOnNode): Promise<Posted> => {
    const job = await cluster.create(K.Job, document);
    created.push(refOf(job));
    return { job, on };
  };
  const told = { ...around, created: () => undefined };
  const answering: Posted[] = [];
  for (const [index, on] of nodes.entries()) answering.push(await create(answeringJob(part(`answers-${index + 1}`, on), OTHERS), on));
  const answers = await settled(answering, ANSWER, ports, told);
  const stuck = await stuckText(answers, ports, namespace);
  if (stuck !== undefined) return stuck;
  const kept: Kept[] = [];
  const dialled = (from: AgentOnNode, to: Settled, outside: boolean): Dialled => {
    kept.push({ from: from.node, to: to.on.node, outside, link: kept.length + 1, keeps: '', answers: to.job.metadata.uid ?? '' });
    const address = to.says.state === 'runs' ? to.says.address : '';
    return { link: kept.length, address, place: outside ? 1 : 0 };
  };
  const keepBy = (posted: Posted, since: number) => {
    for (const [at, one] of kept.entries()) if (at >= since) kept[at] = { ...one, keeps: posted.job.metadata.uid ?? '' };
    return posted;
  };
  const keeping: Posted[] = [];
  for (const [index, on] of nodes.entries()) {
    const to = answers[(index + 1) % answers.length];
    if (!to) continue;
    const since = kept.length;
    keeping.push(keepBy(await create(keepingJob(part(`keeps-${index + 1}`, on), [dialled(on, to, false)], false), on), since));
  }
  const keeps = await settled(keeping, KEEP, ports, told);
  const late = await stuckText(keeps, ports, namespace);
  if (late !== undefined) return late;
  const outside = await keepOutside();
  const isRolling = async () => (await readAgents(ports, agents)).some(({ is }) => is !== 'upgraded');
  const watch = new ConnectionWatch(ports, around, { namespace, isStrict, until, isRolling }, created, kept);
  if (outside !== undefined) watch.skipped(`from outside the pod network: ${outside}`);
  await watch.opened(LISTENS_MS, around.stop);
  if (around.stop.aborted) throw new Fault('interrupted', 'stopped before connections were there; the Jobs are deleted', [AGAIN]);
  if (watch.trace.connections.length === 0) return watch.lacks;
  return watch;

  /** From the network of the last node, where the namespace admits such a pod; else why not. */
  async function keepOutside(): Promise<string | undefined> {
    const on = nodes.at(-1);
    if (!on) return undefined;
    const since = kept.length;
    const all = answers.map((to) => dialled(on, to, true));
    const [posted] = [keepBy(await create(keepingJob(part('keeps-outside', on), all, true), on), since)];
    const why = await stuckText(await settled([posted], KEEP, ports, told), ports, namespace);
    if (why === undefined) return undefined;
    kept.splice(since);
    await sweep(ports, created.splice(-1), around);
    return why;
  }
}

async function stuckText(jobs: readonly Settled[], ports: EnginePorts, namespace: string): Promise<string | undefined> {
  const stuck = await firstStuck(jobs, ports, namespace);
  if (stuck === undefined) return undefined;
  return 'unmade' in stuck ? stuck.unmade : factsOf(stuck.found);
}
