/** The face of this feature: all that other rooms may use of it. */
export { policyExpectations, policyPreconditions } from './effects.ts';
export { endpointProfiles } from './endpoint-profiles.ts';
export { temporaryPolicies } from './facts.ts';
export { holdNotes, holdPolicyMigration, holdUnlessHeld, type RenamingSwitch, readRenamingSwitch } from './hold.ts';
export { namesKept, noTemporaryPolicy, noTwins, POLICY_PLURALS } from './policies-checks.ts';
export { copiesInGit } from './policies-in-git-checks.ts';
export { valueAt } from './policy-renames.ts';
export { cliResources, type ServiceObjects, storedKind, storedObjects } from './service-objects.ts';
export { isPending, keepsOldNames, policiesSettled } from './settled.ts';
export { policyStage } from './stage.ts';
export { asksStoredNames, leanPolicy, POLICY_KINDS } from './stored-policies.ts';
export type { PoliciesSettled } from './wait-policies.ts';
export { policyWorld, type StoredPolicies } from './world.ts';
