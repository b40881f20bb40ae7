import type { Scenario } from '../../src/sandbox/scenario.ts';
import { type Shown, shown } from './next-steps.ts';
import { sandboxCommand } from './sandbox-command.ts';
import { installedSandbox } from './sandbox-ports.ts';

/** A command whose last line is followed, and what was there before it. */
interface Screen {
  readonly title: string;
  readonly typed: string;
  world(): Promise<Scenario>;
}

const installed = (): Promise<Scenario> => installedSandbox();

/** What a command shows there. */
export async function screen(scenario: Scenario, typed: string, answers: readonly boolean[] | undefined): Promise<Shown> {
  // Who watches waits for the other run to end: it has.
  if (typed.includes('--watch')) scenario.state.holder = undefined;
  return shown(sandboxCommand(scenario), typed.split(' '), answers);
}

const after =
  (commands: readonly string[], prepare: (scenario: Scenario) => void = () => undefined) =>
  async () => {
    const scenario = await installed();
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
const alone = ['preflight', 'plan', 'run', 'verify', 'status', 'wait', 'ownerrefs list', 'ownerrefs strip', 'crds', 'hep', 'alp', 'policy'];

export const SCREENS: readonly Screen[] = [
  ...alone.map((typed) => row(`${typed} before anything was done`, typed)),
  ...['preflight', 'plan', 'run', 'verify', 'status'].map((typed) =>
    row(`${typed} beside a run that holds the lock`, typed, after([], locked)),
  ),
  ...['status', 'plan', 'verify', 'preflight', 'wait', 'apply'].map((typed) =>
    row(`${typed} after a part of the chain`, typed, after(['run --yes --through apply'])),
  ),
  ...['status', 'plan', 'verify', 'run', 'cli', 'ownerrefs restore --undo', 'ownerrefs forget'].map((typed) =>
    row(`${typed} after the whole chain`, typed, after(['run --yes'])),
  ),
  row('the chain, at its end', 'run --yes'),
  row('a dry run', 'run --dry-run=server'),
  row('a plan with an exit code', 'plan --detailed-exitcode'),
  row('a run that stops at a pod that ends again and again', 'run --yes', after([], broken('crash-loop'))),
  row('a run that stops at an image that cannot be pulled', 'run --yes', after([], broken('image-pull'))),
  row('a run that times out at a node', DOWN, after([], broken('not-ready'))),
  ...['status', 'wait', 'verify', 'preflight', 'plan'].map((typed) =>
    row(`${typed} after a run that stopped at a pod`, typed, after(['run --yes'], broken('crash-loop'))),
  ),
  row('a wait that takes too long at a node', 'wait --timeout 1m', after([DOWN], broken('not-ready'))),
];
