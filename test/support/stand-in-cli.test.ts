import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testFolder } from './folders.ts';
import { standInCli } from './stand-in-cli.ts';
import { clusterIn, ofRelease, type StandInState, standInState } from './stand-in-cli-state.ts';
import { CALICO_TARGET } from './target.ts';

describe('the stand-in for the service’s CLI', () => {
  const folder = testFolder('stand-in-');
  let env: Record<string, string> = {};
  let state: StandInState;
  before(() => {
    writeFileSync(join(folder, 'config'), 'apiVersion: v1\n');
    writeFileSync(join(folder, 'etcd.cfg'), 'spec:\n  datastoreType: etcdv3\n');
  });
  beforeEach(() => {
    env = { DATASTORE_TYPE: 'kubernetes', KUBECONFIG: join(folder, 'config') };
    state = standInState();
    const settings = { default: { spec: { x: 1 } } };
    const objects = { HostEndpoint: { a: {}, b: {} }, KubeControllersConfiguration: settings, Node: { n1: {} } };
    state.kubernetes = ofRelease(CALICO_TARGET, objects);
  });
  const say = (line: string, more: Record<string, string> = {}) => standInCli(line.split(' '), { ...env, ...more }, state);

  it('prints four lines when all is well', () => {
    assert.deepEqual(say('version'), {
      out: `Client Version:    ${CALICO_TARGET}\nGit commit:        0000000\nCluster Version:   ${CALICO_TARGET}\nCluster Type:      k8s,bgp\n`,
      exit: 0,
    });
  });

  it('says in its --version that it is not the real one', () => {
    const { out, exit } = say('--version');
    assert.deepEqual([exit, /^stand-in .*v3\.32\.1/.test(out ?? '')], [0, true], out);
  });

  it('knows --client in the new generation only', () => {
    assert.equal(say('version --client').exit, 0);
    state.generation = 'old';
    assert.deepEqual([say('version --client').out, say('version --client').exit], [undefined, 1]);
  });

  it('exits 0 without a configuration and 1 without ClusterInformation', () => {
    const none = say('version', { KUBECONFIG: '/nonexistent' });
    assert.deepEqual([none.exit, /Unable to detect installed/.test(none.out ?? '')], [0, true]);
    delete state.kubernetes.objects.ClusterInformation;
    assert.match(say('version').err ?? '', /^unable to retrieve Cluster Version or Type: resource does not exist/);
    assert.equal(say('version').exit, 1);
  });

  it('hangs on a key-value store that does not answer, after its own two lines', () => {
    state.etcdv3.reachable = false;
    const stray = { DATASTORE_TYPE: '', CALICO_DATASTORE_TYPE: 'etcdv3', ETCD_ENDPOINTS: 'https://10.0.0.1:2379' };
    assert.deepEqual([say('version', stray).exit, say('version', stray).out?.split('\n').length], ['hang', 3]);
    assert.deepEqual(say('get nodes', stray), { exit: 'hang' });
  });

  it('reads a configuration file alone, whatever the environment says', () => {
    state.etcdv3.reachable = false;
    assert.equal(say(`version --config=${join(folder, 'etcd.cfg')}`).exit, 'hang');
  });

  for (const [generation, wording] of [
    ['new', /^failed to get resources: version mismatch\.\nClient Version: {3}v3\.32\.1\nCluster Version: {2}3\.32\.0\n/],
    ['old', /^Failed to get resources: Version mismatch\..*override\.\n\n$/s],
  ] as const) {
    it(`refuses another patch release, in the words of the ${generation} generation, but for version`, () => {
      state.generation = generation;
      state.kubernetes = ofRelease('v3.32.0');
      assert.match(say('get nodes').err ?? '', wording);
      assert.equal(say('get nodes').exit, 1);
      assert.equal(say('--allow-version-mismatch get nodes').exit, 0);
      assert.equal(say('version').exit, 0);
    });
  }

  it('gets a list, one object, several, and null for none', () => {
    const json = (line: string) => JSON.parse(say(line).out ?? '');
    assert.equal(json('get heps -o json').kind, 'HostEndpointList');
    assert.equal(json('get hep a -o json').metadata.name, 'a');
    assert.equal(json('get hep a b -o json').length, 2);
    assert.equal(json('get hep nosuch -o json'), null);
    assert.equal(say('get hep nosuch').exit, 1);
    assert.match(say('get hep -o name').err ?? '', /unrecognized output format/);
    assert.match(say('get kcc').err ?? '', /'kcc' is not supported/);
  });

  it('patches by merging, and says the same when nothing changes', () => {
    const patched = "Successfully patched 1 'KubeControllersConfiguration' resource\n";
    const line = 'patch kubecontrollersconfiguration default --type=bogus --patch {"spec":{"y":2}}';
    assert.equal(say(line).out, patched);
    assert.equal(say(line).out, patched);
    assert.deepEqual(state.kubernetes.objects.KubeControllersConfiguration, { default: { spec: { x: 1, y: 2 } } });
  });

  it('deletes what is there and complains about the rest', () => {
    const said = say('delete hostendpoint a missing b');
    assert.equal(said.out, "Successfully deleted 2 'HostEndpoint' resource(s)\n");
    assert.match(said.err ?? '', /HostEndpoint\(missing\)/);
    assert.deepEqual([said.exit, state.kubernetes.objects.HostEndpoint], [1, {}]);
    assert.equal(say('delete hep x y z --skip-not-exists').out, "Successfully deleted 3 'HostEndpoint' resource(s)\n");
  });

  it('applies what is missing and what is there, which it replaces whole', () => {
    const file = join(folder, 'endpoints.yaml');
    const one = (name: string, node: string) => `kind: HostEndpoint\nmetadata:\n  name: ${name}\nspec:\n  node: ${node}\n`;
    writeFileSync(file, `${one('a', 'n1')}---\n${one('new', 'n2')}`);
    state.kubernetes.objects.HostEndpoint = {
      a: { metadata: { name: 'a', labels: { old: 'yes' } }, spec: { node: 'n9', profiles: ['p'] } },
    };
    const said = say(`apply -f ${file}`);
    assert.deepEqual([said.out, said.exit], ["Successfully applied 2 'HostEndpoint' resource(s)\n", 0]);
    assert.match(said.err ?? '', /^(I1121 .*Warning: unknown field \\"status\\""\n){3}$/, 'warnings are no failure');
    assert.deepEqual(state.kubernetes.objects.HostEndpoint, {
      a: { metadata: { name: 'a' }, spec: { node: 'n1' } },
      new: { metadata: { name: 'new' }, spec: { node: 'n2' } },
    });
  });

  const POLICY = '{"kind":"GlobalNetworkPolicy","metadata":{"name":"p"},"spec":{"selector":"all()"}}';
  const etcd = { DATASTORE_TYPE: 'etcdv3', ETCD_ENDPOINTS: 'https://10.0.0.1:2379' };
  const applyPolicy = (more: Record<string, string> = {}) => standInCli(['apply', '-f', '-'], { ...env, ...more }, state, POLICY);

  it('applies as a new client with the tiers and without a version of the cluster, as an old one the object alone', () => {
    assert.deepEqual(applyPolicy(etcd), { out: "Successfully applied 1 'GlobalNetworkPolicy' resource(s)\n", exit: 0 });
    assert.deepEqual(Object.keys(state.etcdv3.objects.Tier ?? {}), ['default', 'kube-admin', 'kube-baseline']);
    assert.deepEqual(clusterIn(state.etcdv3), { version: undefined, type: undefined });
    assert.deepEqual(Object.keys(state.etcdv3.objects.GlobalNetworkPolicy ?? {}), ['p']);
    state = standInState({ generation: 'old', client: 'v3.27.5' });
    applyPolicy(etcd);
    assert.deepEqual(state.etcdv3, {
      reachable: true,
      objects: { GlobalNetworkPolicy: { 'default.p': { metadata: { name: 'p' }, spec: { selector: 'all()' } } } },
    });
  });

  it('applied by an old client and a new one lists a policy twice', () => {
    state.generation = 'old';
    applyPolicy(etcd);
    state.generation = 'new';
    applyPolicy(etcd);
    const { items } = JSON.parse(say('get gnp -o json', etcd).out ?? '');
    assert.deepEqual(
      items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
      ['p', 'p'],
    );
  });

  it('applies no policy where there are no tiers, having said what cluster it is', () => {
    state.kubernetes = { reachable: true, objects: {}, isServed: (kind) => kind !== 'Tier' };
    const said = applyPolicy();
    assert.deepEqual(
      [said.out, said.exit, /Tier\(default\).*could not find the requested resource/.test(said.err ?? '')],
      [undefined, 1, true],
    );
    assert.deepEqual(
      [clusterIn(state.kubernetes), Object.keys(state.kubernetes.objects)],
      [{ version: undefined, type: 'kdd' }, ['ClusterInformation']],
    );
  });

  it('applies no file that is not there, and nothing to a cluster of another release', () => {
    assert.deepEqual(say('apply -f /nonexistent'), {
      err: 'failed to execute command: open /nonexistent: no such file or directory\n',
      exit: 1,
    });
    state.kubernetes = ofRelease('v3.32.0');
    assert.match(applyPolicy().err ?? '', /^version mismatch\.\n/);
    assert.equal(state.kubernetes.objects.GlobalNetworkPolicy, undefined);
  });

  it('labels a node, and changes a label only when told to', () => {
    assert.equal(say('label nodes n1 k=v').out, 'Successfully set label k on nodes n1\n');
    assert.equal(say('label nodes n1 k=w').exit, 1);
    assert.equal(say('label nodes n1 k=w --overwrite').out, 'Successfully updated label k on nodes n1\n');
  });
});
