import type { Defect, FieldTest, ReleaseChange } from './defect.ts';
import type { Datastore } from './installation.ts';
import type { Kind } from './object.ts';
import type { OperatorNames } from './operator-names.ts';
import type { WorkloadName } from './rollout.ts';

/** A manifest variant: the file, and how to recognise what was installed from it. */
export interface Variant {
  readonly id: string;
  readonly title: string;
  readonly file: string;
  readonly datastore: Datastore;
  readonly agent: WorkloadName;
  readonly controllers: WorkloadName;
  readonly typha?: WorkloadName;
  readonly configMap: string;
  /** Facts of live objects that tell this variant from its siblings; all must hold. */
  readonly signs: readonly Sign[];
}

/**
 * One recognisable fact, present unless tested; `env` reads the agent container, ConfigMap references resolved. `oneOf` with `absent`: one
 * of these or not present; `noneOf` also holds where it is not present.
 */
export type Sign =
  | ({ readonly type: 'env'; readonly name: string } & FieldTest)
  | ({ readonly type: 'configMapKey'; readonly key: string } & FieldTest)
  | { readonly type: 'container'; readonly name: string; readonly absent?: boolean }
  | { readonly type: 'workload'; readonly kind: 'DaemonSet' | 'Deployment'; readonly name: string; readonly absent?: boolean };

/** How the agent is told where its data is stored (domain §2.3). */
export interface DatastoreFacts {
  /** Variable of the agent that names the datastore, and its values. */
  readonly env: string;
  readonly api: readonly string[];
  readonly kvstore: readonly string[];
  /** Any of these variables of the agent means a key-value store where `env` is not set. */
  readonly endpointsEnv: readonly string[];
  /** ConfigMap key of the endpoints: `kvstore_endpoints`. */
  readonly endpointsKey: string;
  /** ConfigMap keys of paths to TLS files. */
  readonly tlsKeys: readonly string[];
  /** Secret with the TLS material, and its keys. */
  readonly secret?: string;
  readonly secretKeys: readonly string[];
  /** Texts that only an unedited manifest has in its endpoints. */
  readonly placeholders: readonly string[];
  /** Before the keys of the service's resources: `PREFIX/clusterinformations/default`. */
  readonly resourcesKey?: string;
  /** How the store is told to write a snapshot; flags of the certificates in the order of `tlsKeys`. */
  readonly snapshot?: { readonly command: string; readonly endpointFlag: string; readonly tlsFlags: readonly string[] };
  /** Datastore when nothing of this is set; undefined: the user must say. */
  readonly otherwise?: Datastore;
}

/** A sign that a platform, and not the user at the terminal, manages the installation (domain §2.4). */
export type PlatformSign =
  /** A label or annotation of the agents, the operator or the Installation; a key that ends with `/` and the `value` are prefixes. */
  | { readonly type: 'label'; readonly key: string; readonly value?: string }
  | { readonly type: 'annotation'; readonly key: string; readonly value?: string }
  /** Prefix of a field manager of the same objects. */
  | { readonly type: 'manager'; readonly prefix: string }
  /** A part of an image of the agents, the controllers or the operator. */
  | { readonly type: 'image'; readonly contains: string }
  | { readonly type: 'workload'; readonly kind: 'DaemonSet' | 'Deployment'; readonly name: string }
  | { readonly type: 'configMap'; readonly name: string }
  | { readonly type: 'configMapKey'; readonly key: string; readonly contains?: string }
  /** Prefix of a host path that the agents mount. */
  | { readonly type: 'hostPath'; readonly prefix: string }
  /** Prefix of the name of the operator's chart release. */
  | { readonly type: 'chartRelease'; readonly prefix: string }
  | { readonly type: 'crd'; readonly name: string };

/** Any one sign is enough. */
export interface Platform {
  readonly id: string;
  readonly title: string;
  readonly hint: string;
  readonly signs: readonly PlatformSign[];
}

/** A component that has a manifest of its own beside the full install (`apiserver.yaml`). */
export interface AddOn {
  readonly id: 'apiserver' | 'csi';
  readonly file: string;
  readonly workload: WorkloadName;
  readonly otherNamespaces: readonly string[];
}

