import { type Check, notApplicable } from '../../kernel/check.ts';
import { type ApplyJudged, nothingRefusedNow } from '../install-manifest/index.ts';
import { noneAtZero, type ReplicasJudged } from '../rollout/index.ts';
import type { SourceJudged } from '../survey/index.ts';
import { sourceChecks } from '../survey/index.ts';
import { typhaOrderTaken } from './checks.ts';

/** What the checks of `crds` look at. */
export interface CrdsJudged extends SourceJudged, ReplicasJudged, Pick<ApplyJudged, 'previews'> {
  /** The stage has CRDs to write. */
  readonly writes: boolean;
  /** As `typhaOrderTaken` has it; absent where it is not known. */
  readonly upgraded?: boolean;
}

/** What apply would refuse is refused before the CRDs: an old operator that is restarted beside the new ones hangs (§4.3/2). */
const orderTakenBefore: Check<CrdsJudged> = {
  ...typhaOrderTaken,
  judge: (facts, context) =>
    facts.writes ? typhaOrderTaken.judge(facts, context) : notApplicable('no CRD is written here: apply checks it'),
};

export const crdsChecks: readonly Check<CrdsJudged>[] = [...sourceChecks, nothingRefusedNow, orderTakenBefore, noneAtZero];
