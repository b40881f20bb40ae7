import type { Dependent, OwnerScan } from '../checks/facts.ts';
import { groupOf, type Kind, type KubeObject, refOf } from '../core/object.ts';
import { ApiFailure, type ClusterReader } from '../core/ports.ts';
import type { Profile } from '../core/profile.ts';
import { attempt, eachOf } from './reading.ts';

const CONCURRENT_LISTS = 6;
/** Kinds that the server lists but that nothing owns for long, or that cannot be listed at all. */
const SKIPPED = new Set(['events', 'componentstatuses']);
/** Answers of a server that has the kind but no list of it. */
const NO_LIST = new Set([404, 405, 406]);

/**
 * Every object in the cluster with an owner of the service's groups (§4.8; domain §7.1): metadata only, kind by kind.
 * Groups whose discovery failed and kinds that may not be listed are named: the scan is incomplete then.
 */
export async function readOwners(cluster: ClusterReader, profile: Profile): Promise<OwnerScan> {
  const { kinds, failed } = await cluster.discover();
  const listable = kinds.filter((kind) => !SKIPPED.has(kind.plural) && !kind.plural.includes('/'));
  const groups = new Set([profile.apiGroup, profile.crdGroup]);
  const parts = await eachOf(listable, CONCURRENT_LISTS, (kind) => dependentsOf(cluster, kind, groups));
  return {
    dependents: parts.flatMap((part) => part.dependents),
    unread: [...failed.map((group) => ({ kind: group, because: 'its discovery fails' })), ...parts.flatMap((part) => part.unread)],
    kinds: listable.length,
  };
}

async function dependentsOf(cluster: ClusterReader, kind: Kind, groups: ReadonlySet<string>): Promise<Omit<OwnerScan, 'kinds'>> {
  const reading = await attempt(() => listOrNothing(cluster, kind, groups));
  if ('unread' in reading) {
    return {
      dependents: [],
      unread: [{ kind: kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`, because: reading.unread }],
    };
  }
  return { dependents: reading.value.flatMap((object) => ownersIn(object, kind, groups)), unread: [] };
}

async function listOrNothing(cluster: ClusterReader, kind: Kind, groups: ReadonlySet<string>): Promise<readonly KubeObject[]> {
  try {
    return await cluster.list(kind, { metadataOnly: true, ownedBy: [...groups] });
  } catch (thrown) {
    if (thrown instanceof ApiFailure && NO_LIST.has(thrown.status)) return [];
    throw thrown;
  }
}

/** The list may say PartialObjectMetadata: the kind asked for is the true one. */
function ownersIn(object: KubeObject, kind: Kind, groups: ReadonlySet<string>): readonly Dependent[] {
  const owners = (object.metadata.ownerReferences ?? []).filter((owner) => groups.has(groupOf(owner.apiVersion)));
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  const ref = { ...refOf(object), apiVersion, kind: kind.kind };
  return owners.map((owner) => ({ object: ref, owner }));
}
