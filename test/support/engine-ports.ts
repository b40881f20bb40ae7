import { effects } from '../../src/cli/effects.ts';
import type { Context, Options } from '../../src/kernel/context.ts';
import type { EnginePorts } from '../../src/kernel/effect-type.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { interruptionOf } from '../../src/kernel/interruption.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import type { KeptLine, RunRecord } from '../../src/kernel/run-record.ts';
import { contextOf } from '../fixtures/facts.ts';

export const CLUSTER_UID = '2c9e0000-0000-4000-8000-000000000001';

/** Everything an engine test watches: calls in order, the record, and the switches of the fakes. */
export interface EngineBench {
  readonly ports: EnginePorts;
  readonly calls: string[];
  readonly saved: RunRecord[];
  readonly soft: AbortController;
  readonly hard: AbortController;
  readonly lost: AbortController;
  /** Answers of the tools by command line; missing = exit 0. */
  readonly tools: Map<string, { exitCode: number | undefined; stderr: string; problem?: 'not-found' }>;
  uid: string;
  /** False: the lease was not renewed for too long, and nothing has noticed yet. */
  held: boolean;
  /** No other run had the lock since the command began. */
  undisturbed: boolean;
  lockedBy: string | undefined;
  stored: RunRecord | undefined;
  /** What was kept, by its id. */
  readonly kept: Map<string, unknown>;
}

/** Ports made of small fakes; what a test does not use throws when touched. */
export function engineBench(): EngineBench {
  const calls: string[] = [];
  const saved: RunRecord[] = [];
  const [soft, hard, lost] = [new AbortController(), new AbortController(), new AbortController()];
  const state = {
    tools: new Map(),
    uid: CLUSTER_UID,
    held: true,
    undisturbed: false,
    lockedBy: undefined,
    stored: undefined,
    kept: new Map(),
  };
  const bench = { ...state, calls, saved, soft, hard, lost } as unknown as { -readonly [K in keyof EngineBench]: EngineBench[K] };
  bench.ports = {
    effects,
    operator: 'tester@here',
    toolVersion: '0.0.0',
    interruption: interruptionOf(soft.signal, hard.signal),
    clock: { now: () => new Date('2026-11-21T02:00:00Z'), sleep: async () => undefined },
    cluster: fakeCluster(bench),
    tools: {
      async run(invocation: { tool: string; args: readonly string[] }) {
        const line = [invocation.tool, ...invocation.args].join(' ');
        calls.push(`exec ${line}`);
        const answer = bench.tools.get(line) ?? { exitCode: 0, stderr: '' };
        return { ...answer, stdout: '', durationMs: 1 };
      },
      programOf: (tool: string) => tool,
    },
    work: {
      path: 'work',
      async write(name: string) {
        calls.push(`write ${name}`);
        return `work/${name}`;
      },
    },
    machine: {},
    records: {
      load: async () => bench.stored,
      save: async (record: RunRecord) => {
        calls.push('record');
        saved.push(record);
        bench.stored = record;
      },
      keep: async (id: string, content: unknown) => {
        calls.push(`keep ${id}`);
        bench.kept.set(id, content);
      },
      append: async (lines: readonly KeptLine[]) => {
        for (const { id, content, outcome } of lines) {
          calls.push(outcome ? `settled ${id} ${outcome.done}` : `keep ${id}`);
          if (!outcome) bench.kept.set(id, content);
        }
      },
      keptHere: async () => true,
      keptWith: async (part: string) => {
        const found = [...bench.kept].filter(([id]) => id.includes(part)).sort(([one], [other]) => (one < other ? -1 : 1));
        return found.map(([id, content]) => ({ id, content }));
      },
    },
    journal: { load: async () => undefined, leftOver: async () => false, elsewhere: async () => [] },
    lock: {
      holder: async () => undefined,
      acquire: async () => {
        if (bench.lockedBy) throw new Fault('locked', `held by ${bench.lockedBy}`, []);
        calls.push('lock');
        return {
          lost: lost.signal,
          isHeld: () => !lost.signal.aborted && bench.held,
          isUndisturbed: bench.undisturbed,
          release: async () => void calls.push('unlock'),
        };
      },
    },
  } as unknown as EnginePorts;
  return bench as EngineBench;
}

function fakeCluster(bench: { uid: string; calls: string[] }) {
  return {
    get: async (): Promise<KubeObject> => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid: bench.uid } }),
    resolve: async () => ({ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true }),
    patch: async (_kind: unknown, ref: { name: string }) => void bench.calls.push(`patch ${ref.name}`),
    dryRunPatch: async (_kind: unknown, ref: { name: string }) => void bench.calls.push(`dry-run patch ${ref.name}`),
  };
}

export function engineContext(options: Partial<Options> = {}): Context {
  return {
    ...contextOf({ release: 'v3.32.2', yes: true, maxFailed: 0, ...options }),
    ...{ profile: { name: 'netsvc', title: 'netsvc' } as Profile, clusterUid: CLUSTER_UID, server: 'https://127.0.0.1:6443' },
    ...{ contextName: 'test', workFolder: 'work', startedAt: new Date('2026-11-21T02:00:00Z') },
  };
}
