import assert from 'node:assert/strict';
import { writeCliConfig } from '../../../src/features/service-cli/effects.ts';
import type { Effect } from '../../../src/kernel/action.ts';
import type { EnginePorts } from '../../../src/kernel/effect-type.ts';
import { Fault } from '../../../src/kernel/fault.ts';

const SECRET = { apiVersion: 'v1', kind: 'Secret', name: 'keys', namespace: 'kube-system' };
const EFFECT: Extract<Effect, { type: 'write-cli-config' }> = {
  type: 'write-cli-config',
  to: '/h/cli.cfg',
  content: 'spec: {}\n',
  certificates: { secret: SECRET, files: { '/h/cli.cfg.ca': 'ca', '/h/cli.cfg.key': 'key' } },
};

function bench(data: Readonly<Record<string, string>> | undefined) {
  const written: (readonly [string, string])[] = [];
  const ports = {
    cluster: { get: async () => (data === undefined ? undefined : { ...SECRET, data }) },
    machine: { writeNew: async (file: string, content: string) => void written.push([file, content]) },
  } as unknown as EnginePorts;
  return { ports, written };
}

describe('writing the configuration of the CLI', () => {
  it('writes the certificates first, and the file that names them last', async () => {
    const { ports, written } = bench({ ca: btoa('CA'), key: btoa('KEY'), other: btoa('x') });
    assert.equal(await writeCliConfig(ports, EFFECT), '/h/cli.cfg');
    assert.deepEqual(written, [
      ['/h/cli.cfg.ca', 'CA'],
      ['/h/cli.cfg.key', 'KEY'],
      ['/h/cli.cfg', 'spec: {}\n'],
    ]);
  });

  for (const [title, data] of [
    ['is empty', { ca: btoa('CA'), key: '' }],
    ['is gone', undefined],
  ] as const)
    it(`writes nothing where the Secret ${title}`, async () => {
      const { ports, written } = bench(data);
      await assert.rejects(
        writeCliConfig(ports, EFFECT),
        (thrown) => thrown instanceof Fault && /Secret\/kube-system\/keys has no value for .*key: nothing was written/.test(thrown.message),
      );
      assert.deepEqual(written, []);
    });
});
