import { notApplicable, ok, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { policyName, storedMetadata } from '../../kube/stored-metadata.ts';
import {
  crosses,
  evidenceOf,
  failIfAny,
  gitOpsOwners,
  PROGRAM,
  type PreflightCheck,
  sourceRelease,
  withResources,
} from '../survey/index.ts';
import { neverRenames, pendingRenames } from './policies-checks.ts';

export const policiesInGitChecks: readonly PreflightCheck[] = [
  /** A delivery tool would create a renamed policy a second time under its old name, or delete the new one. */
  {
    id: 'NS-710',
    title: 'renamed policies not held by GitOps',
    category: 'follow-up',
    severity: 'error',
    ref: 'domain §0.6b',
    judge: withResources((installation, facts, context): Verdict => {
      const { profile, options } = context;
      const since = profile.policyRenaming?.since;
      if (since === undefined || !crosses(sourceRelease(installation, facts, context), options.release, since))
        return notApplicable('this upgrade renames no policies');
      if (neverRenames(installation, profile) !== undefined || options.holdPolicyMigration)
        return ok('no policy is renamed by this upgrade');
      const pending = pendingRenames(facts, profile);
      const held = pending.flatMap((policy) => gitOpsOwners([asGiven(policy, profile)]).map((owner) => ({ policy, owner })));
      const commands = [...new Set(held.flatMap(({ owner }) => owner.command ?? []))];
      return failIfAny(
        held.map(({ policy, owner }) => evidenceOf(policy, `${owner.name}: name it ${policyName(policy, profile)} in Git`)),
        'no policy that will be renamed is held by a GitOps tool',
        (names) => ({
          because: `${counted(held.length, 'policy', 'policies')} of a GitOps tool will be stored under another name: ${names}. The next sync creates each a second time under its old name, or deletes it`,
          hint: `Stop the sync first: ${commands.join('; ')}. In Git, give each policy its new name (kubectl netsvc-upgrade plan --for-git DIR writes them), and resume the sync after the upgrade. Or hold the renaming back with --hold-policy-migration.`,
          next: commands[0] ?? `${PROGRAM} explain NS-710`,
        }),
      );
    }),
  },
];

/** With the labels and annotations that it was given through the v3 API, where tools leave their marks. */
function asGiven(policy: KubeObject, { apiGroup }: Profile): KubeObject {
  const { labels, annotations } = storedMetadata(policy, apiGroup);
  return { ...policy, metadata: { ...policy.metadata, labels, annotations } };
}
