import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { unpackRelease } from '../../../src/features/install-chart/helm-unpack.ts';

const JSON_TEXT = '{"name":"calico","note":"größer"}';
const packed = gzipSync(JSON_TEXT).toString('base64');

describe('unpackRelease', () => {
  const stored: readonly (readonly [string, string])[] = [
    ['as a Secret has it, in base64 twice', Buffer.from(packed).toString('base64')],
    ['as a ConfigMap has it, in base64 once', packed],
    ['not compressed, as very old chart tools left it', Buffer.from(Buffer.from(JSON_TEXT).toString('base64')).toString('base64')],
    ['with line ends around it', `${packed}\n`],
  ];
  for (const [how, text] of stored) {
    it(`reads a release ${how}`, async () => assert.equal(await unpackRelease(text), JSON_TEXT));
  }

  const broken: readonly (readonly [string, string, RegExp])[] = [
    ['no base64', '***', /not base64/],
    [
      'something else in base64',
      Buffer.from(Buffer.from('hello').toString('base64')).toString('base64'),
      /not a packed chart release|not base64/,
    ],
    ['nothing', '', /not a packed chart release/],
    ['a bomb', gzipSync(Buffer.alloc(65 * 1024 * 1024)).toString('base64'), /larger than 64 MiB/],
  ];
  for (const [what, text, because] of broken) {
    it(`says why ${what} is no release`, async () => assert.rejects(unpackRelease(text), because));
  }

  it('rejects a release that is cut short', async () => {
    await assert.rejects(unpackRelease(gzipSync(JSON_TEXT).subarray(0, 20).toString('base64')));
  });
});
