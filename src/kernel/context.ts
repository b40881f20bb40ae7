import type { Severity } from './defect.ts';
import type { Side } from './edit-trace.ts';
import type { InstallPath } from './installation.ts';
import type { Profile } from './profile.ts';

export type OwnerChoice = 'new' | 'drop';

/** `--accept CHECK-ID[=SUBJECT]`. */
export interface Acceptance {
  readonly check: string;
  readonly subject?: string;
}

export type DryRun = 'none' | 'server' | 'client';

/** Everything the user chose, after flags, environment and defaults. */
export interface Options {
  /** Target release tag: `v3.32.2`. */
  readonly release: string;
  readonly path?: InstallPath;
  readonly variant?: string;
  readonly upgradeFile?: string;
  /** Manifest of the installed release, where the artifact source has none (file, or folder of the release layout). */
  readonly base?: string;
  /** The manifest that was installed, with the edits in it. */
  readonly installedManifest?: string;
  /** Endpoints of the key-value store, instead of the installed ones. */
  readonly kvstoreEndpoints?: string;
  /** Decisions about edits, by the `field` of a conflict. */
  readonly resolutions?: Readonly<Record<string, Side>>;
  /** Of an owner that is another than the recorded one: the reference goes to the one that is there now, or is left off for good (NS-746). */
  readonly ownerChoices?: Readonly<Record<string, OwnerChoice>>;
  /** The operator's chart: a name in a repository, an OCI address, a packed file or a folder. */
  readonly chart?: string;
  readonly chartRepository?: string;
  /** The chart with the CRDs, rendered instead of the release's CRD file. */
  readonly crdChart?: string;
  /** The user's own values for the chart, over those of the release. */
  readonly chartValues?: string;
  /** The operator is to apply the CRDs itself (option 2 of §4.2). */
  readonly manageCrds?: boolean;
  /** A chart release that lives in another namespace than its operator is to be moved there. */
  readonly moveRelease?: boolean;
  readonly accept: readonly Acceptance[];
  readonly failOn: Severity;
  readonly dryRun: DryRun;
  readonly yes: boolean;
  /** Limit of each wait in milliseconds; undefined scales with the number of nodes. */
  readonly timeoutMs?: number;
  /** Failed pods at which a wait gives up. */
  readonly maxFailed: number;
  readonly holdPolicyMigration: boolean;
  /** Who takes over fields that were applied client-side; `first` unless said. */
  readonly ownership?: OwnershipMode;
  /** The flow-log aggregator and its UI are wanted (§4.3/3). */
  readonly enableFlowLogs?: boolean;
  /** Take back what an earlier run of the stage did (`hep --undo`). */
  readonly undo?: boolean;
  /** A mesh template of the user's own (`alp --template`). */
  readonly template?: string;
  readonly onlyTemplate?: boolean;
  /** Workloads restarted at a time. */
  readonly batch?: number;
  /** Restart every meshed workload, not only those with an older sidecar. */
  readonly all?: boolean;
  /** Limits what `alp` restarts. */
  readonly selector?: string;
  readonly namespace?: string;
  /** The temporary policy that the user told to delete, by name. */
  readonly deletePolicy?: string;
  /** A preflight that asks for nothing but reading, and for no Secret. */
  readonly readOnly?: boolean;
  /** Pods that try the network during the wait: their image, and where they may run. */
  readonly probeNetwork?: { readonly image: string; readonly namespace: string };
  readonly withSecrets: boolean;
  readonly backupDir?: string;
  /** Where the new CLI is installed. */
  readonly binDir?: string;
  /** Configuration file of the service's CLI, written where there is none; in key-value mode used instead of the profile's. */
  readonly cliConfig?: string;
  readonly stateNamespace: string;
  /** Whether owner references are removed; `auto` unless said. */
  readonly ownerrefs?: OwnerRefsMode;
  /** Patches a second of actions on many objects; no limit unless said. */
  readonly qps?: number;
  /** Most patches in flight at a time. */
  readonly parallel?: number;
  /** Folder of a second copy of the journal of owner references. */
  readonly journalDir?: string;
  /** The user asked to end the journal of owner references (`ownerrefs forget`). */
  readonly forgetOwners?: boolean;
}

/** `first`: a patch of ours before kubectl's apply; `kubectl`: its apply alone, which does it afterwards. */
export type OwnershipMode = 'first' | 'kubectl';

/** `auto`: what the upgrade would break; `always`: every living reference to the v3 group (§4.8/1); `never`: none. */
export type OwnerRefsMode = 'auto' | 'always' | 'never';

/** Where a stage stands in the chain that is planned or performed. */
export interface ChainPlace {
  /** Stages before it that are only planned: what they will do is not done yet. */
  readonly pending: readonly string[];
  /** Nothing is performed: neither what comes before it nor itself. */
  readonly onlyPlanned: boolean;
  /** Stages after it. */
  readonly later: readonly string[];
  /** The stage has performed a whole plan in this command, and re-checks because that plan asked for it. */
  readonly again?: true;
}

/** What every stage may know besides its own facts. Pure data. */
export interface Context {
  readonly profile: Profile;
  readonly options: Options;
  /** UID of the namespace kube-system: the identity of the cluster. */
  readonly clusterUid: string;
  readonly server: string;
  readonly contextName: string;
  /**
   * The one kubeconfig file that leads here by itself; absent where several files, another context than its current one, flags or a
   * pod's account do.
   */
  readonly kubeconfig?: string;
  /** Folder of downloaded and written files on this machine. */
  readonly workFolder: string;
  /** Digest of the saved plan that was agreed to; a run notes it, so that it can continue with the same file. */
  readonly savedPlan?: string;
  /** Flags of the command line that a continued run needs again, as they were written; no connection and no credential among them. */
  readonly flags?: readonly string[];
  /** Absent where a stage is looked at alone. */
  readonly chain?: ChainPlace;
  /** Start of this run. */
  readonly startedAt: Date;
}
