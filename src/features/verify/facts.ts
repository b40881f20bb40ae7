import type { Check, Reading } from '../../kernel/check.ts';
import type { Datastore } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Lacking } from '../../kernel/owner-journal.ts';
import type { RolloutProgress } from '../../kernel/rollout.ts';
import type { OperatorLag } from '../install-operator/index.ts';
import type { Dependent } from '../survey/index.ts';

/** What one source says about the cluster's version: a value, or why it has none. */
export interface VersionAnswer {
  /** Who was asked: `/usr/local/bin/calicoctl version`. */
  readonly by: string;
  /** As printed. */
  readonly value?: string;
  readonly because?: string;
}

export interface ClusterVersionFacts {
  /** The new CLI; undefined if none could be asked, with the reason. */
  readonly cli: VersionAnswer | { readonly notAsked: string };
  /** The cluster's own record in the API. */
  readonly record: Reading<VersionAnswer>;
}

export interface ServiceImage {
  /** `Pod/kube-system/calico-node-x` */
  readonly pod: string;
  readonly container: string;
  readonly image: string;
  /** Undefined for a digest and for tags that are no release. */
  readonly release?: string;
  /** The service's CLI in a pod: it does no work of the cluster. */
  readonly isCli: boolean;
}

/** References to owners of the service's v3 group, and which owners there are now. */
export interface OwnerFacts {
  readonly dependents: readonly Dependent[];
  /** What there is, by `group/Kind`; a kind that could not be listed, or that nobody serves, is in `unread`. */
  readonly owners: Readonly<Record<string, OwnerObjects>>;
  readonly unread: readonly { readonly kind: string; readonly because: string }[];
}

/** The objects of one kind that own something. */
export interface OwnerObjects {
  readonly namespaced: boolean;
  /** UID by `ownerKey`. */
  readonly uids: ReadonlyMap<string, string>;
  /** Listed under this name (`ownerKey`), but not found by it, and so not in `uids`. */
  readonly mute?: ReadonlySet<string>;
}

export function ownerKey(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/** The result of the upgrade, as the checks of `verify` see it. */
export interface VerifyFacts {
  readonly datastore: Reading<Datastore>;
  readonly clusterVersion: ClusterVersionFacts;
  /** Every container of the service in the cluster, whatever manifest it came from. */
  readonly images: Reading<readonly ServiceImage[]>;
  readonly rollouts: Reading<readonly RolloutProgress[]>;
  /** What events and logs say of pods that keep a rollout from its end; read only where one is not done. */
  readonly reasons: readonly string[];
  /** What lags by the rule for the end of an upgrade by the operator; undefined on other paths. */
  readonly operator: Reading<readonly OperatorLag[] | undefined>;
  /** Undefined on paths without a full manifest to compare with. */
  readonly leftovers: Reading<readonly { readonly object: string; readonly names: readonly string[] }[] | undefined>;
  /** CRDs that the target no longer has, and how many objects each still holds. */
  readonly leftBehind: Reading<readonly { readonly name: string; readonly objects: number }[]>;
  readonly temporaryPolicies: Reading<readonly KubeObject[]>;
  readonly owners: Reading<OwnerFacts>;
  readonly stillOff: Reading<StillOff>;
  /** CLIs on PATH. */
  readonly clis: Reading<readonly { readonly file: string; readonly release?: string }[]>;
}

/** References that were removed, and wait. */
export interface StillOff {
  /** Objects whose references are recorded as removed, if putting them back has not ended since. */
  readonly objects: number;
  /** Other namespaces with such a record; null where this account may not look. */
  readonly elsewhere: readonly string[] | null;
  /** What the run record says that was removed, where the journal does not hold it. */
  readonly lacking?: Lacking;
}

export type VerifyCheck = Check<VerifyFacts>;
