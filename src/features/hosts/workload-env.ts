import type { KubeObject } from '../../kernel/object.ts';

interface Reference {
  readonly name?: string;
  readonly key?: string;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly configMapKeyRef?: Reference; readonly secretKeyRef?: Reference };
}

interface VariableSet {
  readonly prefix?: string;
  readonly configMapRef?: Reference;
}

interface Workload {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly { readonly env?: readonly Variable[]; readonly envFrom?: readonly VariableSet[] }[];
      };
    };
  };
}

/** Where a variable gets its value from; `unread`: where nobody looks for it. */
export type VariableSource =
  | { readonly type: 'value'; readonly value: string }
  | { readonly type: 'config-map'; readonly map: string; readonly key: string }
  | { readonly type: 'unread'; readonly from: string };

const containersOf = (workload: KubeObject | undefined) => ((workload ?? {}) as Workload).spec?.template?.spec?.containers ?? [];

/** Value of a variable that a workload's containers are given as text; the last one counts. */
export function envOf(workload: KubeObject | undefined, name: string): string | undefined {
  return containersOf(workload)
    .flatMap(({ env }) => env ?? [])
    .findLast((one) => one.name === name)?.value;
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
