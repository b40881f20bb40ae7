import type { InstallPath } from './installation.ts';
import type { Said } from './step.ts';

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
      /** A regular expression, whatever the case. */
      readonly matches?: string;
      /** The same of what it must not be. */
      readonly unlike?: string;
      readonly from?: string;
      readonly before?: string;
    }
  /** The packet filter that the agents of the target will use. */
  | { readonly type: 'packetFilter'; readonly oneOf: readonly ('iptables' | 'nftables')[] }
  /** The agents run in eBPF mode. */
  | { readonly type: 'ebpf' }
  /** A BGPPeer that is no node of the cluster; with `sameAs` one of the AS of a node, which is this one unless somebody set another. */
  | { readonly type: 'outerPeer'; readonly sameAs?: string }
  /** A label of a node, with any value. */
  | { readonly type: 'nodeLabel'; readonly key: string }
  /** A DaemonSet or Deployment on the network of the nodes, by a part of one of its images or by a port (`UDP:51820`). */
  | { readonly type: 'hostProgram'; readonly images: readonly string[]; readonly ports?: readonly string[] }
  /** A DaemonSet that has pods. */
  | { readonly type: 'daemonSet'; readonly namespace: string; readonly name: string }
  /** A field below `spec` of the Installation. */
  | ({ readonly type: 'installation'; readonly field: string } & FieldTest)
  /** The operator and its agents reach the API server by a name, and the target's agents resolve it by the DNS of the cluster. */
  | { readonly type: 'apiServerByClusterDns' }
  /** Files from a ConfigMap lie below this folder of the agents' container, and one has a text: a regular expression. */
  | { readonly type: 'agentFile'; readonly below: string; readonly matches: string }
  /** The agents' CNI configuration has a text: a regular expression. */
  | { readonly type: 'cniConfig'; readonly matches: string }
  | { readonly type: 'crd'; readonly name: string }
  /** A node whose address lies within a pool of pod addresses. */
  | { readonly type: 'nodeInPool' }
  | { readonly type: 'path'; readonly oneOf: readonly InstallPath[] }
  /** An aggregated API is registered. */
  | { readonly type: 'apiService'; readonly name: string }
  /** The upgrade begins at a release of one of these ranges. */
  | { readonly type: 'upgradeFrom'; readonly releases: readonly ReleaseRange[] };

export interface ReleaseRange {
  readonly from: string;
  /** The first one that is no longer of it; without it the range has no end. */
  readonly before?: string;
}

/** What is known of one minor line of releases. A line that is not listed never had it; lines newer than the last are as that one ends. */
export type DefectLine = {
  /** The first release of the line that has it. */
  readonly from: string;
} & (
  | {
      /** The first release of the line without it; equal to `from` where the line never had it. */
      readonly fixedIn: string;
    }
  | {
      /** No release of the line is without it: the day (YYYY-MM-DD) of the state of its branch that was looked at. */
      readonly openOn: string;
    }
);

/** What a row of a profile says, whatever it is of. */
export interface DefectText {
  readonly id: string;
  readonly when: readonly DefectCondition[];
  readonly severity: Severity;
  /** What somebody sees who met it. */
  readonly symptom: string;
  /** What happens and why, in one sentence without its full stop. */
  readonly happens: string;
  /** What helps besides another release, in the imperative. */
  readonly advice?: Said;
  /** Threads: `projectcalico/calico#12700`. */
  readonly sources: readonly string[];
}

/** A defect of releases that is known in public, as data. */
export interface Defect extends DefectText {
  /** Whose release it is: the one to install, or the one of the agents' image that will run. */
  readonly of: 'target' | 'agent';
  /** By minor line, oldest first. */
  readonly lines: readonly DefectLine[];
}

/** Releases that differ from others without a defect of the target: old × new. */
export interface ReleaseChange extends DefectText {
  /** `meaning`: settings or objects mean something else. `rollout`: old and new agents disagree while both run. */
  readonly effect: 'meaning' | 'rollout';
  /** The releases that are so. */
  readonly releases: ReleaseRange;
  /** The way that matters: to such a release, away from it, or both. */
  readonly crossed: 'into' | 'out of' | 'either way';
}

export type Severity = 'error' | 'warning';
