import type { Severity } from './defect.ts';
import type { InstallPath } from './installation.ts';
import type { Intent, TakenBack } from './intent.ts';
import type { Profile } from './profile.ts';

/** `--accept CHECK-ID[=SUBJECT]`. */
export interface Acceptance {
  readonly check: string;
  readonly subject?: string;
}

export type DryRun = 'none' | 'server' | 'client';

/** Everything the user chose, after flags, environment and defaults. */
export interface Options {
  readonly path?: InstallPath;
  readonly variant?: string;
  readonly accept: readonly Acceptance[];
  readonly failOn: Severity;
  readonly dryRun: DryRun;
  readonly yes: boolean;
  /** Limit of each wait in milliseconds; undefined scales with the number of nodes. */
  readonly timeoutMs?: number;
  /** Failed pods that a wait still tolerates: with one more it gives up. */
  readonly maxFailed: number;
  readonly namespace?: string;
  /** Patches a second of actions on many objects; no limit unless said. */
  readonly qps?: number;
  /** Most patches in flight at a time. */
  readonly parallel?: number;
}

/** What is wanted, whichever flags said so: a stage goes there from what it finds. */
export interface Goal {
  /** Release tag: `v3.32.2`. */
  readonly release: string;
  /** Only of a rollback: the upgrade that is taken back. */
  readonly takesBack?: TakenBack;
}

/** The context as of an upgrade to that release, whose files are asked for: nothing is taken back on the way there. */
export const goingTo = (context: Context, release: string): Context => ({ ...context, goal: { release } });

/** Where a stage stands in the chain that is planned or performed. */
export interface ChainPlace {
  /** Stages before it that are only planned: what they will do is not done yet. */
  readonly pending: readonly string[];
  /** Nothing is performed: neither what comes before it nor itself. */
  readonly onlyPlanned: boolean;
  /** Stages before it, planned or performed. */
  readonly earlier?: readonly string[];
  /** Stages after it. */
  readonly later: readonly string[];
  /** The stage has performed a whole plan in this command, and re-checks because that plan asked for it. */
  readonly again?: true;
}

/** What every stage may know besides its own facts. Pure data. */
export interface Context {
  readonly profile: Profile;
  readonly options: Options;
  readonly goal: Goal;
  /** What the command is for: how it goes to the goal. */
  readonly intent: Pick<Intent, 'kind'>;
  /** UID of the namespace kube-system: the identity of the cluster. */
  readonly clusterUid: string;
  readonly server: string;
  readonly contextName: string;
  /** The kubeconfig file that leads here by itself; absent with several files, another context, flags or a pod's account. */
  readonly kubeconfig?: string;
  /** Folder of downloaded and written files on this machine. */
  readonly workFolder: string;
  /** Digest of the saved plan that was agreed to; a run notes it, so that it can continue with the same file. */
  readonly savedPlan?: string;
  /** Flags of the command line that a continued run needs again, as they were written; no connection and no credential among them. */
  readonly flags?: readonly string[];
  /** What flags begin with that a continued run has no longer, as `--canary=`: it was not given them again. */
  readonly leftFlags?: readonly string[];
  /** Absent where a stage is looked at alone. */
  readonly chain?: ChainPlace;
  /** Start of this run. */
  readonly startedAt: Date;
}
