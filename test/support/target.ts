import assert from 'node:assert/strict';
import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';

/** What tests upgrade to: the releases that the profiles upgrade to unless another is asked for. */
export const CALICO_TARGET = calico.defaultRelease;
/** Tag of the operator of that release. */
export const CALICO_OPERATOR = operatorOf(CALICO_TARGET);
/** Its line: `v3.32`. */
export const CALICO_LINE = CALICO_TARGET.replace(/\.\d+$/, '');
export const NETSVC_TARGET = netsvc.defaultRelease;

/** What stands between the slashes of a pattern, with a release in it that stands for itself. */
export function pattern({ raw }: TemplateStringsArray, ...releases: readonly string[]): RegExp {
  return new RegExp(String.raw({ raw }, ...releases.map((one) => one.replaceAll('.', '\\.'))));
}

/** The profile knows the operators of few releases. */
function operatorOf(release: string): string {
  const known = Object.entries(calico.operator.exactReleases ?? {}).find(([, one]) => one === release);
  return known?.[0] ?? assert.fail(`no operator of ${release} is known`);
}
