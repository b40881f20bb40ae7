import type { FeatureEffects } from '../kernel/effect-type.ts';
import { backupEffects } from './backup/index.ts';
import { hostExpectations, hostPreconditions } from './hosts/index.ts';
import { imageEffects } from './images/index.ts';
import { manifestExpectations } from './install-manifest/index.ts';
import { operatorExpectations } from './install-operator/index.ts';
import { networkProbeEffects } from './network-probe/index.ts';
import { ownerEffects, ownerGuards } from './ownerrefs/index.ts';
import { policyExpectations, policyPreconditions } from './policies/index.ts';
import { rolloutExpectations } from './rollout/index.ts';
import { cliEffects, cliGuards } from './service-cli/index.ts';
import { sidecarPreconditions } from './sidecars/index.ts';

/** What the features add to the register of effects; one that is missing is a type error. */
export const featureEffects: FeatureEffects = {
  effects: { ...backupEffects, ...cliEffects, ...imageEffects, ...networkProbeEffects, ...ownerEffects },
  expectations: { ...hostExpectations, ...manifestExpectations, ...operatorExpectations, ...policyExpectations, ...rolloutExpectations },
  preconditions: { ...hostPreconditions, ...policyPreconditions, ...sidecarPreconditions },
  guards: { ...cliGuards, ...ownerGuards },
};
