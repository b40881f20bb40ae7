import type { MeshedWorkload } from './workloads.ts';

/** In their order, but workloads that share a disruption budget never side by side: one restart would spend it for the other. */
export function batchesOf(wanted: readonly MeshedWorkload[], size: number): readonly (readonly MeshedWorkload[])[] {
  const batches: MeshedWorkload[][] = [];
  for (const one of wanted) {
    const room = batches.find((batch) => batch.length < size && !batch.some((other) => share(one, other)));
    if (room) room.push(one);
    else batches.push([one]);
  }
  return batches;
}

function share(one: MeshedWorkload, other: MeshedWorkload): boolean {
  return one.ref.namespace === other.ref.namespace && one.budgets.some((name) => other.budgets.includes(name));
}
