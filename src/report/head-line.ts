import type { Context } from '../kernel/context.ts';
import { counted } from '../kernel/counted.ts';
import type { Installation } from '../kernel/installation.ts';
import { type RunRecord, UNKNOWN_PATH } from '../kernel/run-record.ts';
import type { Palette } from './colour.ts';

/** What is there, what comes, where. */
export interface UpgradeHead {
  readonly path?: string;
  readonly datastore?: string;
  readonly variant?: string;
  readonly source?: string;
  readonly release: string;
  readonly nodes?: number;
  readonly clusterUid: string;
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
  return {
    ...(installed ? { path: installed.path, datastore: installed.datastore } : {}),
    ...(installed?.variant ? { variant: installed.variant } : {}),
    ...(installed?.release ? { source: installed.release } : {}),
    ...(installed?.nodes === undefined ? {} : { nodes: installed.nodes }),
    release: context.options.release,
    clusterUid: context.clusterUid,
  };
}

/** Of a run, by what it noted when it began: the cluster is not asked for it. */
export function recordHead({ path, variant, source, target, nodes, clusterUid }: RunRecord): UpgradeHead {
  return {
    ...(path === UNKNOWN_PATH ? {} : { path }),
    ...(variant === undefined ? {} : { variant }),
    ...(source === undefined ? {} : { source }),
    ...(nodes === undefined ? {} : { nodes }),
    ...{ release: target, clusterUid },
  };
}

const SHORT = 8;
const DATASTORES: Readonly<Record<string, string>> = { api: 'API datastore', kvstore: 'key-value datastore' };

/** `manifest path, calico, API datastore   v3.27.5 → v3.32.1   6 nodes   cluster 05aa2a29…` */
export function headLine(head: UpgradeHead | PlanHead, palette: Palette): string {
  const kind = [head.path ? `${head.path} path` : '', head.variant ?? '', DATASTORES[head.datastore ?? ''] ?? '']
    .filter((part) => part !== '')
    .join(', ');
  const releases = head.source === head.release ? `${head.release} (installed)` : `${head.source ?? 'unknown release'} → ${head.release}`;
  return palette.strong(
    [
      kind,
      head.isUnfinished ? `${releases}, unfinished` : releases,
      head.nodes === undefined ? '' : counted(head.nodes, 'node'),
      `cluster ${short(head.clusterUid)}`,
      'digest' in head ? `plan ${short(head.digest)}` : '',
    ]
      .filter((part) => part !== '')
      .join('   '),
  );
}

const short = (id: string) => (id.length > SHORT ? `${id.slice(0, SHORT)}…` : id);
