import assert from 'node:assert/strict';
import { askedFor, toOptions } from '../../src/cli/options.ts';
import type { ComposeRequest, Composition } from '../../src/cli/seams.ts';
import { chain, checkTitles } from '../../src/features/chain.ts';
import type { Options } from '../../src/kernel/context.ts';
import { type AnyStage, openedWith, type StagePlan } from '../../src/kernel/stage.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import type { ApplyBench } from './apply-bench.ts';
import { applies, type CommandBench } from './command-bench.ts';
import type { JudgedWorld } from './judged-worlds.ts';
import { releases } from './releases.ts';
import { compositionOf, sandboxCommand } from './sandbox-command.ts';
import { installedSandbox } from './sandbox-ports.ts';

export const PROGRAM = 'kubectl netsvc-upgrade ';

/** What a command showed to a person who says no to every question. */
type Shown = Awaited<ReturnType<typeof shown>>;

/** Where a next step was printed: the command that printed it, and what each command shows there. */
export interface NextWorld {
  readonly id: string;
  readonly next: string;
  readonly printedBy: string;
  show(words: readonly string[]): Promise<Shown>;
}

/** Stages by the command that performs them alone, where it is not their id. */
const COMMANDS: Readonly<Record<string, string>> = {
  'ownerrefs-strip': 'ownerrefs strip',
  'ownerrefs-restore': 'ownerrefs restore',
  'ownerrefs-forget': 'ownerrefs forget',
  'probe-nodes': 'preflight --probe-nodes all',
};

/** A step that nothing here can do: it is shown, and nothing is asked. */
const STEP: StagePlan = { actions: [{ id: 'a', title: 'do it', ref: '§4', undo: 'none', effect: { type: 'ask', instruction: 'do it' } }] };

let cluster: Promise<Scenario> | undefined;

/** The service as its manifest installed it, in memory: nothing that is followed is agreed to, so that one serves all. */
function followedCluster(): Promise<Scenario> {
  cluster ??= installedSandbox({ profile: calico, releasesFolder: releases, installed: 'v3.27.5', file: 'calico-typha.yaml', cli: false });
  return cluster;
}

/** The world of a check's own test: its stage finds there what that test made it find. */
export function judgedWorld({ check, checks, facts, context, finding }: JudgedWorld): NextWorld {
  const same = chain.find((stage) => (stage.checks as readonly unknown[]).includes(check));
  const owner = (same ?? chain.find((stage) => stage.checks.some(({ id }) => id === check.id)))?.id ?? 'preflight';
  const opened: AnyStage['open'] = async () => openedWith({ checks, plan: () => STEP }, facts as never, context);
  const printedBy = COMMANDS[owner] ?? owner;
  const show = async (words: readonly string[]) => {
    const bench = sandboxCommand(await followedCluster(), calico);
    bench.chain = chain.map((stage) => (stage.id === owner ? { ...stage, open: opened } : around(stage, words)));
    return shown(bench, words, []);
  };
  return { id: finding.id, next: String(finding.next), printedBy, show };
}

/** The world of a bench of the apply stage. */
export function benchWorld(of: ApplyBench, { id, next }: { readonly id: string; readonly next: string }): NextWorld {
  const show = async (words: readonly string[]) => {
    const scenario = await followedCluster();
    const bench = sandboxCommand(scenario, of.context.profile);
    bench.chain = chain.map((stage) => (stage.id === 'apply' ? stage : around(stage, ['plan'])));
    of.files.set('FILE', '{}');
    Object.assign(bench.seams, { compose: async (request: ComposeRequest) => composed(of, scenario, request) });
    return shown(bench, words, []);
  };
  return { id, next, printedBy: 'apply', show };
}

function composed(of: ApplyBench, scenario: Scenario, request: ComposeRequest): Composition {
  const { profile } = of.context;
  const known = { defaultRelease: of.context.goal.release, checks: Object.keys(checkTitles) };
  const unsaid = toOptions({}, known);
  const { goal, options: said } = askedFor(request.flags, known);
  const isSaid = (name: string) => JSON.stringify(Reflect.get(unsaid, name)) !== JSON.stringify(Reflect.get(said, name));
  const asked = Object.fromEntries(Object.entries(said).filter(([name]) => isSaid(name))) as Partial<Options>;
  const base = compositionOf(scenario, request, profile);
  const tools = { ...base.tools, ...of.sources.tools };
  const context = { ...of.context, goal, options: { ...said, ...of.context.options, ...asked } };
  return { ...base, ...of.sources, tools, profile, context } as Composition;
}

/** Another stage than the one that is asked: it has nothing to say, and the upgrade is still to be done. */
function around(stage: AnyStage, [command]: readonly string[]): AnyStage {
  if (stage.id === command || (command === 'ownerrefs' && stage.id.startsWith(command))) return stage;
  const plan = stage.id === 'apply' || stage.id === 'probe-nodes' ? applies('upgrade.yaml') : ({ skip: 'done' } as const);
  return { ...stage, open: async () => ({ findings: () => [], plan: () => plan }) };
}

