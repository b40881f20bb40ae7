import type { Finding, Reading } from '../../kernel/check.ts';
import type { Detection } from '../../kernel/installation.ts';
import type { Kind, KubeObject, ObjectRef } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { AccessRequest, LockHolder, ServerVersion } from '../../kernel/ports.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import type { Certificate } from '../../kube/certificate.ts';
import type { PodFacts } from '../../kube/pod-facts.ts';
import type { LabelSelector } from '../../kube/selector.ts';
import type { CrdFact, Inventory } from './inventory.ts';

/** A certificate of the service, by the Secret that has it. */
export interface SecretCertificate extends Certificate {
  readonly namespace: string;
  readonly secret: string;
}

/** The kubectl that would be run. */
export interface ClientFacts {
  /** First kubectl on PATH; undefined if there is none. */
  readonly path?: string;
  /** `v1.36.1`; undefined if it does not say. */
  readonly gitVersion?: string;
  /** Of this machine, as Kubernetes names its downloads: `linux/amd64`. */
  readonly platform: string;
}

export interface AccessAnswer {
  readonly request: AccessRequest;
  readonly allowed: boolean;
  /** What the plan needs it for. */
  readonly why: string;
  /** False: the plan may do without (the API server grants the same in another way). */
  readonly required: boolean;
}

/** The release to install, as parsed documents. */
export interface TargetFacts {
  readonly release: string;
  readonly documents: readonly KubeObject[];
  /** Where it came from. */
  readonly url: string;
}

/** A pod as far as the checks look at it: images of all its containers, readiness, labels. */
export interface PodView extends Pick<PodFacts, 'namespace' | 'name' | 'node' | 'readyContainers' | 'terminating'> {
  readonly labels: Readonly<Record<string, string>>;
  readonly containers: readonly { readonly name: string; readonly image: string }[];
  /** Number of regular containers. */
  readonly regularContainers: number;
  readonly ready: boolean;
  /** Its containers ended and will not start again. */
  readonly ended?: boolean;
  /** Why the first waiting container waits. */
  readonly trouble?: string;
  /** It uses the network of its node. */
  readonly hostNetwork?: true;
  /** Its own addresses. */
  readonly addresses?: readonly string[];
  /** Drivers of its flexible volumes. */
  readonly flexDrivers: readonly string[];
  /** Containers that the kernel ended for lack of memory the last time they ended. */
  readonly outOfMemory?: readonly string[];
}

/** All objects of one kind of the service (or of a kind that the target removes). */
export interface ResourceList {
  readonly kind: Kind;
  readonly objects: Reading<readonly KubeObject[]>;
}

/** Resources of a key-value store that the preflight asks for. */
export interface StoredBehindCli {
  /** The temporary policy of an earlier upgrade, in whichever form it is there. */
  readonly temporaryPolicies: readonly KubeObject[];
  /** Configurations of the agents. */
  readonly agentConfigurations: readonly KubeObject[];
  /** What the store says of the cluster: whether it is locked. */
  readonly clusterInformation: readonly KubeObject[];
}

/** A webhook that is asked about new pods and has to answer (failurePolicy Fail), behind a Service. */
export interface PodWebhook {
  /** Its configuration. */
  readonly object: ObjectRef;
  readonly name: string;
  readonly namespaces: LabelSelector;
  readonly objects: LabelSelector;
  readonly service: { readonly namespace: string; readonly name: string };
  /** Of the pods that answer; undefined where the Service selects none. */
  readonly backends: LabelSelector | undefined;
}

export interface CliFile {
  readonly file: string;
  /** Its own release; undefined if it does not say. */
  readonly release?: string;
}

/** What a probe of the target's images has shown from this machine, within the last day. */
export interface PulledImages {
  /** Those that a node has pulled, and no other node has failed to pull. */
  readonly images: readonly string[];
  /** How many nodes have pulled any. */
  readonly nodes: number;
  readonly at: string;
}

export interface WorkFolderFacts {
  readonly path: string;
  readonly freeBytes: number;
  readonly writable: boolean;
}

/** An API server of the cluster, as its own Service has it. */
export interface ApiEndpoint {
  readonly host: string;
  readonly port: number;
}

