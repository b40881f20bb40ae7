import type { DefaultValue, Finding, Refusal } from './refusal.ts';
import type { WorkloadName } from './rollout.ts';

/** What is known of an operator: its names, those of its chart, and how its target differs. */
export interface OperatorNames {
  readonly namespace: string;
  readonly deployment: string;
  readonly installationKind: { readonly group: string; readonly version: string; readonly plural: string; readonly kind: string };
  readonly workloadNamespace: string;
  readonly file: string;
  readonly chart: string;
  /** Names of the chart's values; without them no release of it is upgraded. */
  readonly chartNames?: ChartNames;
  /** Operator image minor → service minor, for detection only. */
  readonly releases: Readonly<Record<string, string>>;
  /** Operator image tag → service release, where it is known exactly. */
  readonly exactReleases?: Readonly<Record<string, string>>;
  /** Workloads that the operator renders. */
  readonly agent: WorkloadName;
  readonly controllers: WorkloadName;
  readonly typha?: WorkloadName;
  /** The priority class that older operators gave their pods, and those of today. */
  readonly priorities?: { readonly former: string; readonly agent: string; readonly others: string };
  /** What its agents mount of the node, whatever the data plane is; `since`: the first release of each line that does, newer lines do too. */
  readonly agentMounts?: readonly {
    readonly path: string;
    readonly type: string;
    readonly propagation?: string;
    readonly since: readonly string[];
  }[];
  /** Annotation by which the operator leaves an object as it is: with it Typha is held until every agent is upgraded. */
  readonly ignores?: OperatorIgnores;
  /** Where in the Installation's spec the update strategy of the agents is, as a DaemonSet has it. */
  readonly agentStrategy?: readonly string[];
  /** Labels by which the operator's Deployment is found in another namespace; one is enough. */
  readonly labels: Readonly<Record<string, string>>;
  /** Variable of the operator's container that keeps its tag where the image has none. */
  readonly versionEnv?: string;
  /** Field of the Installation's status with the release, once every component runs it. */
  readonly statusVersionField?: string;
  /** Node label of a migration from a manifest to the operator. */
  readonly migrationLabel?: { readonly key: string; readonly pending: string };
  /** Kinds of the flow-log aggregator and its UI, in the order in which they are applied. */
  readonly flowLogs?: readonly string[];
  /** Kind whose resource connects a hosted console, in the group of the Installation. */
  readonly hostedConsole?: string;
  /** By what the end of an upgrade by the operator is told; undefined where the names are not known. */
  readonly end?: OperatorEnd;
  /** Arguments with which the operator's own program prints every image that it may use, and ends. */
  readonly imageListArgs?: readonly string[];
  /** Argument with which the operator keeps the CRDs as its own release has them. */
  readonly crdsArg?: string;
  /** A folder of the nodes that every agent mounts from a release on, and that has to be a shared mount. */
  readonly sharedMount?: { readonly since: string; readonly path: string };
  /** ConfigMap in the operator's namespace by which operator and agents reach the API server, with the keys of host and port. With the suffix they are those of pods in the pod network. */
  readonly endpoint?: { readonly configMap: string; readonly hostKey: string; readonly portKey: string; readonly podsSuffix: string };
  /** What its target evaluates otherwise; without it nothing of this is checked. */
  readonly crossings?: OperatorCrossings;
  /** With it, lines of the operator that `releases` lacks, though older than its newest, are another product's. */
  readonly otherProducts?: OtherProducts;
}

/** An annotation and its one value with which the operator changes nothing of the object. */
export interface OperatorIgnores {
  readonly annotation: string;
  readonly value: string;
}

/** What the operator's chart is known for: names of its values, data of the profile. */
export interface ChartNames {
  /** Chart repository that the service publishes its charts in; undefined if the user must name one. */
  readonly repository?: string;
  /** Value that leaves the CRDs to the operator: `manageCRDs`. */
  readonly manageCrds: string;
  /** Values that pin the operator's release where they are set. */
  readonly pins: readonly string[];
  /** What newer charts switch on by themselves, and the kind that it adds. */
  readonly additions: readonly { readonly value: string; readonly kind: string }[];
  /** Value without which the target's chart takes the CSI driver away, and what says no to it. */
  readonly csi?: { readonly value: string; readonly off: string };
}

/** By what the end of an upgrade by the operator is told. */
export interface OperatorEnd {
  /** The end of older target releases is identified by other signs, which nothing here knows. */
  readonly since: string;
  /** Kind of the component statuses, in the group of the Installation: `TigeraStatus`. */
  readonly statusKind: string;
  readonly statusPlural: string;
  /** Component statuses of the target release. */
  readonly statuses: readonly ComponentStatusName[];
  readonly api: OperatorApi;
  /** The end of older releases, to which a rollback may go; the oldest first. */
  readonly earlier?: readonly EarlierEnd[];
}

/** By what the end of an operator's work is told that is older than the targets of an upgrade. */
export interface EarlierEnd extends Pick<OperatorEnd, 'since' | 'statuses'> {
  /** Namespace of the API server. */
  readonly apiNamespace: string;
}

