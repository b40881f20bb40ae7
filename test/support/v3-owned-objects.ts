import { type Api, type ApiObject, unlessGone } from '../control-plane/api.ts';
import { GROUP, type Reference, SPACE } from './owned-objects.ts';

const V3 = `/apis/${GROUP}/v3`;
const spaced = (plural: string) => `${V3}/namespaces/${SPACE}/${plural}`;
const POLICY = { selector: 'all()', types: ['Ingress'] };

/** Owners as `makeOwnedObjects` names them, by their paths in the v3 API. */
const OWNERS = {
  set: `${V3}/globalnetworksets/owner-set`,
  pool: `${V3}/ippools/owner-pool`,
  policy: `${V3}/globalnetworkpolicies/owner-policy`,
  rules: `${spaced('networkpolicies')}/owner-rules`,
  keeper: `/api/v1/namespaces/${SPACE}/configmaps/keeper`,
} as const;

type Owner = keyof typeof OWNERS;

interface Shape {
  readonly path: string;
  readonly kind: string;
  readonly name: string;
  readonly owners: readonly (readonly [Owner, Partial<Reference>?])[];
  readonly spec?: object;
}

/** Objects of the service that were made through the v3 API, and that others of the service own: their owners are in a note alone. */
const SHAPES: readonly Shape[] = [
  { path: spaced('networksets'), kind: 'NetworkSet', name: 'of-a-set', owners: [['set', { blockOwnerDeletion: true }]] },
  { path: spaced('networksets'), kind: 'NetworkSet', name: 'of-a-policy', owners: [['policy', { controller: true }]] },
  { path: spaced('networksets'), kind: 'NetworkSet', name: 'of-rules', owners: [['rules', { controller: false }]] },
  { path: `${V3}/globalnetworksets`, kind: 'GlobalNetworkSet', name: 'of-a-pool', owners: [['pool']] },
  { path: spaced('networkpolicies'), kind: 'NetworkPolicy', name: 'rules-of-rules', owners: [['rules']], spec: POLICY },
  { path: spaced('networkpolicies'), kind: 'NetworkPolicy', name: 'rules-of-a-set', owners: [['set']], spec: POLICY },
  { path: `${V3}/globalnetworkpolicies`, kind: 'GlobalNetworkPolicy', name: 'policy-of-a-pool', owners: [['pool']], spec: POLICY },
];

/** Those that a policy owns: they die of the new names of policies, whatever release was installed. */
export const OF_POLICIES = ['of-a-policy', 'of-rules', 'rules-of-rules'] as const;
export const ALL = SHAPES.map(({ name }) => name);

async function referenceTo(api: Api, owner: Owner, flags: Partial<Reference> = {}): Promise<Reference> {
  const { apiVersion, kind, metadata } = await api.get<ApiObject & Pick<Reference, 'apiVersion' | 'kind'>>(OWNERS[owner]);
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...flags };
}

/** Makes them through the v3 API, each with its owners as that API shows these now. */
export async function makeV3Owned(api: Api): Promise<void> {
  for (const { path, kind, name, owners, spec = {} } of SHAPES) {
    const ownerReferences = await wanted(api, owners);
    await api.send('POST', path, { apiVersion: `${GROUP}/v3`, kind, metadata: { name, ownerReferences }, spec });
  }
}

const wanted = (api: Api, owners: Shape['owners']) => Promise.all(owners.map(([owner, flags]) => referenceTo(api, owner, flags)));

/** By name, what each lists as its owners; those that are gone, or are going, are left out. */
export async function v3Owners(api: Api): Promise<Readonly<Record<string, readonly Reference[]>>> {
  const found = await Promise.all(
    SHAPES.map(async ({ path, name }) => {
      const object = await api.get<ApiObject>(`${path}/${name}`).catch(unlessGone);
      if (!object || object.metadata.deletionTimestamp !== undefined) return [];
      return [[name, (object.metadata.ownerReferences ?? []) as readonly Reference[]] as const];
    }),
  );
  return Object.fromEntries(found.flat());
}

/** What `v3Owners` has to say once everything is right: every owner under the UID that it has now. */
export async function rightOwners(api: Api): Promise<Readonly<Record<string, readonly Reference[]>>> {
  const found = await Promise.all(SHAPES.map(async ({ name, owners }) => [name, await wanted(api, owners)] as const));
  return Object.fromEntries(found);
}
