import type { OwnerFacts } from '../checks/verify-facts.ts';
import type { Context } from '../core/context.ts';
import { groupOf, type Kind } from '../core/object.ts';
import type { ClusterReader } from '../core/ports.ts';
import { attempt, eachOf } from './reading.ts';
import { readOwners } from './survey-owners.ts';

/**
 * Owner references to the service's resources, and the UIDs that those have now (domain §7.3/5). Only kinds that own
 * something are listed, metadata alone; a kind that cannot be listed leaves its references unjudged, and is named.
 */
export async function readOwnerFacts(cluster: ClusterReader, { profile }: Context): Promise<OwnerFacts> {
  const { dependents, unread } = await readOwners(cluster, profile);
  if (dependents.length === 0) return { dependents, unread, uids: {} };
  const { kinds } = await cluster.discover();
  const keys = [...new Set(dependents.map(({ owner }) => `${groupOf(owner.apiVersion)}/${owner.kind}`))];
  const lists = await eachOf(keys, 4, async (key) => ({ key, uids: await attempt(() => uidsOf(cluster, kinds, key)) }));
  return {
    dependents,
    uids: Object.fromEntries(lists.flatMap(({ key, uids }) => ('value' in uids && uids.value ? [[key, uids.value]] : []))),
    unread: [
      ...unread,
      ...lists.flatMap(({ key, uids }) => {
        if ('unread' in uids) return [{ kind: key, because: uids.unread }];
        return uids.value ? [] : [{ kind: key, because: 'the server does not serve it' }];
      }),
    ],
  };
}

async function uidsOf(cluster: ClusterReader, kinds: readonly Kind[], key: string): Promise<ReadonlySet<string> | undefined> {
  const kind = kinds.find((one) => `${one.group}/${one.kind}` === key && !one.plural.includes('/'));
  if (!kind) return undefined;
  return new Set((await cluster.list(kind, { metadataOnly: true })).map(({ metadata }) => metadata.uid ?? ''));
}
