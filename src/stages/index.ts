import type { AnyStage } from '../core/stage.ts';
import { alpStage } from './alp.ts';
import { applyStage } from './apply.ts';
import { backupStage } from './backup.ts';
import { cliStage } from './cli.ts';
import { crdsStage } from './crds.ts';
import { hepStage } from './hep.ts';
import { judgingKubectl } from './judging-kubectl.ts';
import { ownerrefsForgetStage } from './ownerrefs-forget.ts';
import { ownerrefsRestoreStage } from './ownerrefs-restore.ts';
import { ownerrefsStripStage } from './ownerrefs-strip.ts';
import { policyStage } from './policy.ts';
import { preflightStage } from './preflight.ts';
import { probeImagesStage } from './probe-images.ts';
import { verifyStage } from './verify.ts';
import { waitStage } from './wait.ts';

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