/** What the service calls its own CLI and what belongs to it. */
export interface CliNames {
  /** Name of the service's own CLI: `netsvcctl`, `calicoctl`. */
  readonly program: string;
  /** The same CLI as a kubectl plugin: `kubectl-calico`. */
  readonly kubectlPlugin: string;
  /** Images of the CLI when it runs in a pod. */
  readonly images: readonly string[];
  /** Path below `{manifest_url}/<release>/`, or an absolute URL; `{release}`, `{os}`, `{arch}` are filled in. */
  readonly artifact: string;
  /** Environment variables that must never reach the CLI unless we set them. */
  readonly environment: readonly string[];
  /** `v3.32.x` or `v3.32`, as `version` prints it per datastore (§9/3): both are evaluated by minor line. */
  readonly configFile: string;
  /** How its configuration file is written; where this is not known the file is the user's. */
  readonly config?: CliConfigForm;
  /** Kinds that hold the user's data, as `get` takes them; releases may lack some. */
  readonly kinds?: { readonly cluster: readonly string[]; readonly namespaced: readonly string[] };
}

/** Head and names of the fields below `spec` of the CLI's configuration file. */
export interface CliConfigForm {
  readonly apiVersion: string;
  readonly kind: string;
  readonly datastoreField: string;
  readonly kubeconfigField: string;
  readonly endpointsField: string;
  /** Paths of certificate files, in the order of the datastore's `tlsKeys`. */
  readonly tlsFields: readonly string[];
}

/** Such a file: YAML, with texts quoted as JSON quotes them, which YAML reads alike. */
export function cliConfigText({ apiVersion, kind }: CliConfigForm, spec: Readonly<Record<string, string>>): string {
  const fields = Object.entries(spec).map(([field, value]) => `  ${field}: ${JSON.stringify(value)}`);
  return [`apiVersion: ${apiVersion}`, `kind: ${kind}`, 'metadata:', 'spec:', ...fields, ''].join('\n');
}

/** The one that leads to the API datastore by a kubeconfig; undefined where the profile does not say how it is written. */
export function cliConfigFor({ cli, datastore }: Profile, kubeconfig: string): string | undefined {
  const [type] = datastore.api;
  if (cli.config === undefined || type === undefined) return undefined;
  return cliConfigText(cli.config, { [cli.config.datastoreField]: type, [cli.config.kubeconfigField]: kubeconfig });
}

/** Names that only old releases had and that server-side apply may leave behind. */
export interface Leftovers {
  readonly containers: readonly string[];
  readonly env: readonly string[];
  readonly volumes: readonly string[];
}

/** What one service's manifests are known for when edits are merged; names that no general rule could tell. */
export interface MergeKnowledge {
  /** Names of variables whose value is a list with commas. */
  readonly commaLists: readonly string[];
  /** Items of pod templates that a release gave another name, by the list they are in. */
  readonly renames: readonly { readonly list: 'initContainers' | 'containers' | 'volumes'; readonly from: string; readonly to: string }[];
}

export interface RemovedKind {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly since: string;
  readonly replacement: string;
}

/** A tier of the service's own policies that has another name from a release on. */
export interface TierRename {
  readonly since: string;
  readonly from: string;
  readonly to: string;
  /** Tiers that the service makes by itself; any other is the user's. */
  readonly others: readonly string[];
}

export interface ChainedPlugin {
  readonly title: string;
  /** Part of the name of its DaemonSet. */
  readonly daemonSet: string;
  /** What happens when the service writes its configuration again, without a full stop. */
  readonly happens: string;
  /** What to do about it, imperative. */
  readonly advice: string;
}

/** By what procedures of the service are seen that somebody began and nobody ended. */
export interface ProcedureNames {
  /** Field of the cluster information that is false while the store is locked, and the arguments of the service's CLI that unlock it. */
  readonly lock: { readonly field: string; readonly unlock: readonly string[] };
  /** Kind whose objects move the stored resources to native CRDs. No release installs its CRD. */
  readonly migration: Kind;
  /** Of the migration from another network: the label of a node that is done, the one of a node that is at work, and the ConfigMap of the migration. */
  readonly takeOver: { readonly label: string; readonly done: string; readonly working: string; readonly configMap: string };
  /** Init container that moves allocations of another IPAM plugin at each start, and that plugin in the CNI configuration of a ConfigMap. */
  readonly allocations: { readonly container: string; readonly key: string; readonly plugin: string };
  /** Resources without which the agents lose their settings or addresses. */
  readonly needed: readonly string[];
  /** Annotation by which the operator knows its own value of `bpfEnabled`, and the release whose operator asks for it. */
  readonly ebpf: { readonly annotation: string; readonly since: string; readonly dataPlane: string };
}

/** Kinds of the stored group in which the service keeps which addresses are given: blocks, which node takes from a block, and what an address was given to. */
export interface IpamNames {
  /** Of the CNI configuration. */
  readonly plugin: string;
  readonly blocks: Pick<Kind, 'kind' | 'plural'>;
  readonly affinities: Pick<Kind, 'kind' | 'plural'>;
  readonly handles: Pick<Kind, 'kind' | 'plural'>;
  /** Annotation of pods whose addresses their owner has chosen, outside of all this. */
  readonly ownAddresses: string;
}

