import type { Command, RepairCommand } from './command.ts';
import type { JsonMap } from './json.ts';
import type { KubeObject, ObjectRef } from './object.ts';
import type { Said } from './step.ts';

export type Datastore = 'api' | 'kvstore';

/** The service's objects are in a store of its own: the API has none of them, and only the service's CLI shows them. */
export const isKeyValue = ({ datastore }: { readonly datastore: Datastore }): boolean => datastore === 'kvstore';

/** What an install path is like, as far as what is below the paths' own features goes by it. */
interface PathTraits {
  /** An operator renders the workloads of the service. */
  readonly operated: boolean;
  /** A release of the chart tool, which renders the operator's own objects too. */
  readonly byChart: boolean;
  /** One manifest, of a variant, holds all that is in the cluster's API. */
  readonly fullManifest: boolean;
  readonly datastore: Datastore;
}

const OF_OPERATOR = { operated: true, byChart: false, fullManifest: false, datastore: 'api' } as const;
const FULL_MANIFEST = { operated: false, byChart: false, fullManifest: true, datastore: 'api' } as const;

/** The install paths (§1/2), in the order of pages and of help. What each does is in its feature; nobody else asks which of them it is. */
const PATHS = {
  chart: { ...OF_OPERATOR, byChart: true },
  operator: OF_OPERATOR,
  manifest: FULL_MANIFEST,
  kvstore: { ...FULL_MANIFEST, datastore: 'kvstore' },
} as const satisfies Readonly<Record<string, PathTraits>>;

export type InstallPath = keyof typeof PATHS;

export const isInstallPath = (value: unknown): value is InstallPath => typeof value === 'string' && Object.hasOwn(PATHS, value);

/** An operator renders the workloads of the service. */
export const isOperated = ({ path }: Pick<Installation, 'path'>): boolean => PATHS[path].operated;

/** It came from a release of the chart tool. */
export const isByChart = ({ path }: Pick<Installation, 'path'>): boolean => PATHS[path].byChart;

/** One manifest, of a variant, holds all of it. */
export const hasFullManifest = ({ path }: Pick<Installation, 'path'>): boolean => PATHS[path].fullManifest;

/** For tables: the paths that are like that. */
export const pathsThat = (are: (path: Pick<Installation, 'path'>) => boolean): readonly InstallPath[] =>
  (Object.keys(PATHS) as InstallPath[]).filter((path) => are({ path }));
export const INSTALL_PATHS = pathsThat(() => true);
export const MANIFESTS = pathsThat(hasFullManifest);
export const OPERATED = pathsThat(isOperated);
export const KEY_VALUE = pathsThat(({ path }) => isKeyValue(PATHS[path]));

/** Manifests with the same datastore leave the same marks in a cluster: the user's word decides between such paths. */
export const areAlike = (one: InstallPath, other: InstallPath): boolean =>
  MANIFESTS.includes(one) && MANIFESTS.includes(other) && PATHS[one].datastore === PATHS[other].datastore;

/** The flag by which the user says which of the candidates it is: install paths, or else variants. */
export function choiceFlag(candidates: readonly string[]): '--path' | '--variant' {
  return candidates.every(isInstallPath) ? '--path' : '--variant';
}

export const DATA_PLANES = ['standard', 'ebpf'] as const;

/** What forwards the packets of pods. iptables and nftables keep routes and rules in the same way: both are `standard`. */
export type DataPlane = (typeof DATA_PLANES)[number];

/** Who besides the operator of this tool manages the installation. */
export interface ManagedBy {
  readonly name: string;
  readonly kind: 'platform' | 'gitops';
  readonly evidence: string;
  /** How to pause it, imperative. */
  readonly hint: Said;
  /** The object that bears the mark. */
  readonly object?: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>;
  /** The command of the hint. */
  readonly command?: RepairCommand;
}

/** A CRD that a delivery tool says is its own, and that it may therefore delete once its source no longer has it. */
export interface PrunableCrd {
  readonly crd: string;
  readonly tool: string;
  /** In words. */
  readonly mark: string;
  /** Annotation, `key=value`, that makes the tool keep it. */
  readonly keep: string;
}

