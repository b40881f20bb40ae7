import { command } from '../../kernel/argv.ts';
import type { Around, Performed } from '../../kernel/effect-type.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import { type Clock, type ClusterReader, isPassing } from '../../kernel/ports.ts';
import { AGAIN, look, type Said, type Step, seeWhy, text } from '../../kernel/step.ts';
import { stopImpact } from '../../kernel/traffic.ts';
import { type AgentsOf, hasUpgradedNode } from '../network-probe/index.ts';
import { IMPACT, Lasted, reasonsOf } from '../rollout/index.ts';
import type { OperatorEndNames, OperatorLag, OperatorTarget } from './operator-causes.ts';
import type { EndPart, OperatorMemory, OperatorTrouble, OperatorVerdict } from './operator-verdict.ts';
import type { SettledFacts } from './settled-facts.ts';

interface Staying {
  /** It is over once all of it has stayed so for this long. Milliseconds. */
  readonly holdMs: number;
}

/** The operator has upgraded every component to the target. */
export interface OperatorExpected extends Staying {
  readonly type: 'operator-end';
  readonly names: OperatorEndNames;
  readonly target: OperatorTarget;
  /** Of the components, those that are waited for; absent: all. */
  readonly part?: EndPart;
  /** Typha is held until then. */
  readonly holdsTypha?: true;
  /** Over as soon as one of these agents is upgraded and ready. */
  readonly firstOf?: AgentsOf;
}

/** The same where the profile names no statuses of the operator (§4.2, §4.3). */
export interface SettledExpected extends Staying, Pick<SettledFacts, 'names' | 'target'> {
  readonly type: 'operator-settled';
  readonly part?: undefined;
  readonly holdsTypha?: undefined;
  readonly firstOf?: AgentsOf;
}

export type EndExpected = OperatorExpected | SettledExpected;

export type Wait = Pick<Around, 'stop' | 'report' | 'warn'> & { readonly timeoutMs: number };

export interface Ports {
  readonly cluster: ClusterReader;
  readonly clock: Clock;
}

/** How one rule for the end is looked after. */
export interface Rule {
  readonly points: number;
  /** What they are signs of. */
  readonly of: string;
  /** One evaluation; `now` counts only what was surely waited. Throws ApiFailure where there is no answer. */
  look(now: number, before: OperatorMemory): Promise<OperatorVerdict>;
  /** Until the next, in milliseconds. */
  readonly pauseMs: number;
}

/** More time between two looks than this, and than two pauses, does not count as held: the machine slept, or its clock was set. */
const LONGEST_STEP_MS = 5_000;

/** Waits until the rule says done. Throws Fault `timeout` (naming what lags and the troubles) or `interrupted`. */
export async function waitEnd(ports: Ports, expected: EndExpected, rule: Rule, wait: Wait): Promise<Performed> {
  const { cluster, clock } = ports;
  const started = clock.now().getTime();
  const told = new Set<string>();
  let [last, counted] = [started, 0];
  const lasted = new Lasted(expected.holdMs);
  const isOver = ({ lags, mark = '' }: OperatorVerdict) => lasted.isEnough(lags.length === 0 ? mark : undefined, counted);
  let memory: OperatorMemory = {};
  for (;;) {
    if (wait.stop.aborted) throw new Fault('interrupted', 'stopped while waiting for the operator', [AGAIN]);
    const look = await lookAt(rule, counted, memory);
    memory = look.memory;
    tell(look, rule, expected, wait, told);
    if (isOver(look) || (await isFirstThere(ports, expected))) return {};
    const now = clock.now().getTime();
    if (now - started >= wait.timeoutMs) throw timeout(look, wait.timeoutMs, expected, await reasonsOf(cluster, podsOf(look)));
    await clock.sleep(rule.pauseMs, wait.stop).catch(() => undefined);
    const woken = clock.now().getTime();
    counted += Math.min(Math.max(woken - last, 0), Math.max(LONGEST_STEP_MS, 2 * rule.pauseMs));
    last = woken;
  }
}

async function isFirstThere(ports: Ports, { firstOf }: EndExpected): Promise<boolean> {
  if (!firstOf) return false;
  return hasUpgradedNode(ports, firstOf).catch((thrown: unknown) => {
    if (isPassing(thrown)) return false;
    throw thrown;
  });
}

