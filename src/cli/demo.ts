import type { Goal } from '../kernel/context.ts';
import type { ExitName } from '../kernel/fault.ts';
import { apiVersionOf } from '../kernel/object.ts';
import { calico } from '../profiles/calico.ts';
import { type VirtualClock, virtualClock } from '../sandbox/clock.ts';
import { storedReleases } from '../sandbox/releases.ts';
import { type ProcessOptions, sandboxPorts } from '../sandbox/sandbox-ports.ts';
import { installedScenario, type Scenario } from '../sandbox/scenario.ts';
import { findKind } from '../sandbox/store.ts';
import { CHAINS, type Chain } from './command-names.ts';
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
/** The cluster and an earlier run are this much older than the demo: nothing shown lies in the future. */
const BEFORE_MS = 6 * 60_000;
const BEFORE_ROLLBACK_MS = 15 * 3_600_000;
/** What is installed, from the manifest of the variant with Typha: its waves and its renamed policies are the usual ones of a large cluster. */
const INSTALLED = 'v3.27.5';
const FILE = 'calico-typha.yaml';
/** Policies of the user, which the new controllers give new names. */
const POLICIES = [
  ['GlobalNetworkPolicy', 'deny-metadata-service', undefined],
  ['NetworkPolicy', 'allow-dns', 'kube-system'],
] as const;
/** A folder of the machine in memory. */
const RELEASES = '/releases';

/** The whole chain on a cluster in memory, by the engine, stages and views of every other command. */
export async function runDemo(request: DemoRequest): Promise<ExitName> {
  const { flags, seams } = request;
  const chain = chainShown(flags);
  const clock = virtualClock({ start: new Date(Date.now() - (chain.intent === 'rollback' ? BEFORE_ROLLBACK_MS : BEFORE_MS)) });
  const scenario = await demoScenario(clock);
  const say = (line: string) => {
    if (flags.quiet !== true) tellErr(seams.terminal, `${line}\n`);
  };
  say(`A cluster in memory: ${NODES} nodes, Calico ${INSTALLED} with Typha, from ${FILE}. No real cluster is touched.`);
  if (flags.scenario !== undefined) {
    const { told, prepare } = DEMO_SCENARIOS[flags.scenario];
    await prepare({
      scenario,
      killedRun: (identity) => killedRun(request, scenario, identity),
      wholeRun: async () => void (await unseenRun(request, scenario)),
    });
    say(told);
    say('The commands that are named below are for a real cluster: this one is gone when the demo ends.');
  }
  const stuck = flags['keep-going'] === true;
  if (flags.fast !== true) clock.pace = stuck || flags.scenario !== undefined ? PACE_TROUBLE : PACE;
  return stuck ? stuckThenFixed(request, scenario, say) : shownRun(request, scenario);
}

async function demoScenario(clock: VirtualClock): Promise<Scenario> {
  const profile = calico;
  const { openStored } = await import('./compose.ts');
  const releases = storedReleases(openStored(profile.name), RELEASES, FILE, [INSTALLED, profile.defaultRelease]);
  const scenario = await installedScenario({ profile, nodes: NODES, releases, installed: INSTALLED, file: FILE, clock });
  for (const [kind, name, namespace] of POLICIES) putPolicy(scenario, kind, name, namespace);
  return scenario;
}

/** As releases before v3.32 store a policy of the tier `default`: under a name with a prefix. */
function putPolicy({ cluster: { store, kinds, profile } }: Scenario, kind: string, name: string, namespace: string | undefined): void {
  const stored = findKind(kinds(), `${profile.crdGroup}/v1`, kind);
  if (!stored) throw new Error(`the sandbox does not serve ${kind}`);
  const annotations = { [`${profile.apiGroup}/metadata`]: '{}' };
  const metadata = { name: `default.${name}`, ...(namespace === undefined ? {} : { namespace }), annotations };
  store.insert(stored, { apiVersion: apiVersionOf(stored), kind, metadata, spec: { selector: 'all()', types: ['Ingress'] } });
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

/** What the user sees is an upgrade, or the rollback of one. */
function chainShown({ scenario }: SessionFlags): Chain {
  return scenario !== undefined && DEMO_SCENARIOS[scenario].goesBack ? CHAINS['demo back'] : CHAINS.demo;
}

/** An upgrade before what is shown. */
function unseenRun(request: DemoRequest, scenario: Scenario, identity?: string): Promise<ExitName> {
  const { 'report-file': _, ...flags } = request.flags;
  return performed({ ...request, flags }, scenario, unseen(request.seams.terminal), { yes: true, chain: CHAINS.demo }, identity);
}

/** Ends when the first new agent has started: whatever its process still tries fails. */
async function killedRun(request: DemoRequest, scenario: Scenario, identity: string): Promise<void> {
  const { faults, store, profile } = scenario.cluster;
  const stop = store.listen(({ kind }) => {
    if (kind.plural === profile.clusterInformation.plural) faults.killed = true;
  });
  await unseenRun(request, scenario, identity).catch(() => undefined);
  stop();
  faults.revive();
}

function performed(
  { flags, typed, commands, seams }: DemoRequest,
  scenario: Scenario,
  terminal: Terminal,
  { yes, chain = chainShown(flags) }: { readonly yes: boolean; readonly chain?: Chain },
  identity?: string,
): Promise<ExitName> {
  const { fast: _, scenario: trouble, 'keep-going': stuck, ...shown } = flags;
  const besides = trouble === undefined ? {} : DEMO_SCENARIOS[trouble].flags;
  const given = { ...shown, ...besides, yes, ...(stuck === true ? { timeout: '1m' } : {}) };
  const process = { toolVersion: seams.version, ...(identity === undefined ? {} : { identity }) };
  const compose = async (request: ComposeRequest) =>
    composition(scenario, request, chain, { ...process, interruption: request.interruption });
  // No command reaches the cluster in memory, so findings lead to their pages, except in a scenario of a run in trouble.
  const known = trouble === undefined ? [] : commands;
  const asked = { command: 'demo', chain, typed, carried: [], commands: known, flags: given };
  return runStageCommand(asked, { ...seams, terminal, compose });
}

async function composition(
  scenario: Scenario,
  { flags }: ComposeRequest,
  { intent: kind }: Chain,
  process: ProcessOptions,
): Promise<Composition> {
  const { ownerEntries } = await import('../features/ownerrefs/journal-form.ts');
  const { cluster, clusterUid, workFolder, clock } = scenario;
  const { profile } = cluster;
  const wanted = askedFor(flags, { defaultRelease: profile.defaultRelease, ...(await acceptableChecks(flags)) });
  const where = { clusterUid, server: 'sandbox', contextName: 'demo', workFolder, startedAt: clock.now() };
  const ports = sandboxPorts(scenario, ownerEntries, process);
  const goal = kind === 'rollback' ? await goalOfRecord(ports.records, scenario) : wanted.goal;
  return {
    ...ports,
    profile,
    context: { profile, ...wanted, goal, intent: { kind }, ...where },
    close: async () => undefined,
  };
}

async function goalOfRecord(records: Composition['records'], { clusterUid, cluster: { profile } }: Scenario): Promise<Goal> {
  const [{ goalBack }, { readRecord }] = await Promise.all([import('./rollback-goal.ts'), import('./compose.ts')]);
  return goalBack(records, { clusterUid, profile, readRecord });
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