/** A component status that the operator writes (`TigeraStatus`), and when it is wanted. */
export interface ComponentStatusName {
  readonly name: string;
  /** Whose generation it has to carry in each of its conditions. `own`: the resource of `kind`, and the status is wanted only where that resource exists. */
  readonly generation: 'installation' | 'own' | 'none';
  readonly kind?: string;
  readonly plural?: string;
  /** Without a resource of this kind the operator cannot make what the status is about: it stays degraded (domain §11.2). */
  readonly needs?: { readonly kind: string; readonly plural: string };
}

/** Where the API of the v3 group is served from. */
export interface OperatorApi {
  /** Kind whose presence means that the API server of the v3 group is wanted. */
  readonly kind: string;
  readonly service: string;
  readonly namespace: string;
  /** Namespace of the API server in old releases; it has to go. */
  readonly oldNamespace: string;
}

/** Names and settings of an operator's installation that its target evaluates otherwise than older ones did (domain §11.3). */
export interface OperatorCrossings {
  /** From a release on policies of the operator come first in the namespace of its workloads. */
  readonly guarded?: {
    readonly since: string;
    readonly namespace: string;
    readonly tier: string;
    /** Their names after the tier's and a dot; what denies all else comes first. */
    readonly policies: readonly string[];
    /** The namespace from which metrics may still be read. */
    readonly scrapers: string;
    /** Ports on which the controllers may reach the API server, whatever its address. */
    readonly apiPorts: readonly number[];
    /** Kinds that lead others to pods. */
    readonly reachedBy: readonly { readonly apiVersion: string; readonly kind: string; readonly plural: string }[];
  };
  /** Certificates that the operator keeps in Secrets of its namespace; `keys` are those of the certificate alone, of which the first counts. */
  readonly certificates?: {
    readonly namespace: string;
    readonly keys: readonly string[];
    /** Common name of what the operator signs today; earlier ones have more after an `@`. */
    readonly signer: string;
    /** Of agents and Typha. */
    readonly secrets: readonly string[];
    /** Of the API server, and the address that it has from a release on. */
    readonly api: { readonly secret: string; readonly name: string; readonly since: string };
  };
  /** Fields of the service's resources that the operator sets by itself, whoever has set them; `where`: only if this field of the Installation's spec is set. */
  readonly writes?: readonly { readonly plural: string; readonly fields: readonly string[]; readonly where?: readonly string[] }[];
  /**
   * Kind of the sets of image digests; with one there, the operator wants the set `prefix` + release too. It takes images of these folders
   * alone, whatever registry they are pulled from, and wants these of every release older than `until`.
   */
  readonly imageSet: {
    readonly kind: string;
    readonly plural: string;
    readonly prefix: string;
    readonly folders: readonly string[];
    readonly wanted: readonly string[];
    readonly until: string;
  };
  /** What the operator refuses of the Installation's spec, after it has filled in its defaults. */
  readonly refused: readonly Refusal[];
  readonly defaults: readonly DefaultValue[];
  /** Values that newer patches of the operator write, and that say no more than a field that is not set. */
  readonly unset: readonly { readonly field: string; readonly value: string }[];
  /** What it finds in the cluster and compares with that spec. */
  readonly findings: readonly Finding[];
  /**
   * The kind of the stored address pools, and where in the Installation's spec the operator has its own list of them. Pools with the label are
   * its own. From a release on the agents' address families go by the pools of the cluster, and no longer by the list.
   */
  readonly pools: {
    readonly plural: string;
    readonly field: readonly string[];
    readonly label: { readonly key: string; readonly value: string };
    readonly familiesSince: string;
  };
  /** The kind that lets the operator install the Gateway API, the admission policy that may refuse its definitions, and the setting for it. */
  readonly gateway: {
    readonly kind: string;
    readonly plural: string;
    readonly policy: string;
    readonly field: string;
    readonly value: string;
    /** Group of the definitions, the annotation with the version of their bundle, and the bundle that each release is made for. */
    readonly definitions: {
      readonly group: string;
      readonly annotation: string;
      readonly bundles: readonly { readonly since: string; readonly version: string }[];
    };
  };
  /**
   * Where the Installation's spec sets the data plane, which decides the agents' packet filter whatever their own configuration says. It
   * gives the default, and the value that lets them use nftables.
   */
  readonly dataPlane: {
    readonly field: readonly string[];
    readonly otherwise: string;
    readonly iptables: string;
    readonly nftables: string;
    /** From this release on that value means: as kube-proxy does. */
    readonly nftablesFollowsProxySince: string;
    /** The value for eBPF, the agents' own setting that the operator writes by it, and the annotation that holds what it wrote last. */
    readonly bpf: { readonly value: string; readonly field: string; readonly annotation: string };
  };
}

/** How installations of this service are told from those of other products that the same operator installs under the same names. */
export interface OtherProducts {
  /** Field of the Installation's spec and status that names the product, and its value for this service. */
  readonly variantField: string;
  readonly variant: string;
  /** Images of the other products' agents: the last part of the path, or more of it (`example.com/other/node`). */
  readonly agentImages: readonly string[];
}
