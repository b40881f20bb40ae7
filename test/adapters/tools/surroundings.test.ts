import assert from 'node:assert/strict';
import { argumentsFor, environmentFor } from '../../../src/adapters/tools/tools.ts';

const around = (env: Record<string, string>, cliEnvironment: readonly string[] = []) => ({ kubeconfigPath: '/k', env, cliEnvironment });
const OURS = { KUBECONFIG: '/k', DATASTORE_TYPE: 'kubernetes' };

describe('what pins a program to the cluster', () => {
  const cases: readonly [string, Record<string, string>, readonly string[], Record<string, string>][] = [
    ['a plain name', { ETCD_ENDPOINTS: 'x', HOME: '/h' }, ['ETCD_ENDPOINTS'], { HOME: '/h' }],
    ['the form with CALICO_ of a name', { CALICO_KUBECONFIG: 'x' }, ['KUBECONFIG'], {}],
    ['all names of a prefix', { ETCD_A: 'x', ETCD_: 'x', ETCD: 'kept' }, ['ETCD_*'], { ETCD: 'kept' }],
    ['the form with CALICO_ of a prefix', { CALICO_ETCD_KEY: 'x', CALICO_MTU: 'kept' }, ['ETCD_*'], { CALICO_MTU: 'kept' }],
    ['CALICO_ itself as a prefix', { CALICO_MTU: 'x' }, ['CALICO_*'], {}],
    ['no name that only begins alike', { ETCD_ENDPOINTS_OLD: 'kept' }, ['ETCD_ENDPOINTS'], { ETCD_ENDPOINTS_OLD: 'kept' }],
    ['another datastore and kubeconfig in any case', { DATASTORE_TYPE: 'etcdv3', KUBECONFIG: '/mine' }, [], {}],
  ];
  for (const [title, env, names, kept] of cases) {
    it(`keeps from the service's CLI: ${title}`, () =>
      assert.deepEqual(environmentFor('netsvcctl', around(env, names)), { ...kept, ...OURS }));
  }

  it('knows on Windows, and only there, the same names in any case', () => {
    const given = around({ Etcd_Endpoints: 'x', KubeConfig: '/mine', Path: 'p' }, ['ETCD_*']);
    assert.deepEqual(environmentFor('netsvcctl', given, 'win32'), { Path: 'p', ...OURS });
    assert.deepEqual(environmentFor('kubectl', given, 'win32'), { Etcd_Endpoints: 'x', Path: 'p', KUBECONFIG: '/k', KUBERC: 'off' });
    assert.deepEqual(environmentFor('netsvcctl', given, 'linux'), { Etcd_Endpoints: 'x', KubeConfig: '/mine', Path: 'p', ...OURS });
  });

  it('leaves those variables to kubectl and helm, but for the kubeconfig', () => {
    const env = { ETCD_ENDPOINTS: 'x', KUBECONFIG: '/mine', KUBERC: '/mine' };
    const kept = { ETCD_ENDPOINTS: 'x', KUBECONFIG: '/k' };
    assert.deepEqual(environmentFor('helm', around(env, ['ETCD_*'])), kept);
    // A person's own defaults may name another server.
    assert.deepEqual(environmentFor('kubectl', around(env, ['ETCD_*'])), { ...kept, KUBERC: 'off' });
  });

  it('gives the kubeconfig by flag, and the request limit to kubectl only', () => {
    const limited = { ...around({}), requestTimeout: '5s' };
    assert.deepEqual(argumentsFor({ tool: 'kubectl', args: ['get'] }, limited), ['--kubeconfig=/k', '--request-timeout=5s', 'get']);
    assert.deepEqual(argumentsFor({ tool: 'helm', args: ['list'] }, limited), ['--kubeconfig=/k', 'list']);
  });

  it('gives the service’s CLI a configuration of ours after its own words, unless the call names one', () => {
    const ours = { ...around({}), cliConfigPath: '/k.cli' };
    const given = (...args: readonly string[]) => argumentsFor({ tool: 'netsvcctl', args }, ours);
    assert.deepEqual(given('get', 'nodes'), ['get', 'nodes', '--config=/k.cli']);
    assert.deepEqual(given('get', '--config=/store.cfg'), ['get', '--config=/store.cfg']);
    assert.deepEqual(argumentsFor({ tool: 'netsvcctl', args: ['get'] }, around({})), ['get']);
  });
});
