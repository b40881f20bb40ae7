import assert from 'node:assert/strict';
import { goalBack } from '../../src/cli/rollback-goal.ts';
import type { ComposeRequest, Composition } from '../../src/cli/seams.ts';
import { chains } from '../../src/features/chain.ts';
import type { Context } from '../../src/kernel/context.ts';
import { EXIT } from '../../src/kernel/fault.ts';
import type { IntentKind } from '../../src/kernel/intent.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind } from '../../src/kernel/object.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import type { UserCommands } from '../../src/kernel/user-command.ts';
import { faultyRecords, faultyTools } from './faulty-ports.ts';
import type { Ground as Opened } from './incident-grounds.ts';
import { STORIES, type Story, type StoryName, type Told } from './killed-stories.ts';
import { momentOf, podsAway } from './moment.ts';
import { type BadLine, badLine, faultyCluster, isRead } from './owner-faults.ts';
import { compositionOf, sandboxCommand } from './sandbox-command.ts';

/** A controller that may replace an agent has done so by then. */
const LATER_MS = 600_000;

/** Where the process of a command is killed: at one of its requests and hooks, or at one of kubectl's writes. */
export interface KillPoint {
  /** Which of the story's commands it is. */
  readonly of: number;
  readonly among: 'requests' | 'writes';
  readonly at: number;
  readonly kill: 'before' | 'after';
  readonly what: string;
}

const pointText = (name: StoryName, { of, among, at, kill, what }: KillPoint): string =>
  `${STORIES[name].commands[of]?.join(' ')}: killed ${kill} number ${at} of the ${among}: ${what}`;

/** Every place where a command of this story can be killed. What only reads and is killed after its answer is killed before the next request. */
export async function killPoints(name: StoryName): Promise<readonly KillPoint[]> {
  const ground = await opened(STORIES[name]);
  const points: KillPoint[] = [];
  for (const of of ground.story.commands.keys()) {
    const line = badLine(ground.scenario);
    const writesBefore = ground.writes();
    await ground.expected(of, line, 'killed nowhere');
    const both = (what: string) => (isRead(what) ? (['before'] as const) : (['before', 'after'] as const));
    const all = (among: KillPoint['among'], whats: readonly string[]) =>
      whats.flatMap((what, index) => both(what).map((kill) => ({ of, among, at: index + 1, kill, what })));
    points.push(
      ...all('requests', line.requests),
      ...all(
        'writes',
        Array.from({ length: ground.writes() - writesBefore }, () => 'a write'),
      ),
    );
  }
  await ground.ends('killed nowhere');
  return points;
}

/** Killed there, left alone for long, looked at, then the same command again and those behind it: at every moment the rule of the story holds. */
export async function killedThere(name: StoryName, point: KillPoint): Promise<void> {
  const where = pointText(name, point);
  const ground = await opened(STORIES[name]);
  for (const of of ground.story.commands.keys()) {
    if (of === point.of) await killed(ground, point, where);
    if (of === point.of && of === 0 && ground.story.isTakenBack) continue;
    await ground.expected(of, badLine(ground.scenario), where, of === point.of);
  }
  await ground.ends(where);
}

type Ground = Awaited<ReturnType<typeof opened>>;

async function killed(ground: Ground, { of, among, at, kill }: KillPoint, where: string): Promise<void> {
  const { scenario } = ground;
  const { faults } = scenario.cluster;
  if (among === 'writes') faults.plan({ at: ground.writes() + at, kill });
  const fault = { at, type: `kill-${kill}` } as const;
  await ground.run(of, badLine(scenario, among === 'requests' ? fault : undefined)).catch(() => undefined);
  faults.plan();
  await scenario.clock.sleep(LATER_MS);
  const bench = sandboxCommand(scenario, ground.profile);
  assert.equal(await bench.run('status'), 0, `${where}: ${bench.err()}`);
  const said = bench.out().replaceAll(/\s+/g, ' ');
  const moment = ground.moment();
  for (const words of ground.story.left(moment)) assert.match(said, words, `${where}: ${JSON.stringify(moment)}`);
  if (moment.isOwnStrategy) assert.doesNotMatch(said, /for this run alone/, where);
}

