import type { AnyStage } from '../kernel/stage.ts';
import { backupStage } from './backup/stage.ts';
import { hepStage } from './hosts/stage.ts';
import { probeImagesStage } from './images/stage.ts';
import { applyStage } from './install/apply-stage.ts';
import { crdsStage } from './install/crds-stage.ts';
import { upgradeWaits } from './install/upgrade-waits.ts';
import { waitStage } from './install/wait-stage.ts';
import { judgingKubectl } from './judging-kubectl.ts';
import { forgetStage } from './ownerrefs/forget-stage.ts';
import { restoreStage } from './ownerrefs/restore-stage.ts';
import { ownerrefsStripStage } from './ownerrefs/strip-stage.ts';
import { policyStage } from './policies/stage.ts';
import { preflightStage } from './preflight/stage.ts';
import { cliStage } from './service-cli/stage.ts';
import { alpStage } from './sidecars/stage.ts';
import { verifyStage } from './verify/stage.ts';

/** These two wait for the upgrade's end, whatever the install path. */
export const ownerrefsRestoreStage = restoreStage(upgradeWaits);
export const ownerrefsForgetStage = forgetStage(upgradeWaits);

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
