import { effects } from '../../src/cli/effects.ts';
import type { Context } from '../../src/kernel/context.ts';
import type { EnginePorts } from '../../src/kernel/effect-type.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { interruptionOf } from '../../src/kernel/interruption.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import type { KeptLine, RunRecord } from '../../src/kernel/run-record.ts';
import { contextOf, type Wanted } from '../fixtures/facts.ts';
import { emptySources } from './empty-sources.ts';
import { NETSVC_TARGET } from './target.ts';

export const CLUSTER_UID = '2c9e0000-0000-4000-8000-000000000001';

export type EngineBench = ReturnType<typeof engineBench>;

/** Ports made of small fakes; what a test does not use throws when touched. With everything that a test watches, and their switches. */
export function engineBench() {
  const [calls, saved]: [string[], RunRecord[]] = [[], []];
  const bench = {
    calls,
    saved,
    soft: new AbortController(),
    hard: new AbortController(),
    lost: new AbortController(),
    /** Answers of the tools by command line; missing = exit 0. */
    tools: new Map<string, { exitCode: number | undefined; stderr: string; problem?: 'not-found' }>(),
    uid: CLUSTER_UID,
    /** False: the lease was not renewed for too long, and nothing has noticed yet. */
    held: true,
    /** No other run had the lock since the command began. */
    undisturbed: false,
    lockedBy: undefined as string | undefined,
    stored: undefined as RunRecord | undefined,
    /** What was kept, by its id. */
    kept: new Map<string, unknown>(),
  };
  const { soft, hard, lost } = bench;
  const ports = {
    effects,
    operator: 'tester@here',
    toolVersion: '0.0.0',
    interruption: interruptionOf(soft.signal, hard.signal),
    clock: { now: () => new Date('2026-11-21T02:00:00Z'), sleep: async () => undefined },
    cluster: fakeCluster(bench),
    tools: {
      async run({ tool, args }: { tool: string; args: readonly string[] }) {
        const line = [tool, ...args].join(' ');
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
      kept: async (id: string) => bench.kept.get(id),
      keptWith: async (part: string) => {
        const found = [...bench.kept].filter(([id]) => id.includes(part)).sort(([one], [other]) => (one < other ? -1 : 1));
        return found.map(([id, content]) => ({ id, content }));
      },
    },
    journal: emptySources().journal,
    lock: {
      holder: async () => undefined,
      left: async () => undefined,
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
  return Object.assign(bench, { ports });
}

function fakeCluster(bench: { uid: string; calls: string[] }) {
  return {
    get: async (): Promise<KubeObject> => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid: bench.uid } }),
    resolve: async () => ({ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true }),
    patch: async (_kind: unknown, ref: { name: string }) => void bench.calls.push(`patch ${ref.name}`),
    dryRunPatch: async (_kind: unknown, ref: { name: string }) => void bench.calls.push(`dry-run patch ${ref.name}`),
  };
}

export function engineContext(options: Wanted = {}): Context {
  return {
    ...contextOf({ release: NETSVC_TARGET, yes: true, maxFailed: 0, ...options }),
    ...{
      profile: { name: 'netsvc', title: 'netsvc', minimumSource: 'v3.15.0', testedLines: [] as Profile['testedLines'] } as Profile,
      clusterUid: CLUSTER_UID,
      server: 'https://127.0.0.1:6443',
    },
    intent: { kind: 'upgrade' },
    ...{ contextName: 'test', workFolder: 'work', startedAt: new Date('2026-11-21T02:00:00Z') },
  };
}