/** What a command of this program shows; without answers nobody is at the terminal. */
async function shown(bench: CommandBench, words: readonly string[], answers: readonly boolean[] | undefined) {
  bench.answers = answers && [...answers];
  // Who watches waits for the other run to end, and here nobody ends it: its first look is what is shown.
  const exit = await bench.run(...words.filter((word) => word !== '--watch'));
  // The document ends a command: it is on stdout, and everything on stderr comes before its last line.
  const lines = `${bench.err()}\n${bench.out()}`.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  // One for each screen, at its end.
  const nexts = lines.filter((line) => line.startsWith('Next: '));
  assert.deepEqual(
    nexts,
    lines.slice(-1).filter((line) => line.startsWith('Next: ')),
    lines.join('\n'),
  );
  const next = nexts[0]?.slice('Next: '.length);
  return { exit, lines, next, questions: bench.questions.length };
}

/** The next step that a screen says under a check; undefined where it does not show that check as open. */
export function nextUnder({ lines }: Shown, id: string): string | undefined {
  const at = lines.findIndex((line) => new RegExp(`^[^ ] ${id} `).test(line));
  const rest = at < 0 ? [] : lines.slice(at + 1);
  const end = rest.findIndex((line) => /^[^ ] NS-\d/.test(line));
  const own = end < 0 ? rest : rest.slice(0, end);
  return own.find((line) => line.startsWith('next: '))?.slice('next: '.length);
}

/** The words of a command line, as a POSIX shell parts them: ours quotes with single quotes alone. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/g)].map(([word]) => word.replaceAll(/'([^']*)'|\\(.)/g, '$1$2'));
}

/** A command whose last line is followed, and what was there before it. */
interface Screen {
  readonly title: string;
  readonly typed: string;
  world(): Promise<Scenario>;
}

/** What a command shows there. */
export async function screen(scenario: Scenario, typed: string, answers: readonly boolean[] | undefined): Promise<Shown> {
  // Who watches waits for the other run to end: it has.
  if (typed.includes('--watch')) scenario.state.holder = undefined;
  return shown(sandboxCommand(scenario), typed.split(' '), answers);
}

const after =
  (commands: readonly string[], prepare: (scenario: Scenario) => void = () => undefined) =>
  async () => {
    const scenario = await installedSandbox();
    prepare(scenario);
    for (const one of commands) await screen(scenario, one, undefined);
    return scenario;
  };
const broken = (fault: 'crash-loop' | 'image-pull' | 'not-ready') => (scenario: Scenario) => scenario.cluster.nodes.fault('node-02', fault);
const locked = ({ state }: Scenario) => {
  const at = '2026-01-01T00:00:00Z';
  state.holder = { identity: 'bob@laptop', acquiredAt: at, renewedAt: at };
};
const DOWN = 'run --yes --timeout 2m --accept NS-421';

const row = (title: string, typed: string, world: Screen['world'] = after([])): Screen => ({ title, typed, world });
const rows = (when: string, typed: readonly string[], world: Screen['world']) => typed.map((one) => row(`${one} ${when}`, one, world));
const alone = ['preflight', 'plan', 'run', 'verify', 'status', 'wait', 'ownerrefs list', 'ownerrefs strip', 'crds', 'hep', 'alp', 'policy'];
const whole = ['status', 'plan', 'verify', 'run', 'cli', 'ownerrefs restore --undo', 'ownerrefs forget'];

export const SCREENS: readonly Screen[] = [
  ...rows('before anything was done', alone, after([])),
  ...rows('beside a run that holds the lock', ['preflight', 'plan', 'run', 'verify', 'status'], after([], locked)),
  ...rows('after a part of the chain', ['status', 'plan', 'verify', 'preflight', 'wait', 'apply'], after(['run --yes --through apply'])),
  ...rows('after the whole chain', whole, after(['run --yes'])),
  row('the chain, at its end', 'run --yes'),
  row('a dry run', 'run --dry-run=server'),
  row('a plan with an exit code', 'plan --detailed-exitcode'),
  row('a run that stops at a pod that ends again and again', 'run --yes', after([], broken('crash-loop'))),
  row('a run that stops at an image that cannot be pulled', 'run --yes', after([], broken('image-pull'))),
  row('a run that times out at a node', DOWN, after([], broken('not-ready'))),
  ...rows(
    'after a run that stopped at a pod',
    ['status', 'wait', 'verify', 'preflight', 'plan'],
    after(['run --yes'], broken('crash-loop')),
  ),
  row('a wait that takes too long at a node', 'wait --timeout 1m', after([DOWN], broken('not-ready'))),
];
