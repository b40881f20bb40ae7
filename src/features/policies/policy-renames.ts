import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { isOfDefaultTier, policyName } from '../../kube/stored-metadata.ts';

/** Stored policies whose name is not the one that the service knows them by: the controllers store them again (host endpoint notes 4). */
export function pendingRenames(
  policies: readonly KubeObject[],
  { apiGroup, prefix }: { readonly apiGroup: string; readonly prefix: string },
): readonly string[] {
  const names = { apiGroup, policyRenaming: { since: '', prefix, switchField: '' } };
  return policies.filter((policy) => isRenamePending(policy, names)).map((policy) => refText(refOf(policy)));
}

/** True if the controllers will store the policy under another name. */
export function isRenamePending(policy: KubeObject, names: Parameters<typeof policyName>[1]): boolean {
  return isOfDefaultTier(policy) && policyName(policy, names) !== policy.metadata.name;
}

/** The value of `spec.a.b` in an object; undefined if there is none. */
export function valueAt(object: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>(
      (value, name) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined),
      object,
    );
}
