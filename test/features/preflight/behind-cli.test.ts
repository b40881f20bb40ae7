import assert from 'node:assert/strict';
import { readBehindCli } from '../../../src/features/preflight/stage.ts';
import type { Detection } from '../../../src/kernel/installation.ts';
import { contextOf, found } from '../../fixtures/facts.ts';
import { kvstoreSources } from '../../support/kvstore-sources.ts';
import { ofRelease, standInState } from '../../support/stand-in-cli-state.ts';

const stored = (name: string, spec = {}) => ({ [name]: { metadata: { name }, spec } });
const OBJECTS = {
  GlobalNetworkPolicy: { 'default.allow-all-upgrade': { metadata: { name: 'allow-all-upgrade' } }, ...stored('mine') },
  FelixConfiguration: stored('default', { policySyncPathPrefix: '/var/run/nodeagent' }),
};
const KVSTORE = { path: 'kvstore', variant: 'calico-etcd', datastore: 'kvstore', release: 'v3.26.4' } as const;

/** A cluster of that release, and a CLI of that one. */
async function ask(cluster: string, cli: { readonly client: string; readonly generation: 'old' | 'new' }, detection: Detection) {
  const etcdv3 = ofRelease(cluster, OBJECTS);
  return readBehindCli(kvstoreSources(standInState({ ...cli, etcdv3 })), contextOf(), detection);
}

const OLD = { client: 'v3.26.4', generation: 'old' } as const;

describe('what only the CLI sees before the upgrade', () => {
  it('is asked of the CLI of the installed release, which alone is let in', async () => {
    const read = await ask('v3.26.4', OLD, found(KVSTORE).value);
    assert.deepEqual(
      read?.temporaryPolicies.map(({ metadata }) => metadata.name),
      ['allow-all-upgrade'],
    );
    assert.deepEqual(
      read?.agentConfigurations.map(({ spec }) => spec),
      [{ policySyncPathPrefix: '/var/run/nodeagent' }],
    );
  });

  it('is not asked where the API has it', async () => {
    assert.equal(await ask('v3.26.4', OLD, found().value), undefined);
  });

  it('is asked of the target’s once the upgrade is done', async () => {
    const read = await ask('v3.32.1', { client: 'v3.32.1', generation: 'new' }, found({ ...KVSTORE, release: 'v3.32.1' }).value);
    assert.equal(read?.agentConfigurations.length, 1);
  });

  it('stays unknown where only a CLI of yet another release is there', async () => {
    await assert.rejects(
      ask('v3.26.4', { client: 'v3.20.6', generation: 'old' }, found(KVSTORE).value),
      /no calicoctl of v3\.26\.4 was found/,
    );
  });
});
