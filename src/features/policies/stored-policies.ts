import type { Context } from '../../kernel/context.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { isOlder } from '../../kernel/release.ts';

/** Kinds that the policy-name migration stores again. */
export const POLICY_KINDS: ReadonlySet<string> = new Set([
  'NetworkPolicy',
  'GlobalNetworkPolicy',
  'StagedNetworkPolicy',
  'StagedGlobalNetworkPolicy',
]);

/** The target's API server finds a policy only under the name that it is stored under (host endpoint notes 0.5). */
export function asksStoredNames({ profile: { policyRenaming }, options }: Pick<Context, 'profile' | 'options'>): boolean {
  return policyRenaming !== undefined && !isOlder(options.release, policyRenaming.since);
}

/** What the name and the tier of a stored policy are detected from, when it was made, and whether it was stored again. */
export function leanPolicy({ apiVersion, kind, metadata, spec }: KubeObject): KubeObject {
  const { name, namespace, uid, annotations, creationTimestamp } = metadata;
  const { tier } = (spec ?? {}) as { readonly tier?: unknown };
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      ...(uid ? { uid } : {}),
      ...(annotations ? { annotations } : {}),
      ...(creationTimestamp ? { creationTimestamp } : {}),
    },
    spec: { tier },
  };
}