export interface ComponentVersion {
  /** `agent`, `typha`, `controllers`, `apiserver`, `csi`, `cni`, `operator`, `flannel`. */
  readonly component: string;
  readonly workload: string;
  readonly container: string;
  readonly image: string;
  /** Release tag, or undefined for a digest, `master` and the like. */
  readonly release?: string;
}

/** Where chart releases are stored; Secrets unless the user chose otherwise. */
export type HelmStorage = 'Secret' | 'ConfigMap';

/** The chart release that the operator came from (§4.2). */
export interface ChartRelease {
  readonly name: string;
  readonly namespace: string;
  /** Newest revision and its state as stored; undefined where the releases could not be read. */
  readonly revision?: number;
  readonly status?: string;
}

/** What an operator goes by. */
export interface OperatorInput {
  /** The Installation, and the one that is laid over it. */
  readonly resource: KubeObject;
  readonly overlay?: KubeObject;
  /** What it finds in the cluster by itself. */
  readonly found: JsonMap;
}

/** A thing of the service that is in a state in which no upgrade should meet it. */
export interface Unfinished {
  readonly ref: Pick<ObjectRef, 'apiVersion' | 'kind' | 'namespace' | 'name'>;
  readonly detail: string;
  /** What to do about it, imperative, and the command that shows more. */
  readonly hint: string;
  readonly next: Command;
}

/** What is installed, with the evidence for it (§4). */
export interface Installation {
  readonly path: InstallPath;
  /** Id of the profile's variant; undefined where the path has none (operator, chart). */
  readonly variant?: string;
  readonly datastore: Datastore;
  /** Of the agents; undefined where their settings could not be read. */
  readonly dataPlane?: DataPlane;
  /** The agents' environment says it, over the settings of all nodes and of single ones. */
  readonly overrulesNodes?: boolean;
  /** Release of the agents' workload; undefined if no evidence gives it. */
  readonly release?: string;
  /** Nodes of the cluster; undefined where they could not be read. */
  readonly nodes?: number;
  readonly components: readonly ComponentVersion[];
  /** Releases that differ from the agents' own. */
  readonly mixed: readonly ComponentVersion[];
  readonly hasTypha: boolean;
  readonly hasApiServer: boolean;
  readonly hasCsiDriver: boolean;
  /** CRDs of the v3 group itself are installed (tech preview): the v1 CRDs must not be applied. */
  readonly nativeV3Crds: boolean;
  readonly managedBy: readonly ManagedBy[];
  readonly prunableCrds: readonly PrunableCrd[];
  /** Where the agents run (the name need not be the profile's); undefined if the operator has not rendered them yet. */
  readonly agent?: { readonly kind: 'DaemonSet'; readonly namespace: string; readonly name: string; readonly container: string };
  /** Minor line (`v3.31`) where only that is known. */
  readonly line?: string;
  /** The operator's own Deployment, if there is one. */
  readonly operator?: { readonly namespace: string; readonly name: string };
  /** Its operator puts the CRDs back to those of its own release: what is applied beside it does not stay (domain §11.5). */
  readonly restoresCrds: boolean;
  readonly chart?: ChartRelease;
  /** Undefined where no operator runs it. */
  readonly input?: OperatorInput;
  /** What the service needs and somebody is deleting. */
  readonly deletions: readonly Unfinished[];
  /** What procedures of the service left that nobody ended. */
  readonly unfinished: readonly Unfinished[];
  /** One line per fact that led here. */
  readonly evidence: readonly string[];
}

/** The answer of detection: one installation, or why there is none. */
export type Detection =
  | { readonly type: 'found'; readonly installation: Installation }
  | { readonly type: 'none'; readonly because: string }
  | {
      readonly type: 'ambiguous';
      readonly because: string;
      readonly candidates: readonly string[];
      readonly evidence: readonly string[];
      readonly managedBy?: readonly ManagedBy[];
    }
  | { readonly type: 'half-migrated'; readonly because: string; readonly evidence: readonly string[] };
