import type { VerifyCheck } from './facts.ts';
import { operatorDone } from './operator-checks.ts';
import { journalThere, ownersBack, ownersExist, temporaryPolicy } from './resources-checks.ts';
import { clusterVersion, noOldCli } from './version-checks.ts';
import { crdsLeftBehind, everyPodNew, nothingLeft, rolloutComplete } from './workloads-checks.ts';

/** What `verify` judges, in the order in which it is shown. */
export const verifyChecks: readonly VerifyCheck[] = [
  clusterVersion,
  everyPodNew,
  rolloutComplete,
  operatorDone,
  nothingLeft,
  crdsLeftBehind,
  temporaryPolicy,
  ownersExist,
  ownersBack,
  journalThere,
  noOldCli,
];