/** Kinds whose changes the rules are about. */
const isWatched = ({ group, plural }: Kind): boolean =>
  group.startsWith('crd.') || [K.Pod, K.DaemonSet, K.Deployment].some((one) => one.plural === plural);

/** What is against the rule of the story at any moment; empty where all is well. */
function watched(
  story: Story,
  { scenario, profile }: Opened,
  told: Told & { readonly replaced: Map<string, number> },
): ReadonlySet<string> {
  const broken = new Set<string>();
  const uids = new Map<string, string | undefined>();
  scenario.cluster.store.listen(({ kind }) => {
    if (!isWatched(kind)) return;
    const now = momentOf(scenario, profile);
    for (const node of now.fresh) {
      const uid = now.uids[node];
      if (!told.replaced.has(node)) told.replaced.set(node, told.now());
      if ((uids.get(node) ?? uid) !== uid) broken.add(`the agent of ${node} was replaced twice`);
      uids.set(node, uid);
    }
    const away = podsAway(scenario, profile);
    if (away > story.atOnce) broken.add(`${away} agents away`);
    const because = story.broken(now, told);
    if (because !== undefined) broken.add(`${because}: ${JSON.stringify(now)}`);
  });
  return broken;
}

/** A rollback goes where the record says. */
async function contextOf({ chain }: ComposeRequest, { context, profile, records }: Composition): Promise<Context> {
  if (chain?.intent !== 'rollback') return context;
  const { clusterUid } = context;
  const goal = await goalBack(records, { clusterUid, profile, readRecord: (content) => content as RunRecord });
  return { ...context, goal, intent: { kind: 'rollback' } };
}

async function opened(story: Story) {
  const { scenario, profile } = await story.open();
  const { faults } = scenario.cluster;
  const prepared = new Set<string>();
  const now = () => scenario.clock.now().getTime();
  const told = { command: 0, prepared, begun: now(), now, first: momentOf(scenario, profile).uids, replaced: new Map<string, number>() };
  const broken = watched(story, { scenario, profile }, told);
  const lists = new Map();
  const ground = {
    ...{ story, scenario, profile, moment: () => momentOf(scenario, profile) },
    writes: () => faults.writes,
    /** A new process, over this line. */
    async run(of: number, line: BadLine): Promise<{ readonly code: number; readonly said: string }> {
      Object.assign(told, { command: of, begun: now() });
      const bench = sandboxCommand(scenario, profile);
      const commands: UserCommands = {
        run: (command, { node = '' }) =>
          line.asked(`command ${command} ${node}`, async () => {
            await scenario.clock.sleep(1000);
            if (command === 'before-node') prepared.add(node);
            return { durationMs: 1000 };
          }),
      };
      Object.assign(bench.seams, {
        compose: async (request: ComposeRequest) => {
          const composition = compositionOf(scenario, request, profile);
          const { cluster } = faultyCluster(composition.cluster, scenario, { lists, line });
          const [tools, records] = [faultyTools(composition.tools, line), faultyRecords(composition.records, line)];
          return { ...composition, cluster, commands, tools, records, context: await contextOf(request, composition) };
        },
        loadChain: async (intent: IntentKind = 'upgrade') => chains[intent],
      });
      const code = await bench.run(...(story.commands[of] ?? []), ...story.typed);
      return { code, said: bench.err() };
    },
    /** To its end, with the exit code of the story; after a kill at the very end or beginning nothing is left to commit, or to take back. */
    async expected(of: number, line: BadLine, where: string, isAgain = false): Promise<void> {
      const { record } = scenario.state;
      const [name] = story.commands[of] ?? [];
      const isOver = name === 'commit' && isAgain && record?.finishedAt !== undefined;
      const isNone = name === 'rollback' && !record?.intent.takesBack && (record?.wrote ?? []).length === 0;
      const { code, said } = await ground.run(of, line);
      assert.equal(code, isOver ? EXIT.usage : isNone ? EXIT.blocked : (story.exits?.[of] ?? EXIT.done), `${where}: ${said}`);
    },
    async ends(where: string): Promise<void> {
      await scenario.clock.sleep(LATER_MS);
      const { fresh, strategy, typha, controllers, renaming, names } = ground.moment();
      assert.deepEqual({ fresh, strategy, typha, controllers, renaming, names }, story.end, where);
      assert.deepEqual([...broken], [], where);
    },
  };
  return ground;
}
