import type { KubeObject } from '../../core/object.ts';

/** Value of a variable that a workload's containers are given as text; the last one counts. */
export function envOf(workload: KubeObject | undefined, name: string): string | undefined {
  const { spec } = (workload ?? {}) as {
    readonly spec?: {
      readonly template?: {
        readonly spec?: {
          readonly containers?: readonly { readonly env?: readonly { readonly name: string; readonly value?: string }[] }[];
        };
      };
    };
  };
  const all = spec?.template?.spec?.containers?.flatMap(({ env }) => env ?? []) ?? [];
  return all.findLast((one) => one.name === name)?.value;
}
