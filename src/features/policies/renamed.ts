import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { policyName, storedMetadata } from '../../kube/stored-metadata.ts';
import { neverRenames, POLICY_PLURALS } from './policies-checks.ts';
import { isRenamePending } from './policy-renames.ts';
import { storedObjects } from './service-objects.ts';
import { asksStoredNames } from './stored-policies.ts';

/** The policies that the upgrade stores under another name, as the user gives them to the service's API: with their own names. */
export async function readRenamedPolicies(
  sources: Sources,
  context: Pick<Context, 'profile' | 'options'>,
  installation: Installation,
): Promise<readonly KubeObject[]> {
  const { profile, options } = context;
  const isHeld = options.holdPolicyMigration === true || neverRenames(installation, profile) !== undefined;
  if (isHeld || !asksStoredNames(context)) return [];
  const objects = storedObjects(sources, profile);
  const stored = (await Promise.all(POLICY_PLURALS.map(objects))).flat();
  return stored
    .filter((policy) => isRenamePending(policy, profile))
    .map((policy) => {
      const { labels, annotations } = storedMetadata(policy, profile.apiGroup);
      const { namespace } = policy.metadata;
      const metadata = { name: policyName(policy, profile), ...(namespace ? { namespace } : {}), labels, annotations };
      return { apiVersion: `${profile.apiGroup}/v3`, kind: policy.kind, metadata, spec: policy.spec };
    });
}
