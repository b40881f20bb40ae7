/** The face of this feature: all that other rooms may use of it. */

export { policyEffects, policyExpectations, policyPreconditions } from './effects.ts';
export { policiesChecks, policiesInGitChecks } from './policies-checks.ts';
export {
  holdNotes,
  holdOrRelease,
  holdPolicyMigration,
  keepsOldNames,
  policiesSettled,
  type RenamingSwitch,
  readRenamingSwitch,
  refuseVainHold,
} from './settled.ts';
export { policyStage } from './stage.ts';
export {
  asksStoredNames,
  endpointProfiles,
  leanPolicy,
  neverRenames,
  POLICY_KINDS,
  POLICY_PLURALS,
  type PoliciesSettled,
  pendingNow,
  readRenamedPolicies,
  type ServiceObjects,
  serviceObjects,
  storedKind,
  valueAt,
} from './stored-policies.ts';
export { policyWorld, type StoredPolicies, temporaryPolicies } from './survey.ts';
