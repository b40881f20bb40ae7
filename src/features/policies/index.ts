/** The face of this feature: all that other rooms may use of it. */

export type { PoliciesSettled } from './effects.ts';
export { policyExpectations, policyPreconditions } from './effects.ts';
export { POLICY_PLURALS, policiesChecks, policiesInGitChecks } from './policies-checks.ts';
export {
  holdNotes,
  holdPolicyMigration,
  holdUnlessHeld,
  isPending,
  keepsOldNames,
  policiesSettled,
  RENAMES_POLICIES,
  type RenamingSwitch,
  readRenamingSwitch,
} from './settled.ts';
export { policyStage } from './stage.ts';
export {
  asksStoredNames,
  endpointProfiles,
  leanPolicy,
  POLICY_KINDS,
  readRenamedPolicies,
  type ServiceObjects,
  serviceObjects,
  storedKind,
  valueAt,
} from './stored-policies.ts';
export { policyWorld, type StoredPolicies, temporaryPolicies } from './survey.ts';
