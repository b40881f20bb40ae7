import assert from 'node:assert/strict';
import { findServiceCli } from '../../../src/features/service-cli/service-cli.ts';
import { storeIsOurs } from '../../../src/features/service-cli/store-proof.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { judgeAll } from '../../support/judged-worlds.ts';
import { type KvstoreParts, kvstoreSources } from '../../support/kvstore-sources.ts';
import { GUID, ofRelease, type StandInState, standInState } from '../../support/stand-in-cli-state.ts';
import { CALICO_LINE, CALICO_TARGET, pattern } from '../../support/target.ts';

const OTHER = 'fedcba9876543210';
const AWAY = new Fault('failed', 'connect ETIMEDOUT', []);
const configOf = (endpoints: string) => `spec:\n  datastoreType: etcdv3\n  etcdEndpoints: ${endpoints}\n`;
const reaching = (clusterGUID: string): StandInState => standInState({ etcdv3: ofRelease(CALICO_TARGET, {}, clusterGUID) });

interface Case {
  readonly title: string;
  readonly parts?: KvstoreParts;
  readonly state?: StandInState;
  readonly accept?: string;
  readonly is: 'ok' | 'accepted' | 'error';
  readonly says?: RegExp;
}

const cases: readonly Case[] = [
  { title: 'the same GUID by the installation’s own endpoints', is: 'ok' },
  {
    title: 'another GUID, whatever its configuration names',
    state: reaching(OTHER),
    is: 'error',
    says: new RegExp(`leads to another store: its clusterGUID is ${OTHER}, the installation’s is ${GUID}`),
  },
  { title: 'another GUID, though somebody said yes to it', state: reaching(OTHER), accept: OTHER, is: 'error', says: /another store/ },
  { title: 'the very endpoints, which do not answer here', parts: { own: AWAY }, is: 'ok' },
  {
    title: 'some of the endpoints, which do not answer here',
    parts: { own: AWAY, endpoints: 'https://a:2379,https://B:2379', config: configOf('https://b:2379/') },
    is: 'ok',
  },
  {
    title: 'other endpoints than those that do not answer here',
    parts: { own: AWAY, config: configOf('https://tunnel:2379') },
    is: 'error',
    says: new RegExp(
      `the clusterGUID ${GUID}, and whether that is the installation’s cannot be told: https://store:2379: connect ETIMEDOUT`,
    ),
  },
  {
    title: 'other endpoints, and a person who named the GUID',
    parts: { own: AWAY, config: configOf('https://tunnel:2379') },
    accept: GUID,
    is: 'accepted',
  },
  {
    title: 'other endpoints, and a person who named another GUID',
    parts: { own: AWAY, config: configOf('https://tunnel:2379') },
    accept: OTHER,
    is: 'error',
    says: /cannot be told/,
  },
  {
    title: 'an address that means another machine on each machine',
    parts: { endpoints: 'http://127.0.0.1:2379', config: configOf('http://127.0.0.1:2379') },
    is: 'error',
    says: /127\.0\.0\.1:2379 means another machine on each machine/,
  },
  {
    title: 'a store of which nobody has made a cluster',
    state: standInState({ etcdv3: { reachable: true, objects: { ClusterInformation: {} } } }),
    is: 'error',
    says: /cannot tell which store it reaches: resource does not exist: ClusterInformation\(default\)/,
  },
];

describe('the service’s CLI and the key-value store that it reaches', () => {
  for (const { title, parts, state = reaching(GUID), accept, is, says } of cases)
    it(`${is === 'error' ? 'is not called' : 'may be called'} with ${title}`, async () => {
      const sources = kvstoreSources(state, parts);
      const given = accept === undefined ? {} : { accept: [{ check: 'NS-725', subject: accept }] };
      const context = contextOf({ path: 'kvstore', variant: 'calico-etcd', ...given });
      const found = await findServiceCli(sources, context, 'kvstore');
      const [finding] = judgeAll([storeIsOurs], { cli: found, needsCli: true }, context);
      assert.equal(finding?.outcome, is, JSON.stringify(finding));
      if (says) assert.match(JSON.stringify(finding), says);
      assert.equal('store' in found && found.store?.guid, is === 'error' ? false : GUID);
    });

  it('is not one of another patch of its line: the cluster refuses every call of that but its version', async () => {
    const found = await findServiceCli(kvstoreSources({ ...reaching(GUID), client: `${CALICO_LINE}.0` }), contextOf(), 'api');
    assert.match(
      'missing' in found ? found.missing : '',
      pattern`^no calicoctl of ${CALICO_TARGET} was found: /bin/calicoctl is of another one of the same line`,
    );
  });

  it('is not asked about where the data is in the API', async () => {
    const found = await findServiceCli(kvstoreSources(reaching(GUID)), contextOf(), 'api');
    assert.deepEqual(found, { program: '/bin/calicoctl', args: [] });
  });
});
