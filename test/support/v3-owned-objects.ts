import type { OwnerReference } from '../../src/kernel/object.ts';
import { type Api, type ApiObject, unlessGone } from '../control-plane/api.ts';
import { OWNERS, pathOf, referenceTo, V3 } from './owned-objects.ts';

type Owner = keyof typeof OWNERS;
type Shape = readonly [name: string, like: Owner, owner: Owner, flags?: Partial<OwnerReference>];

/**
 * Objects of the service that were made through the v3 API, each of the kind of one of the owners that `makeOwnedObjects` makes, and that
 * another of these owns: their owners are in a note alone.
 */
const SHAPES: readonly Shape[] = [
  ['of-a-set', 'space', 'set', { blockOwnerDeletion: true }],
  ['of-a-policy', 'space', 'policy', { controller: true }],
  ['of-rules', 'space', 'rules', { controller: false }],
  ['of-a-pool', 'set', 'pool'],
  ['rules-of-rules', 'rules', 'rules'],
  ['rules-of-a-set', 'rules', 'set'],
  ['policy-of-a-pool', 'policy', 'pool'],
];

/** Those that a policy owns: they die of the new names of policies, whatever release was installed. */
export const OF_POLICIES = ['of-a-policy', 'of-rules', 'rules-of-rules'] as const;
export const ALL = SHAPES.map(([name]) => name);

type Owners = Readonly<Record<string, readonly OwnerReference[]>>;

const pathOfAll = (like: Owner) => pathOf(OWNERS[like], V3);

/** By the owner's present UID in the v3 API. */
const wanted = async (api: Api, [, , owner, flags]: Shape) =>
  referenceTo(await api.get<ApiObject>(`${pathOfAll(owner)}/owner-${owner}`), flags);

/** Makes them through the v3 API, each with its owner as that API shows it now. */
export async function makeV3Owned(api: Api): Promise<void> {
  for (const shape of SHAPES) {
    const [name, like] = shape;
    const { kind, fields } = OWNERS[like];
    const metadata = { name, ownerReferences: [await wanted(api, shape)] };
    await api.send('POST', pathOfAll(like), { apiVersion: V3, kind, ...fields, metadata });
  }
}

/** By name, what each lists as its owners; those that are gone, or are going, are left out. */
export async function v3Owners(api: Api): Promise<Owners> {
  const found = SHAPES.map(async ([name, like]) => {
    const object = await api.get<ApiObject>(`${pathOfAll(like)}/${name}`).catch(unlessGone);
    if (!object || object.metadata.deletionTimestamp !== undefined) return [];
    return [[name, (object.metadata.ownerReferences ?? []) as readonly OwnerReference[]] as const];
  });
  return Object.fromEntries((await Promise.all(found)).flat());
}

/** What `v3Owners` has to say once everything is right: every owner under the UID that it has now. */
export async function rightOwners(api: Api): Promise<Owners> {
  return Object.fromEntries(await Promise.all(SHAPES.map(async (shape) => [shape[0], [await wanted(api, shape)]] as const)));
}
