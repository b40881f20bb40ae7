import type { Check } from '../../kernel/check.ts';
import { noneAtZero } from '../rollout/index.ts';
import { crdsOfNoOther, noCrdsDeleted, operatorManagesCrds, operatorNotPinned, releaseReadable, releaseSettled } from './chart-checks.ts';
import type { ChartJudged } from './chart-facts.ts';
import { noDataDeleted, noOldRecord, releaseOfChart, releaseWithOperator } from './chart-place.ts';
import { releaseStore } from './chart-store.ts';
import { chartUnchanged, csiDriverKept, helmFits, noFieldTaken, targetChart, upgradeAccepted, valuesKnown } from './chart-target.ts';

/** The checks of a chart upgrade in the order in which they are shown. */
export const chartChecks: readonly Check<ChartJudged>[] = [
  helmFits,
  releaseReadable,
  releaseStore,
  releaseSettled,
  releaseWithOperator,
  releaseOfChart,
  targetChart,
  chartUnchanged,
  operatorNotPinned,
  operatorManagesCrds,
  noCrdsDeleted,
  noDataDeleted,
  noOldRecord,
  crdsOfNoOther,
  csiDriverKept,
  upgradeAccepted,
  noFieldTaken,
  valuesKnown,
  noneAtZero,
];
