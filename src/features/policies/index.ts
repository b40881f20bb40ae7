/** The face of this feature: all that other rooms may use of it. */

export type { PoliciesSettled } from './effects.ts';
export { policyExpectations, policyPreconditions } from './effects.ts';
export { endpointProfiles } from './endpoint-profiles.ts';
export { holdNotes, holdPolicyMigration, holdUnlessHeld, type RenamingSwitch, readRenamingSwitch } from './hold.ts';
export { POLICY_PLURALS, policiesChecks, policiesInGitChecks } from './policies-checks.ts';
export { cliResources, type ServiceObjects, storedKind, storedObjects } from './service-objects.ts';
export { isPending, keepsOldNames, policiesSettled } from './settled.ts';
export { policyStage } from './stage.ts';
export { asksStoredNames, leanPolicy, POLICY_KINDS, readRenamedPolicies, valueAt } from './stored-policies.ts';
export { policyWorld, type StoredPolicies, temporaryPolicies } from './survey.ts';
