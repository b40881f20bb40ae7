import type { AnyStage } from '../kernel/stage.ts';
import { backupStage } from './backup/index.ts';
import { hepStage } from './hosts/index.ts';
import { probeImagesStage } from './images/index.ts';
import { applyStage, crdsStage, upgradeWaits, waitStage } from './install/index.ts';
import { judgingKubectl } from './judging-kubectl.ts';
import { forgetStage, ownerrefsStripStage, restoreStage, scanOwned } from './ownerrefs/index.ts';
import { policyStage as policyStageWith } from './policies/index.ts';
import { preflightStage } from './preflight/index.ts';
import { cliStage } from './service-cli/index.ts';
import { alpStage } from './sidecars/index.ts';
import { verifyStage } from './verify/index.ts';

/** These two wait for the upgrade's end, whatever the install path. */
export const ownerrefsRestoreStage = restoreStage(upgradeWaits);
export const ownerrefsForgetStage = forgetStage(upgradeWaits);

/** What the temporary policy owns is found by the search of the feature above. */
export const policyStage = policyStageWith(scanOwned);

/** The chain in order: sub-commands, `run`, the help and the documentation all come from this one list. */
export const chain: readonly AnyStage[] = [
  preflightStage,
  probeImagesStage,
  backupStage,
  ownerrefsStripStage,
  crdsStage,
  applyStage,
  waitStage,
  ownerrefsRestoreStage,
  cliStage,
  alpStage,
  hepStage,
  policyStage,
  verifyStage,
  ownerrefsForgetStage,
].map(judgingKubectl);

/** The stages that a run performs unless asked for more. */
export const usualChain: readonly AnyStage[] = chain.filter(({ optional }) => !optional);
