import { type OwnerWorld, ownerPlace } from '../../core/owner-fate.ts';
import type { JournalEntry, JournalOwner } from '../../core/owner-journal.ts';
import type { ClusterReader } from '../../core/ports.ts';
import { attempt, eachOf } from '../reading.ts';

export function ownerKey({ group, kind, namespace = '', name }: JournalOwner): string {
  return `${group}|${kind}|${namespace}|${name}`;
}

/**
 * Owners that a list shows and that no question by their name finds: policies that are stored under their old names while the
 * new API server serves. The garbage collector asks by name, so it would take them for gone (§4.8/3; host endpoint notes 0.5).
 */
export async function muteOwners(
  cluster: Pick<ClusterReader, 'discover' | 'get'>,
  entries: readonly JournalEntry[],
  world: OwnerWorld,
): Promise<ReadonlySet<string>> {
  const asked = new Map(
    entries.flatMap(({ owners }) => owners.filter((owner) => isDoubtful(owner, world))).map((one) => [ownerKey(one), one]),
  );
  if (asked.size === 0) return new Set();
  const { kinds } = await cluster.discover();
  const mute = await eachOf([...asked], 8, async ([key, { group, kind, namespace, name }]) => {
    const resource = kinds.find((one) => one.group === group && one.kind === kind && !one.plural.includes('/'));
    const served = world.kinds[kind]?.served?.get(ownerPlace(namespace, name));
    const reading = resource && (await attempt(() => cluster.get(resource, name, namespace)));
    return reading && 'value' in reading && reading.value?.metadata.uid === served ? [] : [key];
  });
  return new Set(mute.flat());
}

function isDoubtful({ group, kind, namespace, name }: JournalOwner, { apiGroup, kinds }: OwnerWorld): boolean {
  const stored = kinds[kind]?.stored?.get(ownerPlace(namespace, name));
  return group === apiGroup && stored !== undefined && stored.storedName !== name;
}
