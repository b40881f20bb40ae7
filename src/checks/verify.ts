import type { VerifyCheck } from './verify-facts.ts';
import { operatorDone } from './verify-operator.ts';
import { journalThere, ownersBack, ownersExist, temporaryPolicy } from './verify-resources.ts';
import { clusterVersion, noOldCli } from './verify-version.ts';
import { crdsLeftBehind, everyPodNew, nothingLeft, rolloutComplete } from './verify-workloads.ts';

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
