import type { Finding } from '../kernel/check.ts';
import type { IntentKind } from '../kernel/intent.ts';

/** The names of stages and commands, and what follows from them: help, completion and flags load nothing else of a command. */

/** The chain's stages in order; an `optional` one is left out unless asked for. A test holds them to the chain itself, which is too heavy to load for help. */
const STAGES = {
  preflight: 'always',
  'probe-nodes': 'optional',
  backup: 'always',
  'ownerrefs-strip': 'always',
  crds: 'always',
  apply: 'always',
  wait: 'always',
  'ownerrefs-restore': 'always',
  cli: 'always',
  alp: 'always',
  hep: 'optional',
  policy: 'optional',
  verify: 'always',
  'ownerrefs-forget': 'always',
} as const;

type StageId = keyof typeof STAGES;

export const STAGE_IDS = Object.keys(STAGES) as readonly StageId[];

/** Stages that the chain holds only when they are asked for. */
export const OPTIONAL_STAGE_IDS = STAGE_IDS.filter((id) => STAGES[id] === 'optional');

/**
 * Every command, in the order of the help. It `performs` stages, `evaluates` them, `returns` to the old release, `targets` one without a
 * stage, `asks` a cluster, `finds` what is not said in one, or is `local`.
 */
export const COMMANDS = {
  preflight: 'performs',
  plan: 'evaluates',
  run: 'performs',
  commit: 'performs',
  rollback: 'returns',
  status: 'asks',
  report: 'asks',
  backup: 'performs',
  ownerrefs: 'targets',
  crds: 'performs',
  alp: 'performs',
  policy: 'performs',
  hep: 'performs',
  apply: 'performs',
  wait: 'performs',
  cli: 'performs',
  verify: 'evaluates',
  unlock: 'asks',
  path: 'finds',
  permissions: 'finds',
  explain: 'local',
  completion: 'local',
  demo: 'local',
} as const;

export type CommandName = keyof typeof COMMANDS;

type Does = (typeof COMMANDS)[CommandName];

export const COMMAND_NAMES = Object.keys(COMMANDS) as readonly CommandName[];

/** The commands that do one of these. */
export const commandsThat = (...does: readonly Does[]): readonly string[] => COMMAND_NAMES.filter((name) => does.includes(COMMANDS[name]));

type Performing = { [C in CommandName]: (typeof COMMANDS)[C] extends 'performs' | 'evaluates' | 'returns' ? C : never }[CommandName];
type OwnerPart = `ownerrefs ${'strip' | 'restore' | 'forget'}`;
type ChainId = Performing | 'demo' | 'demo back' | 'plan back' | OwnerPart;
/** What may come next. */
type NextId = CommandName | OwnerPart;

/** What one command performs, and what comes after it. */
interface ChainRow {
  /** `all`: those of its intent, without what --from, --through, --skip and --include leave out. */
  readonly stages: 'all' | readonly StageId[];
  /** What they are performed for. */
  readonly intent: IntentKind;
  /** The command that comes next; `status` where nothing follows by itself. */
  readonly next: NextId;
  /** The stages that `--undo` takes back, where they are not its own. */
  readonly undoes?: readonly StageId[];
  /** The same after its `--undo`. */
  readonly afterUndo?: NextId;
  /** It shows what `next` would do. */
  readonly onlyPlans?: true;
  /** It is the upgrade, or the rollback: it resumes a run, and continues with what its manual steps and findings ask for. */
  readonly isUpgrade?: true;
  /** It continues an upgrade, part or whole: a rollback never asks for it. */
  readonly leadsForth?: true;
  /** It only continues with a run that is unfinished. */
  readonly goesOn?: true;
  /** Its checks are the point, all of them: whether an upgrade may begin, or what came of one. */
  readonly tells?: 'readiness' | 'result';
  /** Which findings say what comes next, before `next` does. */
  readonly leads?: Finding['leads'];
  /** What does it again: alone it may wait for what nobody has started. */
  readonly resumedBy?: CommandName;
  /** What shows why one of its stages failed, and changes nothing: `preflight` unless it says. */
  readonly shownBy?: CommandName;
  /** Its cluster is gone when it ends. */
  readonly inMemory?: true;
}

