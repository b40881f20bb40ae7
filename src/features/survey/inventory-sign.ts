import type { Reading } from '../../kernel/check.ts';
import type { PrunableCrd } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { PodFacts } from '../../kube/pod-facts.ts';

/** A CRD, by its name. */
export interface CrdFact {
  /** `felixconfigurations.crd.example.io` */
  readonly name: string;
  readonly plural: string;
  readonly group: string;
  readonly createdAt?: string;
  /** Delivery tools that may delete it. */
  readonly pruners?: readonly PrunableCrd[];
}

/**
 * What the cluster holds of the service, read once (§1; domain §2). Everything that could not be read says why;
 * a kind that the server does not serve is an empty list.
 */
export interface Inventory {
  /** All namespaces. */
  readonly daemonSets: Reading<readonly KubeObject[]>;
  /** All namespaces. */
  readonly deployments: Reading<readonly KubeObject[]>;
  /** Of the service's namespaces and workloads. */
  readonly pods: Reading<readonly PodFacts[]>;
  /** Of the namespaces in which the service may run. */
  readonly configMaps: Reading<readonly KubeObject[]>;
  readonly crds: Reading<readonly CrdFact[]>;
  /** The operator's Installation resources. */
  readonly installations: Reading<readonly KubeObject[]>;
  /** Secrets and ConfigMaps in which chart releases are stored: metadata only. */
  readonly chartReleases: Reading<readonly KubeObject[]>;
  readonly clusterInformation: Reading<KubeObject | undefined>;
  /** Metadata only. */
  readonly nodes: Reading<readonly KubeObject[]>;
  /** Of the namespaces in which the service may run: metadata only. */
  readonly jobs: Reading<readonly KubeObject[]>;
}

/** The fact behind a CRD's name, `plural.group`. */
export function crdFact(name: string): CrdFact {
  const dot = name.indexOf('.');
  return { name, plural: dot < 0 ? name : name.slice(0, dot), group: dot < 0 ? '' : name.slice(dot + 1) };
}
