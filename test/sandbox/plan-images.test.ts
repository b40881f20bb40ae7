import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

const installed = () => installedSandbox({ nodes: 1 });

describe('plan -o images', () => {
  it('prints one image a line with its registry, sorted, and nothing else', async () => {
    const bench = sandboxCommand(await installed());
    assert.equal(await bench.run('plan', '-o', 'images'), 0, bench.err());
    const names = ['cni', 'kube-controllers', 'node'];
    const images = names.map((name) => `registry.netsvc.io/netsvc/${name}:${netsvc.defaultRelease}\n`);
    assert.ok(
      images.every((image) => bench.out().includes(image)),
      bench.out(),
    );
    assert.deepEqual(bench.out().trimEnd().split('\n'), bench.out().trimEnd().split('\n').toSorted());
    assert.match(bench.out(), /^(\S+\/\S+:v\S+\n)+$/);
    assert.equal(bench.err(), '');
  });

  for (const flag of ['--out', '--report-file']) {
    it(`is no document for ${flag}`, async () => {
      const bench = sandboxCommand(await installed());
      assert.equal(await bench.run('plan', '-o', 'images', flag, 'no-such-file.json'), 64);
      assert.match(bench.err(), new RegExp(`makes a list, not a document for ${flag}`));
      assert.equal(existsSync('no-such-file.json'), false);
    });
  }

  it('is a format of plan alone', async () => {
    const bench = sandboxCommand(await installed());
    assert.equal(await bench.run('preflight', '-o', 'images'), 64);
  });
});
