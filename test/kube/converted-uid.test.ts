import assert from 'node:assert/strict';
import fc from 'fast-check';
import { convertUid } from '../../src/kube/converted-uid.ts';

const STORED = '30316465-6365-4463-ad63-3564622d3638';
const SERVED = '0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c';

describe('UIDs of the v3 API', () => {
  it('are those of the stored objects converted, as the service converts them', () => {
    assert.equal(convertUid(STORED), SERVED);
  });

  it('convert back to what they were, and keep version and variant', () => {
    fc.assert(
      fc.property(fc.uuid(), (uid) => {
        const converted = convertUid(uid) ?? '';
        assert.equal(convertUid(converted), uid);
        assert.deepEqual([converted[14], converted[19]], [uid[14], uid[19]]);
      }),
    );
  });

  for (const text of [
    '',
    'kns.default',
    SERVED.slice(1),
    `${SERVED}0`,
    SERVED.replaceAll('-', ''),
    `{${SERVED}}`,
    SERVED.replace('c', 'g'),
  ])
    it(`are not made of "${text}"`, () => assert.equal(convertUid(text), undefined));
});