export interface Chain extends ChainRow {
  readonly id: ChainId;
}

const intent = 'upgrade';

const ROWS = {
  preflight: { intent, stages: ['preflight'], next: 'plan', tells: 'readiness', leads: 'before' },
  plan: { intent, stages: 'all', next: 'run', onlyPlans: true, leads: 'before' },
  'plan back': { intent: 'rollback', stages: 'all', next: 'rollback', onlyPlans: true },
  run: { intent, stages: 'all', next: 'report', isUpgrade: true, leads: 'after', leadsForth: true },
  commit: { intent, stages: 'all', next: 'report', isUpgrade: true, leads: 'after', goesOn: true },
  rollback: { intent: 'rollback', stages: 'all', next: 'report', isUpgrade: true },
  backup: { intent, stages: ['backup'], next: 'ownerrefs strip' },
  'ownerrefs strip': { intent, stages: ['ownerrefs-strip'], next: 'crds', leadsForth: true },
  crds: { intent, stages: ['crds'], next: 'apply', leadsForth: true },
  apply: { intent, stages: ['apply'], next: 'wait', shownBy: 'wait', leadsForth: true },
  wait: { intent, stages: ['wait'], next: 'ownerrefs restore', resumedBy: 'run', shownBy: 'wait', leadsForth: true },
  // The upgrade is called off: nothing else ends the journal.
  'ownerrefs restore': {
    intent,
    stages: ['ownerrefs-restore'],
    undoes: ['ownerrefs-strip'],
    next: 'cli',
    afterUndo: 'ownerrefs forget',
    leadsForth: true,
  },
  cli: { intent, stages: ['cli'], next: 'alp' },
  alp: { intent, stages: ['alp'], next: 'verify' },
  hep: { intent, stages: ['hep'], next: 'verify' },
  policy: { intent, stages: ['policy'], next: 'verify' },
  verify: { intent, stages: ['verify'], next: 'report', tells: 'result' },
  'ownerrefs forget': { intent, stages: ['ownerrefs-forget'], next: 'status', leadsForth: true },
  demo: { intent, stages: 'all', next: 'preflight', inMemory: true },
  'demo back': { intent: 'rollback', stages: 'all', next: 'preflight', inMemory: true },
} as const satisfies Readonly<Record<ChainId, ChainRow>>;

/** A chain for each command that performs stages. */
export const CHAINS = Object.fromEntries(Object.entries(ROWS).map(([id, row]) => [id, { id, ...row }])) as Readonly<Record<ChainId, Chain>>;

/** Stages that prove the result. */
export const PROOFS: readonly string[] = Object.values(CHAINS).flatMap(({ tells, stages }) => (tells === 'result' ? [...stages] : []));

/** The chain of a command, or of what its argument names: `ownerrefs`, `strip`. Undefined for a command that performs no stage. */
export function chainOf(command: string, argument?: string): Chain | undefined {
  const all: Readonly<Record<string, Chain | undefined>> = CHAINS;
  const id = argument === undefined ? command : `${command} ${argument}`;
  return Object.hasOwn(all, id) ? all[id] : undefined;
}

/** The command whose checks tell that. */
export function telling(tells: NonNullable<ChainRow['tells']>): Chain {
  const found = Object.values(CHAINS).find((one) => one.tells === tells);
  if (!found) throw new Error(`no command tells ${tells}`);
  return found;
}

/** What shows why a stage failed: which pods are late, or what stands against the upgrade. */
export function lookAt(stage: string): string {
  const row = Object.values(CHAINS).find(({ stages }) => stages !== 'all' && stages.some((id) => id === stage));
  return row?.shownBy ?? telling('readiness').id;
}
