import type { Context } from '../../kernel/context.ts';
import type { Installation, InstallPath } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { chartPath } from '../install-chart/index.ts';
import { type FoundTarget, keyValuePath, type MergedTarget, manifestPath } from '../install-manifest/index.ts';
import { type OperatorLag, operatorPath } from '../install-operator/index.ts';
import type { UpgradeWaits } from '../ownerrefs/index.ts';
import type { PlanScope } from '../rights/index.ts';
import type { PathPart, PathParts, TargetFacts } from '../survey/index.ts';

type Read<T> = (sources: Sources, context: Context, installation: Installation) => Promise<T>;

/** All that is done in its own way on an install path: the feature of the path exports one, and nobody else asks which path it is. */
interface PathObject {
  /** What the stages `apply`, `crds` and `wait` are on it, and `apply --undo`; a text says why it does without. */
  readonly apply: PathPart;
  readonly undo: PathPart | string;
  /** It writes the DaemonSet of the agents itself, so a run may set its pace; an operator does otherwise. */
  readonly writesAgents: boolean;
  readonly crds: PathPart | string;
  readonly end: PathPart;
  /** What is left of the upgrade before every pod of the API server is new; asked where one is installed. */
  readonly apiWaits: UpgradeWaits;
  /** What lags by the rule for the end of an operator's work; undefined where none works. */
  readonly lags: Read<readonly OperatorLag[] | undefined>;
  /**
   * What preflight evaluates of the target, and no more; `merge` reads it with the user's edits. What `apply`, `wait` and `verify` go to is
   * read by `readTarget` and `readMergedTarget` of `install-manifest`.
   */
  judgedTarget(sources: Sources, context: Context, installation: Installation, merge: () => Promise<MergedTarget>): Promise<FoundTarget>;
  /** What it takes from the release, below `manifests/`: where their sums are not known, preflight lists those that it sees. */
  files(context: Context, installation: Installation): readonly string[];
  /** What the upgrade writes: the live objects behind it are backed up. */
  readonly written: Read<readonly KubeObject[]>;
  /** Of the target what this program itself applies, and is asked to add: the account needs the right. */
  asked(cluster: ClusterReader, context: Context, target: TargetFacts, installation: Installation): Promise<readonly KubeObject[]>;
  /** What nodes will pull: by documents, and what an operator chooses beside them. `unknown`: sentences. */
  readonly images: Read<{
    readonly documents: readonly KubeObject[];
    readonly images: readonly string[];
    readonly unknown: readonly string[];
  }>;
  /** What Git should hold once it has ended. `removed`: Secrets that are left out of it; `notes`: what else to change there. */
  readonly inGit: Read<{
    readonly objects: readonly KubeObject[];
    readonly removed: readonly KubeObject[];
    readonly notes: readonly string[];
  }>;
  /** What its roles are made from; `documents`: of the variant that was named. */
  scope(profile: Profile, documents?: readonly KubeObject[]): PlanScope;
  /** By which `permissions` prints the roles for it. */
  roleFlags(installation: Installation): readonly string[];
}

/** Every install path. A new one is a row here, its traits in the kernel, and its feature. */
export const paths: Readonly<Record<InstallPath, PathObject>> = {
  manifest: manifestPath,
  kvstore: keyValuePath,
  chart: chartPath,
  operator: operatorPath,
};

export const pathOf = ({ path }: Pick<Installation, 'path'>): PathObject => paths[path];

/** What a stage is on each path. */
export function onPaths(part: (path: PathObject) => PathPart | string): PathParts {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, part(path)])) as PathParts;
}
