import type { Reading } from '../../kernel/check.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { attempt, containersOf, type Variable } from '../survey/index.ts';

/** Where a variable gets its value from; `unread`: where nobody looks for it. */
export type VariableSource =
  | { readonly type: 'value'; readonly value: string }
  | { readonly type: 'config-map'; readonly map: string; readonly key: string }
  | { readonly type: 'unread'; readonly from: string };

/** Value of a variable that a workload's containers are given as text; the last one counts. */
export function envOf(workload: KubeObject | undefined, name: string): string | undefined {
  return (workload ? containersOf(workload) : []).flatMap(({ env }) => env ?? []).findLast((one) => one.name === name)?.value;
}

/** What gives a workload's containers a variable; the last with a value counts. A whole Secret may: ask the controllers then. */
export function variableSources(workload: KubeObject, name: string): readonly VariableSource[] {
  return containersOf(workload).flatMap(({ env = [], envFrom = [] }) => [
    ...envFrom.flatMap(({ prefix = '', configMapRef }): readonly VariableSource[] => {
      if (configMapRef?.name === undefined || !name.startsWith(prefix)) return [];
      return [{ type: 'config-map', map: configMapRef.name, key: name.slice(prefix.length) }];
    }),
    ...env.filter((one) => one.name === name).map(sourceOf),
  ]);
}

function sourceOf({ value, valueFrom }: Variable): VariableSource {
  if (!valueFrom) return { type: 'value', value: value ?? '' };
  const { configMapKeyRef: map, secretKeyRef: secret } = valueFrom;
  if (map?.name !== undefined && map.key !== undefined) return { type: 'config-map', map: map.name, key: map.key };
  return {
    type: 'unread',
    from: secret ? `it is key ${secret.key} of Secret ${secret.name}` : `it is taken from ${Object.keys(valueFrom).join(', ')}`,
  };
}

/** The variable that overrides the setting of automatic endpoints: what the controllers' workload gives it; undefined where it gives none. */
export type Override = Reading<string | undefined>;

/** Reads it through ConfigMaps. A Secret is not read: the variable then only counts as set. */
export async function readOverride(
  cluster: Pick<ClusterReader, 'get'>,
  controllers: KubeObject | undefined,
  name: string | undefined,
): Promise<Override> {
  if (name === undefined || !controllers) return { value: undefined };
  const namespace = controllers.metadata.namespace ?? '';
  // The last one that gives a value counts; a ConfigMap may have none of that name.
  for (const source of variableSources(controllers, name).toReversed()) {
    const reading = await readSource(cluster, namespace, source);
    if ('unread' in reading || reading.value !== undefined) return reading;
  }
  return { value: undefined };
}

async function readSource(cluster: Pick<ClusterReader, 'get'>, namespace: string, source: VariableSource): Promise<Override> {
  if (source.type === 'value') return { value: source.value };
  if (source.type === 'unread') return { unread: source.from };
  const map = await attempt(() => cluster.get(K.ConfigMap, source.map, namespace));
  if ('unread' in map) return { unread: `ConfigMap/${namespace}/${source.map}: ${map.unread}` };
  return { value: (map.value?.data as Readonly<Record<string, string>> | undefined)?.[source.key] };
}
