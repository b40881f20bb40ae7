/** The face of this feature: all that other rooms may use of it. */
export { policyExpectations, policyPreconditions } from './effects.ts';
export { endpointProfiles } from './endpoint-profiles.ts';
export { holdNotes, holdPolicyMigration, holdUnlessHeld, type RenamingSwitch, readRenamingSwitch } from './hold.ts';
export { POLICY_PLURALS, policiesChecks } from './policies-checks.ts';
export { policiesInGitChecks } from './policies-in-git-checks.ts';
export { valueAt } from './policy-renames.ts';
export { readRenamedPolicies } from './renamed.ts';
export { cliResources, type ServiceObjects, storedKind, storedObjects } from './service-objects.ts';
export { isPending, keepsOldNames, policiesSettled } from './settled.ts';
export { policyStage } from './stage.ts';
export { asksStoredNames, leanPolicy, POLICY_KINDS } from './stored-policies.ts';
export { temporaryPolicies } from './survey.ts';
export type { PoliciesSettled } from './wait-policies.ts';
export { policyWorld, type StoredPolicies } from './world.ts';
