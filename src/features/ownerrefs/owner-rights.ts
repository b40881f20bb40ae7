import { command } from '../../kernel/argv.ts';
import { notApplicable, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { K } from '../../kernel/kinds.ts';
import { groupOf, type Kind } from '../../kernel/object.ts';
import { type AccessRequest, ApiFailure, accessQuestion, accessText, type ClusterReader } from '../../kernel/ports.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { failIfAny, resourcesOf } from '../survey/index.ts';
import type { OwnerRights, OwnersCheck } from './owner-facts.ts';
import type { OwnedFate } from './owner-fate.ts';

/** All that this is asked of: permissions, and one dry run. */
type Asked = Pick<ClusterReader, 'discover' | 'reviewAccess' | 'dryRunCreate'>;

/**
 * What this account lacks to remove these references and to restore them. The admission plugin OwnerReferencesPermissionEnforcement asks
 * for more than `patch`: `delete` on the object, and for `blockOwnerDeletion` `update` on the finalizers of the owner.
 */
export async function readRights(cluster: Asked, objects: readonly OwnedFate[]): Promise<OwnerRights> {
  const removed = objects.filter(({ fates }) => fates.some(({ removal }) => removal));
  if (removed.length === 0) return { denied: [], enforced: [], isEnforced: false };
  const { kinds } = await cluster.discover();
  const [denied, enforced] = await Promise.all([
    deniedOf(cluster, removed.map(onObject('patch'))),
    deniedOf(cluster, [...removed.map(onObject('delete')), ...removed.flatMap((one) => finalizersOf(one, kinds))]),
  ]);
  return { denied, enforced, isEnforced: enforced.length === 0 ? false : await isEnforced(cluster) };
}

const onObject =
  (verb: string) =>
  ({ owned: { object } }: OwnedFate): AccessRequest => ({
    ...{ verb, group: groupOf(object.apiVersion), resource: object.plural },
    ...(object.namespace ? { namespace: object.namespace } : {}),
  });

/** A namespaced owner is in the namespace of its dependents. */
function finalizersOf({ owned: { object }, fates }: OwnedFate, kinds: readonly Kind[]): readonly AccessRequest[] {
  const isAsked = ({ removal, reference }: OwnedFate['fates'][number]) => removal && reference.blockOwnerDeletion === true;
  return fates.filter(isAsked).flatMap(({ reference }) =>
    resourcesOf(kinds, groupOf(reference.apiVersion), reference.kind).map(({ group, plural, namespaced }) => ({
      ...{ verb: 'update', group, resource: plural, subresource: 'finalizers' },
      ...(namespaced && object.namespace ? { namespace: object.namespace } : {}),
    })),
  );
}

/** Asked for all namespaces first, and where that is refused for each one. */
async function deniedOf(cluster: Asked, requests: readonly AccessRequest[]): Promise<readonly AccessRequest[]> {
  const wide = distinct(requests.map(({ namespace: _, ...request }) => request));
  const answers = await cluster.reviewAccess(wide);
  const refused = new Set(wide.filter((_, index) => answers[index] !== true).map(keyOf));
  const narrow = distinct(requests.filter(({ namespace: _, ...request }) => refused.has(keyOf(request))));
  const spaced = narrow.filter(({ namespace }) => namespace !== undefined);
  const allowed = spaced.length === 0 ? [] : await cluster.reviewAccess(spaced);
  return narrow.filter((request) => request.namespace === undefined || allowed[spaced.indexOf(request)] !== true);
}

function distinct(requests: readonly AccessRequest[]): readonly AccessRequest[] {
  return [...new Map(requests.map((request) => [keyOf(request), request])).values()];
}

function keyOf({ verb, group, resource, subresource, namespace }: AccessRequest): string {
  return [verb, group, resource, subresource, namespace].join('|');
}

/** The plugin refuses `blockOwnerDeletion` for an unknown owner kind in its own words. Undefined: something else refused. */
async function isEnforced(cluster: Asked): Promise<boolean | undefined> {
  const owner = { apiVersion: 'netsvc-upgrade/v1', kind: 'Unknown', name: 'unknown', uid: 'unknown', blockOwnerDeletion: true };
  const metadata = { name: 'netsvc-upgrade-rights', namespace: STATE_NAMESPACE, ownerReferences: [owner] };
  try {
    await cluster.dryRunCreate(K.Secret, { apiVersion: 'v1', kind: 'Secret', metadata });
    return false;
  } catch (thrown) {
    return thrown instanceof ApiFailure && thrown.status === 403 && thrown.message.includes('blockOwnerDeletion') ? true : undefined;
  }
}

/** Before anything is removed that this account could not restore. */
export const mayRestore: OwnersCheck = {
  id: 'NS-754',
  title: 'rights to restore owner references',
  category: 'follow-up',
  severity: 'error',
  ref: '§4.8/1',
  judge: ({ rights }) => verdictOf(rights),
};

function verdictOf(rights: OwnerRights | undefined): Verdict {
  if (rights === undefined) return notApplicable('this upgrade changes no UID');
  const { denied, enforced, isEnforced } = rights;
  const missing = isEnforced === false ? denied : [...denied, ...enforced];
  const isCertain = denied.length > 0 || isEnforced === true;
  const [first] = missing.map(accessQuestion);
  const evidence = missing.map((request) => ({ text: accessText(request) }));
  return failIfAny(evidence, 'this account may remove and restore these references', (names) => ({
    because: `${counted(missing.length, 'permission')} missing to remove and restore ownerReferences: ${names}`,
    hint: isCertain
      ? 'Grant them before the upgrade: what is removed and cannot be restored stays off.'
      : 'Needed only where the API server runs the admission plugin OwnerReferencesPermissionEnforcement, which could not be found out. Grant them, or ask who runs the API server.',
    next: first ?? command`kubectl auth can-i --list`,
    ...(isCertain ? {} : { severity: 'warning' as const }),
  }));
}
