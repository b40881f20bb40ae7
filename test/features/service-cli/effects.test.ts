import assert from 'node:assert/strict';
import { effects } from '../../../src/cli/effects.ts';
import { realExecutor } from '../../../src/engine/act.ts';
import type { StoreExpected } from '../../../src/features/service-cli/cli-list.ts';
import { assertSameStore, writeCliConfig } from '../../../src/features/service-cli/effects.ts';
import type { Effect } from '../../../src/kernel/action.ts';
import type { EnginePorts } from '../../../src/kernel/effect-type.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { CLI_CONFIG, kvstoreSources } from '../../support/kvstore-sources.ts';
import { GUID, information, standInState } from '../../support/stand-in-cli-state.ts';

const store: StoreExpected = { plural: 'clusterinformations', name: 'default', guidField: 'clusterGUID', guid: GUID };
const run = { tool: 'netsvcctl', args: ['delete', 'hostendpoint', 'a', `--config=${CLI_CONFIG}`] } as const;
const tools = (clusterGUID = GUID, reachable = true) => {
  const objects = { ClusterInformation: { default: information({ clusterGUID }) } };
  return kvstoreSources(standInState({ etcdv3: { reachable, objects } }));
};

describe('the store in the moment of a write', () => {
  it('is the one that was proved', () => assertSameStore(tools(), { run, store }));

  it('is another one by now: nothing is sent', () =>
    assert.rejects(
      assertSameStore(tools('another'), { run, store }),
      /another key-value store .* clusterGUID another, not 0123456789abcdef/,
    ));

  it('does not answer by now: nothing is sent', () =>
    assert.rejects(assertSameStore(tools(GUID, false), { run, store }), /cannot be told/));

  it('is always said where a configuration file leads the CLI', () =>
    assert.rejects(assertSameStore(tools(), { run }), /names no store that it is meant for/));

  it('is asked for right before the program runs: with another one it does not', async () => {
    const asked: string[] = [];
    const { tools: inner } = tools('another');
    const ports = {
      effects,
      tools: {
        ...inner,
        run: (...given: Parameters<typeof inner.run>) => {
          asked.push(given[0].args[0] ?? '');
          return inner.run(...given);
        },
      },
    } as unknown as EnginePorts;
    const ends = {
      stop: new AbortController().signal,
      cut: new AbortController().signal,
      mustHold: () => undefined,
      watch: () => undefined,
      watcher: () => undefined,
    };
    const executor = realExecutor(ports, () => undefined, ends, {});
    const effect = { type: 'exec', program: '/bin/calicoctl', run, store } as const;
    const action = { id: 'delete-1', title: 'delete', ref: '§4.7/3', undo: 'full', effect } as const;
    await assert.rejects(
      executor.perform('hep', action, async () => undefined),
      /another key-value store/,
    );
    assert.deepEqual(asked, ['get']);
  });

  it('is no matter with the API datastore, and of other tools', async () => {
    await assertSameStore(tools('another'), { run: { tool: 'netsvcctl', args: ['delete', 'hostendpoint', 'a'] } });
    await assertSameStore(tools('another'), { run: { tool: 'kubectl', args: ['apply', '--config=x'] } });
  });
});

const SECRET = { apiVersion: 'v1', kind: 'Secret', name: 'keys', namespace: 'kube-system' };
const WRITE_CONFIG: Extract<Effect, { type: 'write-cli-config' }> = {
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
    assert.equal(await writeCliConfig(ports, WRITE_CONFIG), '/h/cli.cfg');
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
        writeCliConfig(ports, WRITE_CONFIG),
        (thrown) => thrown instanceof Fault && /Secret\/kube-system\/keys has no value for .*key: nothing was written/.test(thrown.message),
      );
      assert.deepEqual(written, []);
    });
});