/** A minor of the service, and the minors of Kubernetes it goes with. */
export interface TestedLine {
  /** `v3.30`. */
  readonly line: string;
  /** Its newest release that is known here. */
  readonly newest: string;
  /** This program has the sums of that release's files. */
  readonly hasSums: boolean;
  /** The first and the last minor that upstream tested it with; those between them were tested too. */
  readonly kubernetes: readonly [first: string, last: string];
  /** An older server refuses a CRD of it. */
  readonly floor?: string;
  /** The page of upstream that says so. */
  readonly source?: string;
  /** Upstream's page of the upgrade to it. */
  readonly upgrade?: string;
}

/** What workloads of older releases ask for and the target's roles do not grant; `name` as a rule's `resourceNames` has it. */
export interface OlderRule {
  readonly group: string;
  readonly resource: string;
  readonly name?: string;
}

/** How releases know a policy of the default tier, from one on; each stores it with the prefix of `policyRenaming`. */
export interface FormerNames {
  readonly since: string;
  /** The name in the v3 API: without what stands before its first dot (`cut`), as it is stored, or as its annotation notes it. */
  readonly shows: 'cut' | 'stored' | 'noted';
  /** Kinds of policies that it has. */
  readonly kinds: readonly string[];
  /** How names begin that never get the prefix. */
  readonly unprefixed: readonly string[];
}

/** What older releases read of stored resources otherwise than newer ones do. */
export interface OlderReaders {
  /** Releases before it read labels and annotations of the stored object alone; later ones keep them in its annotation `<group>/metadata`. */
  readonly ownMetadataBefore: string;
  /** Kinds that nobody gives labels: there may be very many objects. */
  readonly withoutLabels: readonly string[];
  /** Oldest first; up to the release of `policyRenaming`. */
  readonly policyNames: readonly FormerNames[];
  /** Agents of releases before it know one tier. From it on, and before `policyRenaming`, they read the tier in the stored name. */
  readonly tiersSince: string;
  /** Blocks of addresses that releases before it cannot read: how their affinity begins, which use their pools allow, and for what the addresses are. */
  readonly newBlocks: Readonly<Record<'since' | 'plural' | 'affinity' | 'pools' | 'use', string>>;
  /** Kinds of other groups that newer releases act upon, and older ones do not. */
  readonly kindsBeside: readonly { readonly group: string; readonly plural: string }[];
  /** What of a key-value store the CLI shows, in the plural, without what loses nothing. */
  readonly shownByCli: readonly string[];
  /** What means nothing that is lost, where the older release has no definition of it, or has a check of its own. */
  readonly losesNothing: {
    /** Written by the service alone, or without effect on traffic. */
    readonly kinds: readonly string[];
    /** Paths below `spec`. */
    readonly fields: readonly string[];
    /** By paths below `spec`: what the service writes by itself, and what older releases do anyway. */
    readonly values: Readonly<Record<string, unknown>>;
  };
}

