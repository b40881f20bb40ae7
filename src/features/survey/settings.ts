import type { KubeObject } from '../../kernel/object.ts';
import type { Container } from './workload.ts';

/** A setting: where it is not set there is none; `value` is undefined if it is set by a reference that leads nowhere. */
export interface Setting {
  readonly value?: string;
  /** `env CLUSTER_TYPE`, `key typha_service_name`: for users. */
  readonly from: string;
}

/** What a workload is configured with: variables of one container, keys of one ConfigMap. */
export interface Settings {
  /** Undefined if the variable is not set, or empty (the service reads both alike). */
  env(name: string): Setting | undefined;
  key(configMap: string, key: string): Setting | undefined;
  hasConfigMap(name: string): boolean;
}

/** Resolves a container's variables through ConfigMap references; of repeated variables the last one counts, as in a pod. */
export function settingsOf(container: Container, namespace: string, configMaps: readonly KubeObject[]): Settings {
  const data = (name: string) => configMapData(configMaps, namespace, name);
  return {
    env(name) {
      const entry = (container.env ?? []).findLast((candidate) => candidate.name === name);
      if (!entry) return undefined;
      const reference = entry.valueFrom?.configMapKeyRef;
      const value = reference?.name === undefined ? entry.value : data(reference.name)?.[reference.key];
      if (value === undefined) return entry.valueFrom ? { from: `env ${name}` } : undefined;
      return value === '' ? undefined : { value, from: `env ${name}` };
    },
    key(configMap, key) {
      const value = data(configMap)?.[key];
      return value === undefined || value === '' ? undefined : { value, from: `key ${key}` };
    },
    hasConfigMap: (name) => data(name) !== undefined,
  };
}

function configMapData(configMaps: readonly KubeObject[], namespace: string, name: string): Readonly<Record<string, string>> | undefined {
  const found = configMaps.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  return found ? ((found as { data?: Readonly<Record<string, string>> }).data ?? {}) : undefined;
}
