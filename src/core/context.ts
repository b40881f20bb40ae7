import type { Severity } from './check.ts';
import type { InstallPath } from './installation.ts';
import type { Profile } from './profile.ts';

/** `--accept CHECK-ID[=SUBJECT]`. */
export interface Acceptance {
  readonly check: string;
  readonly subject?: string;
}

export type DryRun = 'none' | 'server' | 'client';

/** Everything a person chose, after flags, environment and defaults. */
export interface Options {
  /** Target release tag: `v3.32.2`. */
  readonly release: string;
  readonly path?: InstallPath;
  readonly variant?: string;
  readonly upgradeFile?: string;
  /** Manifest of the installed release, where the artifact source has none (file, or folder of the release layout). */
  readonly base?: string;
  readonly accept: readonly Acceptance[];
  readonly failOn: Severity;
  readonly dryRun: DryRun;
  readonly yes: boolean;
  /** Limit of each wait in milliseconds; undefined scales with the number of nodes. */
  readonly timeoutMs?: number;
  /** Failed pods at which a wait gives up. */
  readonly maxFailed: number;
  readonly holdPolicyMigration: boolean;
  /** The flow-log aggregator and its UI are wanted (§4.3/3). */
  readonly enableFlowLogs?: boolean;
  /** Take back what an earlier run of the stage did (`hep --undo`). */
  readonly undo?: boolean;
  /** A mesh template of a person's own (`alp --template`). */
  readonly template?: string;
  readonly onlyTemplate?: boolean;
  /** Workloads restarted at a time. */
  readonly batch?: number;
  /** Restart every meshed workload, not only those with an older sidecar. */
  readonly all?: boolean;
  /** Limits what `alp` restarts. */
  readonly selector?: string;
  readonly namespace?: string;
  /** The temporary policy that a person told to delete, by name. */
  readonly deletePolicy?: string;
  readonly withSecrets: boolean;
  readonly backupDir?: string;
  /** Where the new CLI is installed. */
  readonly binDir?: string;
  readonly stateNamespace: string;
}

/** What every stage may know besides its own facts. Pure data. */
export interface Context {
  readonly profile: Profile;
  readonly options: Options;
  /** UID of the namespace kube-system: the identity of the cluster. */
  readonly clusterUid: string;
  readonly server: string;
  readonly contextName: string;
  /** Folder of downloaded and written files on this machine. */
  readonly workFolder: string;
  /** Start of this run. */
  readonly startedAt: Date;
}
