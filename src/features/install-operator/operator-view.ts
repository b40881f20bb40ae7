import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { ComponentStatusName, OperatorApi } from '../../kernel/operator-names.ts';
import type { Lagging } from '../rollout/index.ts';

/** The names that the end of an upgrade by the operator is identified by; data of the profile. */
export interface OperatorEndNames {
  readonly deployment: { readonly namespace: string; readonly name: string };
  readonly installation: Kind;
  /** Kind of the component statuses, in the group of the Installation: `TigeraStatus`. */
  readonly statusKind: string;
  /** Namespace of the components. */
  readonly workloads: string;
  /** Field of the Installation's status with the release. */
  readonly versionField: string;
  readonly statuses: readonly ComponentStatusName[];
  /** Workloads that must be there, `DaemonSet/calico-node`: an empty namespace is not a finished one. */
  readonly required: readonly string[];
  readonly api: OperatorApi;
}

/** What the target release runs. */
export interface OperatorTarget {
  readonly release: string;
  /** The whole image of the operator's container, with the registry in use. */
  readonly operatorImage: string;
  /** Prefix of every image of the components, the registry in use; undefined: any. */
  readonly registry?: string;
  /** Digests (`sha256:…`) of the target release, where images are pinned by digest. */
  readonly digests: readonly string[];
}

/** One look at the cluster: everything a verdict needs; what does not exist is undefined. */
export interface OperatorView {
  readonly names: OperatorEndNames;
  readonly target: OperatorTarget;
  readonly deployment: KubeObject | undefined;
  readonly installation: KubeObject | undefined;
  readonly statuses: readonly KubeObject[];
  /** The `default` resources that switch components on: APIServer, Goldmane, Whisker. */
  readonly resources: readonly KubeObject[];
  /** DaemonSets and Deployments of the namespace of the components. */
  readonly workloads: readonly KubeObject[];
  readonly apiService: KubeObject | undefined;
  readonly oldApiNamespace: KubeObject | undefined;
  /** Pods of the operator and its components, read only while one of their workloads lags. */
  readonly pods?: readonly KubeObject[];
  readonly nodes?: readonly KubeObject[];
  /** Milliseconds since the epoch, for ages of pods. */
  readonly timeMs?: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: number;
}

/** One thing that is not there yet, and why. */
export interface OperatorLag {
  /** 1 operator, 2 release, 3 component statuses, 4 workloads, 5 API of the v3 group. */
  readonly point: 1 | 2 | 3 | 4 | 5;
  readonly subject: string;
  readonly why: string;
  /** What shows more, where a pod is known that keeps it from its end. */
  readonly command?: string;
  /** That pod. */
  readonly pod?: Lagging;
}