/** Every name and fact the procedure leaves open. Data only. */
export interface Profile {
  readonly name: string;
  readonly title: string;
  /** What stands before a release: `Calico v3.32.1`. */
  readonly short: string;
  /** The service's v3 API group: the owner references of procedure G name it. */
  readonly apiGroup: string;
  /** Group of the stored v1 custom resources. */
  readonly crdGroup: string;
  readonly operatorGroup: string;
  readonly defaultRelease: string;
  readonly minimumSource: string;
  /** Base address of artifacts; undefined if the user must give one. */
  readonly manifestUrl?: string;
  /** Where its publisher says the sums of its files, for the user to compare: `{release}`. */
  readonly publishedAt?: string;
  readonly registries: readonly string[];
  /** Last path segments of images, per component. */
  readonly images: {
    readonly agent: readonly string[];
    readonly cni: readonly string[];
    readonly controllers: readonly string[];
    readonly typha: readonly string[];
    readonly apiserver: readonly string[];
    readonly csi: readonly string[];
    readonly operator: readonly string[];
    readonly sidecar: readonly string[];
  };
  readonly variants: readonly Variant[];
  readonly addOns: readonly AddOn[];
  readonly operator: OperatorNames;
  readonly crdFile: string;
  /** Chart of the same CRDs, in the repository of the operator's chart. */
  readonly crdChart: string;
  readonly datastore: DatastoreFacts;
  /** Platforms that manage installations of this service themselves. */
  readonly platforms: readonly Platform[];
  /** Init container that installs the CNI plugin: a full install has it, a policy engine beside another CNI has not. */
  readonly cniInstaller: string;
  /** Variable of the agents that selects native v3 CRDs. */
  readonly nativeApiEnv?: { readonly name: string; readonly value: string };
  readonly clusterInformation: {
    readonly plural: string;
    readonly kind: string;
    readonly name: string;
    readonly versionField: string;
    readonly guidField?: string;
  };
  readonly cli: CliNames;
  /** How a program of the target says its version, by the last part of its image's name; it needs nothing and ends at once. */
  readonly versionCommands?: Readonly<Record<string, readonly string[]>>;
  /** Typha of this release on refuses agents older than it (agents first, Typha last). */
  readonly typhaRefusesAgentsBefore?: string;
  /** Agents of this release on keep connections of eBPF mode in a table that older agents refuse. */
  readonly ebpfTablesSince?: string;
  /** From this release on the controllers rename stored policies. */
  readonly policyRenaming?: {
    readonly since: string;
    readonly prefix: string;
    readonly switchField: string;
    /** DaemonSet whose rollout the controllers wait for; under any other name they wait for ever, host endpoints included. */
    readonly waitsFor?: string;
  };
  /** Absent where nothing is known to differ. */
  readonly olderReaders?: OlderReaders;
  /** Release at which the UIDs of v3 objects change, and noted owners are converted. */
  readonly uidChange?: string;
  /** Releases of older lines that change the UIDs too, and convert no noted owners: their line has it from there on. */
  readonly uidBackports?: readonly string[];
  readonly leftovers: Leftovers;
  readonly merge: MergeKnowledge;
  readonly removedKinds: readonly RemovedKind[];
  /** Minors of the service, oldest first, with what each was tested with upstream; that of the default release is among them. */
  readonly testedLines: readonly TestedLine[];
  /** Without these an older workload that starts again does not get ready: on manifest paths they stay while both releases run. */
  readonly olderRules?: readonly OlderRule[];
  readonly labels: { readonly createdBy: string; readonly createdByValue: string; readonly autoHepSuffix: string };
  /** Profile of automatic host endpoints, which lets everything through (§4.7). */
  readonly allowAllProfile: string;
  /**
   * Profiles derived from namespaces (allow everything) and service accounts (no rules), by name prefix, and the keys of the labels they
   * give. In key-value mode they are stored like any other.
   */
  readonly derivedProfiles?: Readonly<Record<'namespace' | 'serviceAccount', { readonly prefix: string; readonly labelPrefix: string }>>;
  /** Variable of the controllers that overrides the setting of automatic host endpoints. */
  readonly automaticEndpointsEnv?: string;
  /** Ports of a host that the agents leave open by default, whatever the policies say: `tcp:22`. */
  readonly failsafePorts?: { readonly inbound: readonly string[]; readonly outbound: readonly string[] };
  readonly temporaryPolicy: string;
  readonly controllersConfiguration: { readonly plural: string; readonly kind: string; readonly name: string };
  readonly sidecar: {
    readonly container: string;
    readonly injectorNamespace: string;
    readonly injectorConfigMap: string;
    readonly syncEnv: string;
    /** Flexible volume driver of older templates; where it is not told, any flexible volume of a meshed pod is taken for it. */
    readonly flexDriver?: string;
    /** Image of the mesh's control plane: its tag is the mesh's version. */
    readonly meshImage: string;
    /** Template file of a release; `{version}` is the mesh's x.y.z, or x.y where the release has no exact one. */
    readonly template: string;
    /** Mesh versions that there are templates for, in words. */
    readonly templateVersions: readonly string[];
  };
  /** From this registry move on, mirrors and allow-lists must know the new name. */
  readonly registryMove?: { readonly since: string; readonly from: string; readonly to: string };
  /** A tier that the target names otherwise. */
  readonly tierRename?: TierRename;
  /** Last minor line whose sidecars mount by the flexible volume driver, if any ever did. */
  readonly flexvolUntil?: string;
  /** Undefined where none are known. */
  /** Ports that the agents listen on from a release on; with `ebpf` only on that data plane. */
  readonly agentPorts?: readonly { readonly port: number; readonly since: string; readonly ebpf?: true }[];
  readonly procedures?: ProcedureNames;
  /** Where the service keeps which addresses are given. */
  readonly ipam?: IpamNames;
  /** Other CNI plugins that write themselves into the CNI configuration of the service, by a DaemonSet. */
  readonly chainedPlugins?: readonly ChainedPlugin[];
  /** Defects of single releases that hit some clusters (NS-609). */
  readonly defects?: readonly Defect[];
  /** What old and new releases understand differently (NS-112, NS-508). */
  readonly changes?: readonly ReleaseChange[];
}
