import type { EnginePorts } from '../kernel/effect-type.ts';
import { Fault } from '../kernel/fault.ts';
import { type Interruption, interruptionOf } from '../kernel/interruption.ts';
import { JOURNAL_VERSION, type Journal, type JournalForm, type JournalStore } from '../kernel/journal.ts';
import type { Lock } from '../kernel/ports.ts';
import type { Records, RunRecord } from '../kernel/run-record.ts';
import type { UserCommands } from '../kernel/user-command.ts';
import { sandboxArtifacts } from './releases.ts';
import { sandboxMachine, sandboxUserFiles, sandboxWorkFolder } from './sandbox-files.ts';
import { sandboxTools } from './sandbox-tools.ts';
import type { Scenario } from './scenario.ts';

/** Everything the engine acts through, as one process sees it. */
export type SandboxPorts = Omit<EnginePorts, 'effects'>;

export interface ProcessOptions {
  readonly interruption?: Interruption;
  readonly toolVersion?: string;
  readonly identity?: string;
  /** What the user's commands say; all succeed at once unless said. */
  readonly commands?: UserCommands;
}

/** A new process on the scenario; what an earlier one left locked when it was killed is free. */
export function sandboxPorts(scenario: Scenario, form: JournalForm, options: ProcessOptions = {}): SandboxPorts {
  const { cluster, clock, files, state } = scenario;
  if (cluster.faults.killed) {
    cluster.faults.revive();
    delete state.holder;
  }
  const alive = () => cluster.faults.alive();
  const identity = options.identity ?? 'demo@sandbox';
  return {
    cluster,
    clock,
    tools: sandboxTools(cluster, files),
    artifacts: sandboxArtifacts(scenario.releases, cluster.profile),
    store: { ask: async (endpoint) => ({ endpoint, state: 'healthy', because: '' }), value: async () => undefined },
    stored: { releasesOf: async () => [], documentsOf: async () => undefined },
    work: sandboxWorkFolder(files, scenario.workFolder),
    files: sandboxUserFiles(files),
    machine: sandboxMachine(files, alive),
    records: memoryRecords(scenario, alive),
    journal: memoryJournal(scenario, form, alive),
    lock: memoryLock(scenario, identity, alive),
    interruption: options.interruption ?? interruptionOf(new AbortController().signal, new AbortController().signal),
    commands: options.commands ?? { run: async () => ({ durationMs: 1 }) },
    operator: identity,
    toolVersion: options.toolVersion ?? '0.0.0',
  };
}

function memoryRecords({ state }: Scenario, alive: () => void): Records {
  return {
    async load() {
      alive();
      return state.record && (structuredClone(state.record) as RunRecord);
    },
    async save(record) {
      alive();
      state.record = structuredClone(record) as RunRecord;
    },
    async keep(actionId, content) {
      alive();
      state.kept.set(actionId, JSON.stringify(content ?? null));
    },
    async append(lines) {
      alive();
      for (const { id, content, outcome } of lines) {
        if (content !== undefined) state.kept.set(id, JSON.stringify(content));
        if (outcome) state.outcomes.set(id, outcome);
      }
    },
    async kept(actionId) {
      const text = state.kept.get(actionId);
      return text === undefined ? undefined : JSON.parse(text);
    },
    async keptWith(part) {
      const found = [...state.kept].filter(([id]) => id.includes(part)).sort(([a], [b]) => (a < b ? -1 : 1));
      return found.map(([id, text]) => {
        const outcome = state.outcomes.get(id);
        return { id, content: JSON.parse(text), ...(outcome ? { outcome } : {}) };
      });
    },
  };
}

function memoryLock({ state, clock }: Scenario, identity: string, alive: () => void): Lock {
  const now = () => clock.now().toISOString();
  return {
    identity,
    holder: async () => state.holder,
    left: async () => undefined,
    async acquire() {
      alive();
      if (state.holder) {
        const { identity: other, acquiredAt } = state.holder;
        throw new Fault('locked', `${other} has held the lock since ${acquiredAt}`, ['wait until that run ends']);
      }
      const holder = { identity, acquiredAt: now(), renewedAt: now() };
      state.holder = holder;
      const release = async () => {
        alive();
        if (state.holder === holder) delete state.holder;
      };
      return { lost: new AbortController().signal, isHeld: () => true, isUndisturbed: true, release };
    },
    async breakLock() {
      const { holder } = state;
      delete state.holder;
      return holder;
    },
  };
}

/** The journal in memory: it outlives the process that wrote it. */
function memoryJournal({ state, files, cluster, clusterUid }: Scenario, form: JournalForm, alive: () => void): JournalStore {
  const stored = (): Journal | undefined => {
    if (!state.journal) return undefined;
    const entries = form.merged(state.journal);
    return {
      version: JOURNAL_VERSION,
      clusterUid,
      profile: cluster.profile.name,
      runIds: ['sandbox'],
      entries,
      readFrom: 'the sandbox',
      // Counted: nobody changes them here.
      parts: state.journal.map((_, index) => `${index + 1}`),
    };
  };
  return {
    async load() {
      alive();
      return stored();
    },
    async append(entries) {
      alive();
      if (entries.length > 0) state.journal = [...(state.journal ?? []), ...structuredClone(entries)];
    },
    async archive(file) {
      alive();
      files.write(file, JSON.stringify(stored()));
      return file;
    },
    leftOver: async () => false,
    async forget() {
      alive();
      delete state.journal;
    },
  };
}
