import { mapAt } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';

interface Reference {
  readonly name?: string;
  readonly key?: string;
}

export interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly configMapKeyRef?: Reference; readonly secretKeyRef?: Reference };
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly Variable[];
  readonly envFrom?: readonly { readonly prefix?: string; readonly configMapRef?: Reference }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

/** What is read of a workload of any kind. */
interface WorkloadShape {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly minReadySeconds?: number;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: {
        readonly partition?: number;
        readonly maxUnavailable?: number | string;
        readonly maxSurge?: number | string;
      };
    };
    readonly strategy?: { readonly type?: string; readonly rollingUpdate?: { readonly maxUnavailable?: number | string } };
    readonly template?: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
      readonly spec?: {
        readonly containers?: readonly Container[];
        readonly initContainers?: readonly Container[];
        readonly volumes?: readonly {
          readonly name: string;
          readonly hostPath?: { readonly path?: string };
          readonly secret?: { readonly secretName?: string };
        }[];
      };
    };
  };
  readonly status?: Readonly<Record<string, number | undefined>>;
}

export function shapeOf(workload: object): WorkloadShape {
  return workload as WorkloadShape;
}

function podSpec(workload: KubeObject) {
  return shapeOf(workload).spec?.template?.spec ?? {};
}

export function containersOf(workload: KubeObject): readonly Container[] {
  return podSpec(workload).containers ?? [];
}

export function initContainersOf(workload: KubeObject): readonly Container[] {
  return podSpec(workload).initContainers ?? [];
}

/** Init containers and containers of a workload's pods. */
export function allContainersOf(workload: KubeObject): readonly Container[] {
  return [...initContainersOf(workload), ...containersOf(workload)];
}

export function hasContainer(workload: KubeObject, name: string): boolean {
  return allContainersOf(workload).some((container) => container.name === name);
}

export function hostPathsOf(workload: KubeObject): readonly string[] {
  return (podSpec(workload).volumes ?? []).flatMap((volume) => volume.hostPath?.path ?? []);
}

/** Where its containers have a Secret mounted. */
export function secretMountsOf(workload: KubeObject, secret: string): readonly string[] {
  const volumes = (podSpec(workload).volumes ?? []).filter((one) => one.secret?.secretName === secret).map(({ name }) => name);
  const mounts = containersOf(workload).flatMap(({ volumeMounts = [] }) => volumeMounts);
  return mounts.flatMap(({ name, mountPath }) => (volumes.includes(name) ? [mountPath] : []));
}

export function isNamed(object: KubeObject, name: { readonly namespace: string; readonly name: string }): boolean {
  return object.metadata.name === name.name && object.metadata.namespace === name.namespace;
}

/** A setting, if it is set; `value` is undefined if its reference leads nowhere. */
export interface Setting {
  readonly value?: string;
  /** `env CLUSTER_TYPE`, `key typha_service_name`: for users. */
  readonly from: string;
}

/** What a workload is configured with: variables of one container, keys of one ConfigMap. */
export type Settings = ReturnType<typeof settingsOf>;

/** Resolves a container's variables through ConfigMap references; of repeated variables the last one counts, as in a pod. */
export function settingsOf(container: Container, namespace: string, configMaps: readonly KubeObject[]) {
  const data = (name: string) => {
    const found = configMaps.find((one) => isNamed(one, { namespace, name }));
    return found && (mapAt(found, 'data') as Readonly<Record<string, string>>);
  };
  return {
    /** Undefined if the variable is not set, or empty (the service reads both alike). */
    env(name: string): Setting | undefined {
      const entry = (container.env ?? []).findLast((candidate) => candidate.name === name);
      if (!entry) return undefined;
      const reference = entry.valueFrom?.configMapKeyRef;
      const value = reference?.name === undefined ? entry.value : data(reference.name)?.[reference.key ?? ''];
      if (value === undefined) return entry.valueFrom ? { from: `env ${name}` } : undefined;
      return value === '' ? undefined : { value, from: `env ${name}` };
    },
    key(configMap: string, key: string): Setting | undefined {
      const value = data(configMap)?.[key];
      return value === undefined || value === '' ? undefined : { value, from: `key ${key}` };
    },
    hasConfigMap: (name: string) => data(name) !== undefined,
  };
}

/** The controller has seen the workload as it is. */
export function isObserved(workload: KubeObject): boolean {
  return (shapeOf(workload).status?.observedGeneration ?? 0) >= (workload.metadata.generation ?? 0);
}
