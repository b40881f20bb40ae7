import assert from 'node:assert/strict';
import { openNotifierFor } from '../../src/cli/compose.ts';
import { effects } from '../../src/cli/effects.ts';
import { askedFor } from '../../src/cli/options.ts';
import { flagsWithRecord } from '../../src/cli/recorded-flags.ts';
import type { ComposeRequest, Composition, Seams } from '../../src/cli/seams.ts';
import type { Action } from '../../src/kernel/action.ts';
import type { CheckId, Verdict } from '../../src/kernel/check.ts';
import type { Installation } from '../../src/kernel/installation.ts';
import { interruptionOf } from '../../src/kernel/interruption.ts';
import type { AnyStage, StagePlan } from '../../src/kernel/stage.ts';
import { type EngineBench, engineBench, engineContext } from './engine-ports.ts';
import { runOclif } from './run-oclif.ts';
import { scripted } from './scripted-stage.ts';
import { NETSVC_TARGET } from './target.ts';

export type CommandBench = ReturnType<typeof commandBench>;

/** A command run in this process, with fake ports at the one seam. */
export function commandBench(chain: readonly AnyStage[], env: Readonly<Record<string, string>> = {}) {
  const engine = engineBench();
  const [out, err, both, questions]: [string[], string[], string[], string[]] = [[], [], [], []];
  const requests: ComposeRequest[] = [];
  const bench = {
    engine,
    out: () => out.join(''),
    err: () => err.join(''),
    /** Both as a terminal shows them, in the order in which they were written. */
    screen: (): readonly string[] => both.join('').trimEnd().split('\n'),
    questions,
    requests,
    /** Answers to questions at a terminal; without any there is no terminal. */
    answers: undefined as boolean[] | undefined,
    /** What the person types where a name is asked for, in order. */
    typed: [] as string[],
    chain,
    closed: 0,
    run: (...argv: readonly string[]): Promise<number> => runOclif(argv, seams),
  };
  const seams: Seams = {
    version: '0.1.0',
    env,
    terminal: {
      out: (text) => void [out, both].map((all) => all.push(text)),
      err: (text) => void [err, both].map((all) => all.push(text)),
      get interactive() {
        return bench.answers !== undefined;
      },
      outIsTerminal: false,
      errIsTerminal: false,
      columns: 80,
      async confirm(question) {
        questions.push(question);
        return bench.answers?.shift() ?? false;
      },
      async ask(question) {
        questions.push(question);
        return bench.typed.shift();
      },
    },
    async compose(request) {
      const { usesRecord: uses, agree = () => assert.fail('nobody can be asked') } = request;
      const asking = { clusterUid: engineContext().clusterUid, uses: uses ?? 'looks', agree };
      const { flags, recorded } = await flagsWithRecord(request.flags, uses && (await engine.ports.records.load()), asking);
      requests.push({ ...request, flags });
      return { ...composition(engine, { ...request, flags }, () => (bench.closed += 1)), recorded };
    },
    loadChain: async () => bench.chain,
    loadEffects: async () => effects,
    installed: async () => installation,
    openNotifier: (value) => openNotifierFor(value, { PATH: process.env.PATH, ...env }),
    listenForInterrupts: () => ({
      ...interruptionOf(engine.soft.signal, engine.hard.signal),
      over: new AbortController().signal,
      release: () => undefined,
    }),
    every: () => () => undefined,
  };
  return Object.assign(bench, { seams });
}

/** Ctrl-C as soon as the run has the lock: planned, and nothing done yet. */
export function interruptedRun({ engine }: Pick<CommandBench, 'engine'>): void {
  const { lock } = engine.ports;
  const { acquire } = lock;
  Object.assign(lock, {
    acquire: () => {
      engine.soft.abort();
      return acquire();
    },
  });
}

const installation = { path: 'manifest', datastore: 'api', release: 'v3.26.4' } as Installation;

function composition(engine: EngineBench, request: ComposeRequest, close: () => void): Composition {
  const wanted = askedFor(request.flags, { defaultRelease: NETSVC_TARGET, checks: ['NS-001', 'NS-002'] });
  const context = { ...engineContext(), ...wanted };
  const nodes = ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } }));
  const cluster = { ...engine.ports.cluster, list: async () => nodes } as unknown as Composition['cluster'];
  return { ...engine.ports, cluster, profile: context.profile, context, close: async () => close() };
}

interface FakeStage extends Pick<Partial<AnyStage>, 'readOnly' | 'judgesResult' | 'reaches'> {
  /** The id of its check. */
  readonly check?: CheckId;
  readonly verdict?: Verdict;
  readonly plan?: StagePlan;
}

/** One stage with one check and a plan. */
export function fakeStage(id: string, { check = 'NS-001', verdict, plan = { skip: 'all is there' }, ...more }: FakeStage = {}): AnyStage {
  const judge = (): Verdict => verdict ?? { status: 'ok' };
  const checks = [{ id: check, title: 'server reachable', category: 'kubernetes', severity: 'error', ref: '§1/1', judge }] as const;
  return scripted(id, [], { title: `stage ${id}`, ref: '§4.4/2', checks, plan: () => plan, ...more });
}

/** Applies a file by kubectl, as the plan of a stage. */
export function applies(file: string): StagePlan {
  const run = { tool: 'kubectl', args: ['apply', '--server-side', '-f', file] } as const;
  const action: Action = { id: file, title: `apply ${file}`, ref: '§4.4/2', undo: 'partial', effect: { type: 'exec', run } };
  return { actions: [action] };
}