/** A look that fails proves nothing: what held has to hold again from the next one on. */
async function lookAt(rule: Rule, now: number, memory: OperatorMemory): Promise<OperatorVerdict> {
  try {
    return await rule.look(now, memory);
  } catch (thrown) {
    if (!isPassing(thrown)) throw thrown;
    const lag: OperatorLag = { point: 1, subject: 'the API server', why: `gives no answer: ${messageOf(thrown)}` };
    return { lags: [lag], troubles: [], memory };
  }
}

function tell(
  { lags, troubles }: OperatorVerdict,
  { points, of }: Rule,
  { holdMs }: EndExpected,
  { report, warn }: Wait,
  told: Set<string>,
): void {
  const lagging = new Set(lags.map(({ point }) => point)).size;
  const why = lags.length === 0 ? `must hold for ${holdMs / 1000} s` : progressText(lags);
  report(points - lagging, points, of, why);
  for (const trouble of troubles) {
    const key = `${trouble.type} ${trouble.subject}`;
    if (told.has(key)) continue;
    told.add(key);
    warn(troubleText(trouble));
  }
}

const TROUBLES: Readonly<Record<OperatorTrouble['type'], string>> = {
  deaf: 'deaf operator',
  idle: 'idle operator',
  pinned: 'pinned operator',
  degraded: 'degraded for 5 minutes',
  'pod-failure': 'failing pods',
};

function troubleText({ type, subject, why }: OperatorTrouble): string {
  return `${TROUBLES[type]}: ${subject}: ${why}`;
}

function lagText(lags: readonly OperatorLag[], limit: number): string {
  const named = lags.slice(0, limit).map(({ subject, why }) => `${subject}: ${why}`);
  return `${named.join('; ')}${lags.length > limit ? `; and ${lags.length - limit} more` : ''}`;
}

/** The first cause alone where it has a command: that is what somebody has to look at. */
function progressText(lags: readonly OperatorLag[]): Said {
  const [first] = lags;
  if (first?.command === undefined) return lagText(lags, 2);
  const more = lags.length > 1 ? ` (and ${lags.length - 1} more)` : '';
  return text`${first.subject}: ${first.why}${more} · ${first.command}`;
}

const TYPHA_HELD = 'Typha is held at the former release until then: agents of both releases get their policies from it';
const TYPHA_STAYS = 'Typha is held at the former release until you continue: agents of both releases get their policies from it';
const WORKING = 'the operator keeps working in the cluster: run the same command again, or wait longer with --timeout';
/** No time is long enough. */
const HELD_BACK = text`what is held comes once its run continues: ${command`kubectl netsvc-upgrade commit`}`;
const AGENTS_HELD = 'the agents are held at their release until then: Typha of the older release serves both';

/** Pods of which events and logs are read. */
const ASKED = 3;

/** What the cluster itself says of them is asked for only once the wait has ended without success. */
const podsOf = ({ lags, troubles }: OperatorVerdict) => [...troubles, ...lags].flatMap(({ pod }) => pod ?? []).slice(0, ASKED);

function timeout(
  { lags, troubles }: OperatorVerdict,
  timeoutMs: number,
  { names, part, holdsTypha }: EndExpected,
  reasons: readonly Step[],
): Fault {
  const what = lags.length === 0 ? 'everything is there, but has not held for long enough' : lagText(lags, 3);
  const { namespace, name } = names.deployment;
  // An operator that does not act is why nothing else comes.
  const causes = troubles.length === 0 ? lags : lags.filter(({ point }) => point !== 5);
  const commands = [...new Map(causes.flatMap(({ command: one }) => (one === undefined ? [] : [[one.plain, one]]))).values()].slice(0, 3);
  const log = command`kubectl -n ${namespace} logs ${`deployment/${name}`} --tail=50`;
  // Its pods are told with the command for theirs, and there may be no log.
  const runs = !lags.some(({ point }) => point === 1);
  const held = holdsTypha ? (part === 'others' ? TYPHA_STAYS : TYPHA_HELD) : part === 'typha' ? AGENTS_HELD : undefined;
  return new Fault('timeout', `the operator is not done after ${Math.round(timeoutMs / 1000)} s: ${what}`, [
    ...commands.map(seeWhy),
    ...new Map(lags.flatMap(({ fix }) => (fix === undefined ? [] : [[fix.plain, fix]]))).values(),
    ...reasons,
    ...troubles.map(troubleText),
    ...(runs ? [look(text`read the log of the operator: ${log}`)] : []),
    ...(held === undefined ? [] : [held]),
    runs ? IMPACT : stopImpact('nothing more is upgraded before the operator runs'),
    lags.some(({ isHeld }) => isHeld) ? HELD_BACK : runs ? WORKING : text`repair the operator, then ${AGAIN}`,
  ]);
}
