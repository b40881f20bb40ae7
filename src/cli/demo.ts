import { fileURLToPath } from 'node:url';
import { registry, withdrawn } from '../kernel/check-titles.ts';
import type { ExitName } from '../kernel/fault.ts';
import { virtualClock } from '../sandbox/clock.ts';
import { sandboxPorts } from '../sandbox/sandbox-ports.ts';
import { netsvcScenario, type Scenario } from '../sandbox/scenario.ts';
import { toOptions } from './options.ts';
import type { ComposeRequest, Composition, Seams } from './seams.ts';
import type { SessionFlags } from './session.ts';
import { sliceOf } from './slice.ts';
import { runStageCommand } from './stage-command.ts';

export interface DemoRequest {
  readonly flags: Pick<SessionFlags, 'output' | 'report-file' | 'quiet' | 'no-progress'> & {
    /** As fast as it goes, without pauses. */
    readonly fast?: boolean;
    /** A node gets stuck, the wait times out, the node is freed, the same command continues. */
    readonly 'keep-going'?: boolean;
  };
  /** The command line after the program's name: `demo --fast`. */
  readonly typed: string;
  readonly seams: Seams;
}

const NODES = 4;
/** The node that gets stuck with `--keep-going`. */
const STUCK = 'node-02';
/** Real milliseconds that a second of the demo takes: about half a minute in all. */
const PACE = 850;
const PACE_STUCK = 350;
const RELEASES = fileURLToPath(new URL('../sandbox/releases', import.meta.url));

/** The whole chain on a cluster in memory, by the engine, stages and views of every other command. */
export async function runDemo({ flags, typed, seams }: DemoRequest): Promise<ExitName> {
  const clock = virtualClock({ start: new Date() });
  const scenario = await netsvcScenario({ nodes: NODES, releasesFolder: RELEASES, clock });
  const stuck = flags['keep-going'] === true;
  if (flags.fast !== true) clock.pace = stuck ? PACE_STUCK : PACE;
  const say = (line: string) => {
    if (flags.quiet !== true) seams.terminal.err(`${line}\n`);
  };
  const run = (one: Seams) =>
    runStageCommand(demoRun(flags, typed), { ...one, compose: async (request) => compose(scenario, request, one.version) });
  say(`A cluster in memory: ${NODES} nodes, netsvc v3.26.4 from its manifest. No real cluster is touched.`);
  if (!stuck) return run(seams);
  scenario.cluster.nodes.fault(STUCK, 'not-ready');
  say(`New agents on ${STUCK} will not become ready; the wait gives up after a minute.`);
  const first = await run(machineReadable(flags.output) ? withoutOut(seams) : seams);
  if (first !== 'timeout') return first;
  say(`Exit code 124: timed out. ${STUCK} is repaired now, and the same command continues.`);
  scenario.cluster.nodes.fault(STUCK, 'none');
  return run(seams);
}

/** A person's answer is not needed: nothing real changes. */
function demoRun({ fast: _, 'keep-going': stuck, ...shown }: DemoRequest['flags'], typed: string): Parameters<typeof runStageCommand>[0] {
  const given = { ...shown, yes: true, ...(stuck === true ? { timeout: '1m' } : {}) };
  // No command reaches the cluster in memory from outside: findings lead to their pages.
  return { command: 'demo', typed, carried: [], commands: [], flags: given, select: sliceOf({}) };
}

/** One document on stdout: that of the run which came to an end. */
function withoutOut(seams: Seams): Seams {
  return { ...seams, terminal: { ...seams.terminal, out: () => undefined } };
}

function machineReadable(output: SessionFlags['output']): boolean {
  return output !== 'table' && output !== 'wide';
}

async function compose(scenario: Scenario, request: ComposeRequest, version: string): Promise<Composition> {
  const { netsvc } = await import('../profiles/netsvc.ts');
  const { clusterUid, workFolder, clock } = scenario;
  const options = toOptions(request.flags, { defaultRelease: netsvc.defaultRelease, checks: Object.keys(registry), withdrawn });
  return {
    ...sandboxPorts(scenario, { interruption: request.interruption, toolVersion: version }),
    profile: netsvc,
    context: {
      profile: netsvc,
      options,
      clusterUid,
      server: 'sandbox',
      contextName: 'demo',
      workFolder,
      startedAt: clock.now(),
    },
    close: async () => undefined,
  };
}
