import type { DataPlane, InstallPath } from './installation.ts';
import type { Intent } from './intent.ts';
import { isOlder } from './release.ts';

/** Why there is no undo from an action on. */
export interface NoReturnReason {
  /** In a plan and in the run record: `policies get new names`. */
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
  readonly by: UndoneBy;
  readonly because: string;
}

/** `forward`: nothing goes back, the same command resumes. */
export type UndoneBy = 'command' | 'rollback' | 'forward';

/** For pages and files. */
export const UNDONE_BY: Readonly<Record<UndoneBy, string>> = {
  command: '`kubectl netsvc-upgrade ownerrefs restore --undo`, then `ownerrefs forget`',
  rollback: '`kubectl netsvc-upgrade rollback`',
  forward: 'nothing (fix what is named and run the same command: it resumes)',
};

const MANIFESTS: readonly InstallPath[] = ['manifest', 'kvstore'];
const OPERATED: readonly InstallPath[] = ['operator', 'chart'];

/** Points of no return. The texts stand in plans, in run records (`short`), on screens and on the page. */
export const NO_RETURNS = {
  crds: {
    short: 'CRDs never go back',
    long: 'An operator of Calico v3.29 or older does not start on the new CRDs. Those of v3.30 and v3.31 do, and put back the CRDs that they know; this program does not go back with them.',
  },
  operator: {
    short: 'no rollback under an operator',
    long: 'An operator of Calico v3.29 or older does not start on the new CRDs: if you put it back, the cluster is left without an operator. Those of v3.30 and v3.31 start, and replace Typha and every agent at once; this program does not go back with them.',
  },
  tables: {
    short: 'old agents refuse the new eBPF tables',
    long: 'In eBPF mode new agents keep connections in a table that older agents refuse. A node whose agent is new cannot get its old agent back, short of a restart of the node, which was not tried.',
  },
} as const satisfies Partial<Record<Reached, NoReturnReason>>;

/** The one table of undo: the row `undo` of screens, the backup’s RESTORE.md and docs/use/going-back.md are made from it. The furthest comes last. */
export const UNDO: readonly UndoRow[] = [
  {
    reached: 'references',
    title: 'ownerReferences are removed',
    paths: [...MANIFESTS, ...OPERATED],
    by: 'command',
    because: 'They are recorded in the cluster, with their UIDs.',
  },
  { reached: 'crds', title: 'the new CRDs are there', paths: OPERATED, by: 'forward', because: NO_RETURNS.crds.long },
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
    paths: MANIFESTS,
    dataPlane: 'ebpf',
    by: 'forward',
    because: NO_RETURNS.tables.long,
  },
  { reached: 'operator', title: 'the new operator is applied', paths: OPERATED, by: 'forward', because: NO_RETURNS.operator.long },
  {
    reached: 'names',
    title: 'the new controllers run',
    paths: ['manifest'],
    by: 'rollback',
    because:
      'The new controllers give stored policies new names, under which the old CLI and the old API server of the service do not find them. A rollback stops them, and stores each policy under its former name first.',
  },
];

/** What decides whether a rollback is possible, as a run record has it. */
export interface Past {
  readonly path: string;
  readonly dataPlane?: DataPlane;
  readonly intent: Pick<Intent, 'from'>;
}

/** Agents keep connections in another eBPF table from then on. */
const TABLES_SINCE = 'v3.31.0';

/** Why `rollback` refuses; undefined where it goes back. */
export function noWayBack({ path, dataPlane, intent: { from } }: Past): string | undefined {
  if (MANIFESTS.every((one) => one !== path)) return NO_WAY[path] ?? 'its install path is not known';
  if (dataPlane === 'ebpf' && (from === undefined || isOlder(from, TABLES_SINCE))) return NO_RETURNS.tables.long;
  return undefined;
}

const NOT_TRIED = 'an operator installs the service here, and this program goes back on manifest installs alone';
const NO_WAY: Readonly<Record<string, string>> = { operator: NOT_TRIED, chart: NOT_TRIED };

/** The row of the furthest point that was reached on a path; undefined for a path that is not known, or where nothing was. */
export function undoRow(path: string, reached: readonly Reached[]): UndoRow | undefined {
  return UNDO.findLast((row) => reached.includes(row.reached) && row.paths.some((one) => one === path));
}
