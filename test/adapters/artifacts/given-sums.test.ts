import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { givenSums } from '../../../src/adapters/artifacts/known-digests.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { testFolder } from '../../support/folders.ts';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];

describe('sums that a person gives', () => {
  const folder = testFolder('given-sums-');
  const file = async (text: string) => {
    const path = join(folder, 'SHA256SUMS');
    await writeFile(path, text);
    return path;
  };

  it('are pairs of a name and a sum, and files as sha256sum writes them', async () => {
    const list = await file(`${A}  calicoctl-linux-amd64\n${B.toUpperCase()} *bin/calicoctl-linux-arm64\n# more\n`);
    assert.deepEqual(
      [...(await givenSums([`manifests/calico.yaml=sha256:${A}`, `apiserver.yaml=${B}`, list]))],
      [
        ['calico.yaml', A],
        ['apiserver.yaml', B],
        ['calicoctl-linux-amd64', A],
        ['calicoctl-linux-arm64', B],
      ],
    );
  });

  for (const [what, value] of [
    ['a sum without a name', A],
    ['a name without a sum', 'calico.yaml='],
    ['a sum that is too short', `calico.yaml=${A.slice(1)}`],
    ['no file', '/nowhere/SHA256SUMS'],
  ] as const)
    it(`are not ${what}`, async () => {
      await assert.rejects(
        givenSums([value]),
        (thrown: unknown) =>
          thrown instanceof Fault && thrown.code === 'usage' && thrown.message.includes('neither NAME=SHA256 nor a file'),
      );
    });

  it('are not a file without sums, and not two of one name', async () => {
    await assert.rejects(givenSums([await file('nothing\n')]), /it has no line with a sum and a name/);
    await assert.rejects(givenSums([`x.yaml=${A}`, `x.yaml=${B}`]), /two sums of x\.yaml: a{64} and b{64}/);
    assert.equal((await givenSums([`x.yaml=${A}`, `x.yaml=${A}`])).size, 1);
  });
});
