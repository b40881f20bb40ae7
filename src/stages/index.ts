import type { AnyStage, StageId } from '../core/stage.ts';
import { alpStage } from './alp.ts';
import { applyStage } from './apply.ts';
import { backupStage } from './backup.ts';
import { cliStage } from './cli.ts';
import { crdsStage } from './crds.ts';
import { hepStage } from './hep.ts';
import { policyStage } from './policy.ts';
import { preflightStage } from './preflight.ts';
import { verifyStage } from './verify.ts';
import { waitStage } from './wait.ts';

/** The chain in order: sub-commands, `run`, the help and the documentation all come from this one list. */
export const chain: readonly AnyStage[] = [
  preflightStage,
  backupStage,
  crdsStage,
  applyStage,
  waitStage,
  cliStage,
  alpStage,
  hepStage,
  policyStage,
  verifyStage,
];

/** The stages that a run performs unless asked for more. */
export const usualChain: readonly AnyStage[] = chain.filter(({ optional }) => !optional);

/** Stages of the procedure that a later version brings, at their place in the chain (docs/coverage.md). */
export const laterStages: readonly { readonly id: StageId; readonly before: StageId; readonly ref: string }[] = [
  { id: 'ownerrefs-strip', before: 'crds', ref: '§4.8/1' },
  { id: 'ownerrefs-restore', before: 'cli', ref: '§4.8/3' },
];
