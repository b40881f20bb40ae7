import assert from 'node:assert/strict';
import { effects } from '../../../src/cli/effects.ts';
import { realExecutor } from '../../../src/engine/act.ts';
import { assertSameStore } from '../../../src/features/service-cli/effects.ts';
import type { StoreExpected } from '../../../src/features/service-cli/store-identity.ts';
import type { EnginePorts } from '../../../src/kernel/effect-type.ts';
import { CLI_CONFIG, GUID, kvstoreSources } from '../../support/kvstore-sources.ts';
import { standInState } from '../../support/stand-in-cli-state.ts';

const store: StoreExpected = { plural: 'clusterinformations', name: 'default', guidField: 'clusterGUID', guid: GUID };
const run = { tool: 'netsvcctl', args: ['delete', 'hostendpoint', 'a', `--config=${CLI_CONFIG}`] } as const;
const tools = (clusterGUID = GUID, reachable = true) => {
  const objects = { ClusterInformation: { default: { metadata: { name: 'default' }, spec: { clusterGUID } } } };
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
    const ends = { stop: new AbortController().signal, cut: new AbortController().signal, mustHold: () => undefined };
    const executor = realExecutor(ports, () => undefined, ends, {});
    const effect = { type: 'exec', program: '/bin/calicoctl', run, store } as const;
    const action = { id: 'delete-1', title: 'delete', ref: '§4.7/3', undo: 'full', effect } as const;
    await assert.rejects(executor.perform('hep', action), /another key-value store/);
    assert.deepEqual(asked, ['get']);
  });

  it('is no matter with the API datastore, and of other tools', async () => {
    await assertSameStore(tools('another'), { run: { tool: 'netsvcctl', args: ['delete', 'hostendpoint', 'a'] } });
    await assertSameStore(tools('another'), { run: { tool: 'kubectl', args: ['apply', '--config=x'] } });
  });
});
