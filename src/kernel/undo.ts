import { command } from './command.ts';
import { type DataPlane, type InstallPath, isOperated, KEY_VALUE, MANIFESTS, OPERATED } from './installation.ts';
import type { Intent } from './intent.ts';
import { isOlder, parseRelease } from './release.ts';
import { type Said, text } from './step.ts';

/** Why there is no undo from an action on. */
export interface NoReturnReason {
  /** In a plan. */
  readonly short: string;
  /** Whole sentences: who does what, and what it means for whoever wants to go back. */
  readonly long: string;
}

/** How far an upgrade has come, as far as going back depends on it. */
export type Reached = 'references' | 'crds' | 'workloads' | 'operator' | 'tables' | 'names';

/** One row: what can be undone from there, by what, and why. */
export interface UndoRow {
  readonly reached: Reached;
  /** For pages. */
  readonly title: string;
  readonly paths: readonly InstallPath[];
  /** Absent: with each. */
  readonly dataPlane?: DataPlane;
  /** Of upgrades from releases before this one, or from it on; absent: of each. */
  readonly before?: string;
  readonly since?: string;
  readonly by: UndoneBy;
  readonly because: string;
}

/** `forward`: nothing goes back, the same command resumes. */
export type UndoneBy = 'command' | 'rollback' | 'forward';

/** For documents, pages and files. */
export const UNDONE_BY: Readonly<Record<UndoneBy, Said>> = {
  command: text`${command`kubectl netsvc-upgrade ownerrefs restore --undo`}, then ${command`kubectl netsvc-upgrade ownerrefs forget`}`,
  rollback: text`${command`kubectl netsvc-upgrade rollback`} (in eBPF mode only from v3.31 on)`,
  forward: 'nothing (fix what is named and run the same command: it resumes)',
};

/** Why an upgrade keeps nothing of what was the user's, without which `rollback` refuses. */
export const NOT_KEPT = 'it was given a finished file (--upgrade-file), or had no base to tell it by (NS-205)';

/** What undoes a row, and why: without what was the user's, the files of the backup alone, and under an operator nothing. */
export function undoneBy({ by, because, paths }: UndoRow, keepsYours: boolean): { readonly by: Said; readonly because: string } {
  if (by !== 'rollback' || keepsYours) return { by: UNDONE_BY[by], because };
  const files = 'the files of the backup, object by object (its RESTORE.md)';
  return {
    by: paths.some((path) => isOperated({ path })) ? UNDONE_BY.forward : files,
    because: `A rollback refuses, as the upgrade did not keep what was yours: ${NOT_KEPT}.`,
  };
}

/** Operators of this release and newer ones run on the new CRDs. */
const OPERATOR_BACK_SINCE = 'v3.30.0';
/** Agents keep connections in another eBPF table from then on. */
const TABLES_SINCE = 'v3.31.0';

/** Points of no return. The texts stand in plans, on screens and on the page; plans and run records have the key. */
export const NO_RETURNS = {
  crds: {
    short: 'CRDs never go back',
    long: 'An operator of Calico v3.29 or older does not start on the new CRDs.',
  },
  operator: {
    short: 'no rollback under an operator',
    long: 'An operator of Calico v3.29 or older does not start on the new CRDs: if you put it back, the cluster is left without an operator.',
  },
  tables: {
    short: 'old agents refuse the new eBPF tables',
    long: 'In eBPF mode new agents keep connections in a table that older agents refuse. A node whose agent is new cannot get its old agent back, short of a restart of the node, which was not tried.',
  },
} as const satisfies Partial<Record<Reached, NoReturnReason>>;

export type NoReturnPoint = keyof typeof NO_RETURNS;

export const isNoReturnPoint = (value: unknown): value is NoReturnPoint => typeof value === 'string' && Object.hasOwn(NO_RETURNS, value);

