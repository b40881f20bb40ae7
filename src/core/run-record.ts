/** Version of the record's layout. A newer one than this program knows is refused, never rewritten. */
export const RUN_RECORD_VERSION = 1;

export interface StageRecord {
  readonly id: string;
  readonly state: 'running' | 'done' | 'skipped' | 'failed';
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly because?: string;
}

/**
 * What the cluster cannot tell any more once writing has begun (house rule 4).
 * One per cluster; written before the first write and before every removal. Never holds a Secret's value.
 */
export interface RunRecord {
  readonly version: typeof RUN_RECORD_VERSION;
  readonly runId: string;
  readonly clusterUid: string;
  readonly profile: string;
  readonly target: string;
  readonly path: string;
  readonly variant?: string;
  /** Release that was installed when the run began. */
  readonly source?: string;
  /** sha256 of artifacts by file name, `upgrade.yaml` among them. */
  readonly digests: Readonly<Record<string, string>>;
  readonly startedAt: string;
  readonly startedBy: string;
  readonly toolVersion: string;
  readonly accepted: readonly string[];
  readonly stages: readonly StageRecord[];
  /** Ids of actions whose `keep` is stored; the content is beside the record. */
  readonly kept: readonly string[];
  readonly backup?: string;
  readonly finishedAt?: string;
  readonly outcome?: 'done' | 'failed' | 'stopped' | 'interrupted';
}

/** True if the record is of an unfinished run to this target. */
export function continues(record: RunRecord | undefined, target: string): record is RunRecord {
  return record !== undefined && record.finishedAt === undefined && record.target === target;
}
