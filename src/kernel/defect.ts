/** What a field must have: any value unless tested. In a list, one item must be of `oneOf` and none of `noneOf`, which alone also holds where it is not set. */
export interface FieldTest {
  readonly oneOf?: readonly string[];
  readonly noneOf?: readonly string[];
  /** With `oneOf`: one of these, or not set. Alone: not set. */
  readonly absent?: boolean;
}

/** One fact of a cluster under which a defect matters. All conditions of a defect must hold. */
export type DefectCondition =
  /** A stored resource of the service; `fields` are paths below `spec`, of which one is enough, and lists on the way are searched. */
  | ({ readonly type: 'resource'; readonly plurals: readonly string[]; readonly fields: readonly string[] } & FieldTest)
  /** A setting of the agents, by their environment or their configuration. */
  | ({ readonly type: 'setting'; readonly name: string } & FieldTest)
  /** What a node reports of itself. One of `startsWith`, if given; versions are compared number by number. */
  | {
      readonly type: 'node';
      readonly field: 'osImage' | 'kernelVersion' | 'containerRuntimeVersion' | 'architecture';
      readonly startsWith?: readonly string[];
      readonly from?: string;
      readonly before?: string;
    }
  /** The packet filter that the agents of the target will use. */
  | { readonly type: 'packetFilter'; readonly oneOf: readonly ('iptables' | 'nftables')[] }
  /** A DaemonSet or Deployment on the network of the nodes, by a part of one of its images. */
  | { readonly type: 'hostProgram'; readonly images: readonly string[] }
  | { readonly type: 'crd'; readonly name: string }
  /** A node whose address lies within a pool of pod addresses. */
  | { readonly type: 'nodeInPool' }
  | { readonly type: 'path'; readonly oneOf: readonly string[] }
  /** The upgrade begins at a release of this range. */
  | { readonly type: 'upgradeFrom'; readonly releases: ReleaseRange };

export interface ReleaseRange {
  readonly from: string;
  /** The first one that is no longer of it; without it the range has no end. */
  readonly before?: string;
  /** Patch releases of older lines that are not of it, and with them those that follow in their line. */
  readonly backports?: readonly string[];
}

/** A defect of releases that is known in public, as data. */
export interface Defect {
  readonly id: string;
  /** Whose release it is: the one that is installed, the one to install, or the one of the agents' image that will run. */
  readonly of: 'source' | 'target' | 'agent';
  readonly releases: ReleaseRange;
  readonly when: readonly DefectCondition[];
  readonly severity: Severity;
  /** What somebody sees who met it. */
  readonly symptom: string;
  /** What happens and why, in one sentence without its full stop. */
  readonly happens: string;
  /** The first release without it. */
  readonly fixedIn?: string;
  /** What helps besides another release, in the imperative. */
  readonly advice?: string;
  /** Threads: `projectcalico/calico#12700`. */
  readonly sources: readonly string[];
}

export type Severity = 'error' | 'warning';
