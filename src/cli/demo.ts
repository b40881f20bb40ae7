import { fileURLToPath } from 'node:url';
import type { ExitName } from '../kernel/fault.ts';
import { virtualClock } from '../sandbox/clock.ts';
import { type ProcessOptions, sandboxPorts } from '../sandbox/sandbox-ports.ts';
import { netsvcScenario, type Scenario } from '../sandbox/scenario.ts';
import { CHAINS } from './command-names.ts';
import { DEMO_SCENARIOS } from './demo-scenarios.ts';
import { acceptableChecks, askedFor } from './options.ts';
import type { ComposeRequest, Composition, Seams } from './seams.ts';
import type { SessionFlags } from './session.ts';
import { runStageCommand } from './stage-command.ts';
import { type Terminal, tellErr } from './terminal.ts';

export interface DemoRequest {
  readonly flags: SessionFlags;
  /** The command line after the program's name: `demo --fast`. */
  readonly typed: string;
  /** Names of the commands that this version has. */
  readonly commands: readonly string[];
  readonly seams: Seams;
}

const NODES = 4;
/** The node that gets stuck with `--keep-going`. */
const STUCK = 'node-02';
/** Real milliseconds that a second of the demo takes: about half a minute in all. */
const PACE = 850;
/** Trouble is waited for. */
const PACE_TROUBLE = 350;
/** Write at which a run is killed: the new manifest is applied, its agents are not rolled out. */
const KILLED_AT = 30;
/** The cluster and an earlier run are this much older than the demo: nothing shown lies in the future. */
const BEFORE_MS = 6 * 60_000;
const RELEASES = fileURLToPath(new URL('../sandbox/releases', import.meta.url));

/** The whole chain on a cluster in memory, by the engine, stages and views of every other command. */
export async function runDemo(request: DemoRequest): Promise<ExitName> {
  const { flags, seams } = request;
  const clock = virtualClock({ start: new Date(Date.now() - BEFORE_MS) });
  const scenario = await netsvcScenario({ nodes: NODES, releasesFolder: RELEASES, clock });
  const say = (line: string) => {
    if (flags.quiet !== true) tellErr(seams.terminal, `${line}\n`);
  };
  say(`A cluster in memory: ${NODES} nodes, netsvc v3.26.4 from its manifest. No real cluster is touched.`);
  if (flags.scenario !== undefined) {
    const { told, prepare } = DEMO_SCENARIOS[flags.scenario];
    await prepare({ scenario, killedRun: (identity) => killedRun(request, scenario, identity) });
    say(told);
    say('The commands that are named below are for a real cluster: this one is gone when the demo ends.');
  }
  const stuck = flags['keep-going'] === true;
  if (flags.fast !== true) clock.pace = stuck || flags.scenario !== undefined ? PACE_TROUBLE : PACE;
  return stuck ? stuckThenFixed(request, scenario, say) : shownRun(request, scenario);
}

async function stuckThenFixed(request: DemoRequest, scenario: Scenario, say: (line: string) => void): Promise<ExitName> {
  const { flags, seams } = request;
  scenario.cluster.nodes.fault(STUCK, 'not-ready');
  say(`New agents on ${STUCK} will not become ready; the wait gives up after a minute.`);
  const first = machineReadable(flags.output) ? { ...request, seams: { ...seams, terminal: withoutOut(seams.terminal) } } : request;
  const exit = await shownRun(first, scenario);
  if (exit !== 'timeout') return exit;
  say(`Exit code 124: timed out. ${STUCK} is repaired now, and the same command continues.`);
  scenario.cluster.nodes.fault(STUCK, 'none');
  return shownRun(request, scenario);
}

/** What the user sees of a run, with the question, which is answered with yes. */
function shownRun(request: DemoRequest, scenario: Scenario): Promise<ExitName> {
  const { flags, seams } = request;
  const { terminal } = seams;
  const isAsked = terminal.interactive && flags.yes !== true;
  if (isAsked) return performed(request, scenario, terminal, { yes: false });
  const needsPerson = flags.scenario !== undefined && DEMO_SCENARIOS[flags.scenario].needsPerson === true;
  if (flags.quiet === true || needsPerson || machineReadable(flags.output)) return performed(request, scenario, terminal, { yes: true });
  return performed(request, scenario, answeredYes(terminal), { yes: false });
}

/** Ends in the middle of a write: whatever its process still tries fails. */
async function killedRun(request: DemoRequest, scenario: Scenario, identity: string): Promise<void> {
  const { faults } = scenario.cluster;
  faults.plan({ at: KILLED_AT, kill: 'after' });
  const { 'report-file': _, ...flags } = request.flags;
  await performed({ ...request, flags }, scenario, unseen(request.seams.terminal), { yes: true }, identity).catch(() => undefined);
  faults.plan();
  faults.revive();
}

function performed(
  { flags, typed, commands, seams }: DemoRequest,
  scenario: Scenario,
  terminal: Terminal,
  { yes }: { readonly yes: boolean },
  identity?: string,
): Promise<ExitName> {
  const { fast: _, scenario: trouble, 'keep-going': stuck, ...shown } = flags;
  const given = { ...shown, yes, ...(stuck === true ? { timeout: '1m' } : {}) };
  const process = { toolVersion: seams.version, ...(identity === undefined ? {} : { identity }) };
  const compose = async (request: ComposeRequest) => composition(scenario, request, { ...process, interruption: request.interruption });
  // No command reaches the cluster in memory, so findings lead to their pages, except in a scenario of a run in trouble.
  const known = trouble === undefined ? [] : commands;
  const asked = { command: 'demo', chain: CHAINS.demo, typed, carried: [], commands: known, flags: given };
  return runStageCommand(asked, { ...seams, terminal, compose });
}

async function composition(scenario: Scenario, { flags }: ComposeRequest, process: ProcessOptions): Promise<Composition> {
  const [{ netsvc }, { ownerEntries }] = await Promise.all([
    import('../profiles/netsvc.ts'),
    import('../features/ownerrefs/journal-form.ts'),
  ]);
  const { clusterUid, workFolder, clock } = scenario;
  const wanted = askedFor(flags, { defaultRelease: netsvc.defaultRelease, ...(await acceptableChecks(flags)) });
  const where = { clusterUid, server: 'sandbox', contextName: 'demo', workFolder, startedAt: clock.now() };
  return {
    ...sandboxPorts(scenario, ownerEntries, process),
    profile: netsvc,
    context: { profile: netsvc, ...wanted, intent: { kind: CHAINS.demo.intent }, ...where },
    close: async () => undefined,
  };
}

/** Yes to every question, shown with its answer: without a terminal, and with `--yes`. */
function answeredYes(terminal: Terminal): Terminal {
  return {
    ...terminal,
    interactive: true,
    async confirm(question) {
      tellErr(terminal, `${question} [y/N] y\n`);
      return true;
    },
    ask: async () => undefined,
  };
}

/** Nothing is seen or asked. */
function unseen(terminal: Terminal): Terminal {
  return { ...terminal, interactive: false, errIsTerminal: false, out: () => undefined, err: () => undefined };
}

/** Only the document is missing. */
function withoutOut(terminal: Terminal): Terminal {
  return { ...terminal, out: () => undefined };
}

/** A program reads stdout whole. */
function machineReadable(output: SessionFlags['output']): boolean {
  return output !== 'table' && output !== 'wide';
}
