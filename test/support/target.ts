import assert from 'node:assert/strict';
import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';

/** What tests upgrade to: the releases that the profiles upgrade to unless another is asked for. */
export const CALICO_TARGET = calico.defaultRelease;
/** Tag of the operator of that release. */
export const CALICO_OPERATOR = operatorOf(CALICO_TARGET);
export const NETSVC_TARGET = netsvc.defaultRelease;

/** The profile knows the operators of few releases. */
function operatorOf(release: string): string {
  const known = Object.entries(calico.operator.exactReleases ?? {}).find(([, one]) => one === release);
  return known?.[0] ?? assert.fail(`no operator of ${release} is known`);
}