/** The one table of undo: the row `undo` of screens, the backup’s RESTORE.md and docs/use/going-back.md are made from it. The furthest comes last. */
export const UNDO: readonly UndoRow[] = [
  {
    reached: 'references',
    title: 'ownerReferences are removed',
    paths: [...MANIFESTS, ...OPERATED],
    by: 'command',
    because: 'They are recorded in the cluster, with their UIDs.',
  },
  {
    reached: 'crds',
    title: 'the new CRDs are there, from v3.29 or older',
    paths: OPERATED,
    before: OPERATOR_BACK_SINCE,
    by: 'forward',
    because: NO_RETURNS.crds.long,
  },
  {
    reached: 'crds',
    title: 'the new CRDs are there, from v3.30 or later',
    paths: OPERATED,
    since: OPERATOR_BACK_SINCE,
    by: 'rollback',
    because: 'They stay. An operator of Calico v3.30 or later runs on them, and puts back those that it knows.',
  },
  {
    reached: 'workloads',
    title: 'the new operator is applied, from v3.30 or later',
    paths: OPERATED,
    since: OPERATOR_BACK_SINCE,
    by: 'rollback',
    because:
      'The old operator runs on the new CRDs. It would replace Typha and every agent at once, so a rollback holds the agents until Typha is old, and stores policies under their former names first.',
  },
  {
    reached: 'workloads',
    title: 'the manifest is applied, in part or whole',
    paths: MANIFESTS,
    by: 'rollback',
    because: 'The cluster keeps what every object was, and what of it was yours. Old agents, Typha and controllers run on the new CRDs.',
  },
  {
    reached: 'tables',
    title: 'an agent is new, from v3.30 or older',
    paths: [...MANIFESTS, ...OPERATED],
    dataPlane: 'ebpf',
    before: TABLES_SINCE,
    by: 'forward',
    because: NO_RETURNS.tables.long,
  },
  {
    reached: 'operator',
    title: 'the new operator is applied, from v3.29 or older',
    paths: OPERATED,
    before: OPERATOR_BACK_SINCE,
    by: 'forward',
    because: NO_RETURNS.operator.long,
  },
  {
    reached: 'names',
    title: 'the new controllers run',
    paths: MANIFESTS.filter((path) => !KEY_VALUE.includes(path)),
    by: 'rollback',
    because:
      'The new controllers give stored policies new names, under which the old calicoctl and calico-apiserver do not find them. A rollback stops them, and stores each policy under its former name first.',
  },
  {
    reached: 'names',
    title: 'the new controllers run, and policies are in a key-value store',
    paths: KEY_VALUE,
    by: 'rollback',
    because:
      'They rename policies there as well. A rollback names each of them, and refuses until it is stored under its former name again (NS-762).',
  },
];

/** What decides whether a rollback is possible, as a run record has it. */
export interface Past {
  readonly path: string;
  readonly dataPlane?: DataPlane;
  readonly intent: Pick<Intent, 'from'>;
}

/** For errors of a rollback: under an operator or a chart the files of the backup take nothing back. */
export const BY_FILES = 'on the manifest paths, RESTORE.md in the backup of the upgrade has the commands, object by object';

const isOn = ({ path }: Past, paths: readonly InstallPath[]) => paths.some((one) => one === path);

/** Why `rollback` refuses; undefined where it goes back. */
export function noWayBack(past: Past): string | undefined {
  if (!isOn(past, [...MANIFESTS, ...OPERATED])) return 'its install path is not known';
  const point = noReturnOfOperator(past);
  return point && NO_RETURNS[point].long;
}

/** Why an upgrade from there has no undo once the new operator is applied; undefined where a rollback takes it back, or the path is not known. */
export function noReturnOfOperator(past: Past): NoReturnPoint | undefined {
  const { dataPlane, intent } = past;
  const isOld = (since: string) => intent.from === undefined || parseRelease(intent.from) === undefined || isOlder(intent.from, since);
  if (isOn(past, OPERATED) && isOld(OPERATOR_BACK_SINCE)) return 'operator';
  const isKnown = isOn(past, [...MANIFESTS, ...OPERATED]);
  return isKnown && dataPlane === 'ebpf' && isOld(TABLES_SINCE) ? 'tables' : undefined;
}

/** The rows that hold for upgrades from a release; one that is not known counts as old. */
export function rowsFrom(from: string | undefined): readonly UndoRow[] {
  if (from === undefined || parseRelease(from) === undefined) return UNDO.filter(({ since }) => since === undefined);
  return UNDO.filter(({ before, since }) => (!before || isOlder(from, before)) && (!since || !isOlder(from, since)));
}

/** The row of the furthest point that was reached on a path; undefined for a path that is not known, or where nothing was. */
export function undoRow({ path, intent: { from } }: Pick<Past, 'path' | 'intent'>, reached: readonly Reached[]): UndoRow | undefined {
  return rowsFrom(from).findLast((row) => reached.includes(row.reached) && row.paths.some((one) => one === path));
}
