import type { Context } from '../kernel/context.ts';
import { ageText, counted } from '../kernel/counted.ts';
import type { DataPlane, Installation } from '../kernel/installation.ts';
import { intentWords } from '../kernel/intent.ts';
import type { LockHolder } from '../kernel/ports.ts';
import { type RunRecord, UNKNOWN_PATH } from '../kernel/run-record.ts';
import type { Palette } from './colour.ts';

/** What is there, what comes, where. */
export interface UpgradeHead {
  readonly path?: string;
  readonly datastore?: string;
  readonly variant?: string;
  readonly dataPlane?: DataPlane;
  readonly source?: string;
  readonly release: string;
  readonly nodes?: number;
  readonly clusterUid: string;
  /** It goes back to an older release. */
  readonly isBack?: boolean;
  /** A run to this release is not finished. */
  readonly isUnfinished?: boolean;
}

/** The first line of a plan. */
export interface PlanHead extends UpgradeHead {
  /** sha256 of the plan; a saved plan is stale when it differs. */
  readonly digest: string;
}

/** If the installation is unclear, the findings say so and the header says less. */
export function upgradeHead(context: Context, installed: Installation | undefined): UpgradeHead {
  const { path, datastore, variant, dataPlane, release: source, nodes } = installed ?? {};
  const { goal, clusterUid, intent } = context;
  return { path, datastore, variant, dataPlane, source, nodes, release: goal.release, clusterUid, isBack: intentWords(intent).goesBack };
}

/** Of a run, by what it noted when it began: the cluster is not asked for it. */
export function recordHead({ path, variant, intent, nodes, clusterUid }: RunRecord): UpgradeHead {
  const { from: source, to: release } = intent;
  const isBack = intentWords(intent).goesBack;
  return { path: path === UNKNOWN_PATH ? undefined : path, variant, source, nodes, release, clusterUid, isBack };
}

const SHORT = 8;
const DATASTORES: Readonly<Record<string, string>> = { api: 'API datastore', kvstore: 'key-value datastore' };

/** `manifest path, calico, API datastore   v3.27.5 → v3.32.1   6 nodes   cluster 05aa2a29…` */
export function headLine(head: UpgradeHead | PlanHead, palette: Palette): string {
  const kind = [head.path ? `${head.path} path` : '', head.variant ?? '', DATASTORES[head.datastore ?? ''] ?? '']
    .filter((part) => part !== '')
    .join(', ');
  const way = `${head.isBack ? 'rollback ' : ''}${head.source ?? 'unknown release'} → ${head.release}`;
  const releases = head.source === head.release ? `${head.release} (installed)` : way;
  return palette.strong(
    [
      kind,
      head.isUnfinished ? `${releases}, unfinished` : releases,
      head.nodes === undefined ? '' : counted(head.nodes, 'node'),
      `cluster ${short(head.clusterUid)}`,
      'digest' in head ? `plan ${short(head.digest)}` : '',
    ]
      .filter((part) => part !== '')
      .map(palette.piece)
      .join('   '),
  );
}

const short = (id: string) => (id.length > SHORT ? `${id.slice(0, SHORT)}…` : id);

/** `anna on host host-1 (process 4711) has held the lock for 4m, at stage apply`. */
export function heldText({ identity, acquiredAt }: LockHolder, record: RunRecord | undefined, now: Date): string {
  const stage = record?.finishedAt === undefined ? record?.stages.findLast(({ state }) => state === 'running')?.id : undefined;
  const since = Date.parse(acquiredAt);
  const holds = Number.isFinite(since) ? `has held the lock for ${ageText(now.getTime() - since)}` : 'holds the lock';
  return `${whoText(identity)} ${holds}${stage === undefined ? '' : `, at stage ${stage}`}`;
}

/** `user@host/pid/run id`, as far as it is that. */
export function whoText(identity: string): string {
  const [, user, host, pid] = /^([^@/]+)@([^/]+)\/(\d+)(?:\/|$)/.exec(identity) ?? [];
  return user === undefined ? identity : `${user} on host ${host} (process ${pid})`;
}