/** What the settings of an operator's installation are evaluated by: read one by one, for a check fails only by what it looks at. */
export interface OperatedFacts {
  readonly installation: Reading<KubeObject | undefined>;
  /** The same, under the name of the resource that has the data plane. */
  readonly dataPlane: Reading<KubeObject | undefined>;
  /** Sets of image digests, of every release. */
  readonly imageSets: Reading<readonly KubeObject[]>;
  /** What leads to pods of the operator; read only where the target guards them. */
  readonly reaching: Reading<readonly KubeObject[]>;
  /** Where API servers listen; read only where the target guards the pods that ask them. */
  readonly apiEndpoints: Reading<readonly ApiEndpoint[]>;
  /** Of the Secrets that the operator holds. */
  readonly certificates: Reading<readonly SecretCertificate[]>;
  /** Networks of pods as kubeadm has them; undefined where it made no cluster, or the Installation lists no pools. */
  readonly podSubnets: Reading<readonly string[] | undefined>;
  /** Resources that let the operator install the Gateway API. */
  readonly gateways: Reading<readonly KubeObject[]>;
  /** The admission policy that guards its definitions; looked for only where there is such a resource. */
  readonly gatewayPolicy: Reading<KubeObject | undefined>;
  /** The definitions themselves, with their annotations; looked for only where there is such a resource. */
  readonly gatewayDefinitions: Reading<readonly KubeObject[]>;
  /** Resources that switch components on, and which their statuses need. */
  readonly components: Reading<readonly KubeObject[]>;
  /** Component statuses that the operator has written. */
  readonly statuses: Reading<readonly KubeObject[]>;
}

/** What the preflight surveyed. Pure data; everything may be unread, and says why. */
export interface PreflightFacts extends Pick<Inventory, 'daemonSets' | 'deployments'> {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly server: Reading<ServerVersion>;
  readonly client: Reading<ClientFacts>;
  readonly clockSkewMs: Reading<number>;
  readonly discovery: Reading<{ readonly kinds: readonly Kind[]; readonly failed: readonly string[] }>;
  readonly apiServices: Reading<readonly KubeObject[]>;
  readonly access: Reading<readonly AccessAnswer[]>;
  readonly namespaces: Reading<readonly KubeObject[]>;
  /** Admission webhooks without whose answer no pod is created. */
  readonly podWebhooks: Reading<readonly PodWebhook[]>;
  readonly lockHolder: Reading<LockHolder | undefined>;
  readonly record: Reading<RunRecord | undefined>;
  /** Agents that this run holds, as `refText` names them: also where somebody has removed its annotation. */
  readonly stillHeld: Reading<readonly string[]>;
  readonly detection: Reading<Detection>;
  readonly nodes: Reading<readonly KubeObject[]>;
  readonly pods: Reading<readonly PodView[]>;
  readonly budgets: Reading<readonly KubeObject[]>;
  readonly crds: Reading<readonly Omit<CrdFact, 'plural' | 'pruners'>[]>;
  readonly resources: Reading<readonly ResourceList[]>;
  /** What only the service's CLI sees in a key-value store; undefined where the API has it. */
  readonly inStore: Reading<StoredBehindCli | undefined>;
  /** The agents' ConfigMap; undefined if there is none. */
  readonly agentConfig: Reading<KubeObject | undefined>;
  /** Of the namespaces in which the service may run. */
  readonly configMaps: Reading<readonly KubeObject[]>;
  /** The mesh's injector ConfigMaps. */
  readonly injectors: Reading<readonly KubeObject[]>;
  /** Mode of kube-proxy; '' if its configuration does not say, undefined where none is found. */
  readonly proxyMode: Reading<string | undefined>;
  readonly target: Reading<TargetFacts>;
  readonly preview: Reading<readonly (PlannedObject & { readonly isImmutable?: true })[]>;
  /** Undefined where no such probe is known. */
  readonly pulled: Reading<PulledImages | undefined>;
  /** What the server says to new pods of workloads that an operator renders: by their present templates, for the target has none. */
  readonly operatedPods: Reading<readonly Pick<PlannedObject, 'ref' | 'pods'>[]>;
  /** What stands against the upgrade of the chart release; undefined on paths without one. */
  readonly chart: Reading<readonly Finding[] | undefined>;
  /** What the chart tool makes of the target with the values of the release; nothing on other paths. */
  readonly rendered: Reading<readonly KubeObject[]>;
  /** Undefined where no operator holds the installation. */
  readonly operated: OperatedFacts | undefined;
  readonly clis: Reading<readonly CliFile[]>;
  /** Files of the chart tool on PATH. */
  readonly chartTool: Reading<readonly string[]>;
  readonly work: Reading<WorkFolderFacts>;
}
