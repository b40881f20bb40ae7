import assert from 'node:assert/strict';
import { convertsUids, uidChangeBetween } from '../../../src/features/ownerrefs/uid-change.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';

describe('the change of UIDs', () => {
  for (const [release, converts] of [
    ['v3.26.5', false],
    ['v3.27.4', false],
    ['v3.27.5', true],
    ['v3.27.9', true],
    ['v3.28.0', true],
    ['v3.32.1', true],
  ] as const)
    it(`${converts ? 'is there' : 'is not there'} in ${release} of Calico`, () => {
      assert.equal(convertsUids(release, calico), converts);
    });

  it('is where the document has it for a service without the line that got it later', () => {
    assert.equal(convertsUids('v3.27.5', netsvc), false);
  });

  for (const [source, target, at] of [
    ['v3.26.5', 'v3.32.1', 'v3.28.0'],
    ['v3.27.4', 'v3.32.1', 'v3.28.0'],
    ['v3.27.5', 'v3.32.1', undefined],
    ['v3.28.0', 'v3.32.1', undefined],
    ['v3.26.5', 'v3.27.4', undefined],
    ['v3.26.5', 'v3.27.5', 'v3.27.5'],
    ['v3.27.4', 'v3.27.5', 'v3.27.5'],
    [undefined, 'v3.32.1', 'v3.28.0'],
    ['master', 'v3.32.1', 'v3.28.0'],
    ['v3.26.5', 'master', undefined],
  ] as const)
    it(`is passed ${at === undefined ? 'nowhere' : `at ${at}`} from ${source} to ${target}`, () => {
      assert.equal(uidChangeBetween(source, target, calico), at);
    });
});
