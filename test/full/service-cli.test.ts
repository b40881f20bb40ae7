import assert from 'node:assert/strict';
import { join } from 'node:path';
import { execa } from 'execa';
import { CASES, WRONG } from '../features/policy-rules/selector-cases.ts';
import { type InstalledCluster, installedCluster } from '../support/installed-cluster.ts';
import { describeWhere } from '../support/needs.ts';
import { patient } from '../support/patience.ts';
import { manifestFile } from '../support/releases.ts';
import { clientRelease, installClusterCli, realCli, WITHOUT_REAL_CLI } from '../support/service-cli.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, told, type UpgradeProcess } from '../support/upgrade-process.ts';

const GROUP = 'projectcalico.org';
const RELEASE = CALICO_TARGET;
const API = `${GROUP}/v3`;
const SETTINGS = {
  ...{ apiVersion: `crd.${GROUP}/v1`, kind: 'KubeControllersConfiguration', metadata: { name: 'default' } },
  spec: { controllers: { node: { syncLabels: 'Enabled' } } },
};
const AUTO = JSON.stringify({ spec: { controllers: { node: { hostEndpoint: { autoCreate: 'Enabled' } } } } });
const endpoint = (name: string, labels = {}) =>
  JSON.stringify({ apiVersion: API, kind: 'HostEndpoint', metadata: { name, labels }, spec: { node: 'node-01', interfaceName: '*' } });
const policy = (name: string, selector: string) =>
  JSON.stringify({ apiVersion: API, kind: 'GlobalNetworkPolicy', metadata: { name }, spec: { selector, types: ['Ingress'] } });

const CLIS = [
  ['the stand-in of the tests', undefined, undefined],
  ['the real one', realCli, realCli === undefined ? WITHOUT_REAL_CLI : undefined],
] as const;

/** What `hep` and `policy` rely on: each sentence holds for the stand-in and for a real CLI alike. */
for (const [title, real, problem] of CLIS)
  describeWhere(problem, `the service's CLI: ${title}`, function () {
    this.timeout(280_000);
    let cluster: InstalledCluster;
    let file = real ?? '';
    /** On a control plane with the service's own CRDs, which says that it is of the CLI's release. */
    before(async () => {
      cluster = await installedCluster({ manifest: manifestFile(RELEASE, 'calico.yaml'), nodes: 1 });
      const client = real === undefined ? RELEASE : await clientRelease(real);
      const version = JSON.stringify({ spec: { calicoVersion: client } });
      const { kubectl } = cluster.plane;
      assertSucceeded(await kubectl(['patch', `clusterinformations.crd.${GROUP}`, 'default', '--type=merge', '-p', version]));
      assertSucceeded(await kubectl(['create', '-f', '-'], JSON.stringify(SETTINGS)));
      if (real !== undefined) return;
      file = join(cluster.around.home, 'cli', 'calicoctl');
      await installClusterCli(cluster, file, { group: GROUP, client });
    });
    after(() => cluster?.stop());

    const run = (args: readonly string[], input = ''): Promise<UpgradeProcess> => {
      const env = { DATASTORE_TYPE: 'kubernetes', KUBECONFIG: cluster.around.kubeconfig };
      return execa(file, [...args], { input, env, reject: false, timeout: patient(30_000) });
    };
    async function succeeds(args: readonly string[], input?: string): Promise<string> {
      const result = await run(args, input);
      assertSucceeded(result);
      return result.stdout;
    }

    it('tells its own release and the cluster’s', async () => {
      assert.match(await succeeds(['version']), /^Client Version:\s+v\d.*^Cluster Version:\s+v\d/ms);
    });

    it('creates a host endpoint from stdin, and refuses the same name again', async () => {
      assert.match(
        await succeeds(['create', '-f', '-'], endpoint('a', { role: 'host' })),
        /^Successfully created 1 'HostEndpoint' resource/,
      );
      const again = await run(['create', '-f', '-'], endpoint('a'));
      assert.notEqual(again.exitCode, 0, told(again));
      assert.match(again.stderr, /already exists/);
    });

    it('lists with labels as they were given, wherever they are stored', async () => {
      const list = JSON.parse(await succeeds(['get', 'hostendpoints', '-o', 'json']));
      assert.equal(list.kind, 'HostEndpointList');
      const [first] = list.items;
      assert.deepEqual([first.metadata.name, first.metadata.labels, first.spec.node], ['a', { role: 'host' }, 'node-01']);
    });

    it('says what is missing and exits 1', async () => {
      const result = await run(['get', 'hostendpoint', 'nosuch', '-o', 'json']);
      assert.equal(result.exitCode, 1, told(result));
      assert.match(result.stderr, /resource does not exist: HostEndpoint\(nosuch\)/);
    });

    it('patches the controllers’ configuration by merging, and says the same where nothing changes', async () => {
      const args = ['patch', 'kubecontrollersconfiguration', 'default', '--patch', AUTO];
      for (let times = 0; times < 2; times += 1) {
        assert.match(await succeeds(args), /^Successfully patched 1 'KubeControllersConfiguration' resource/);
      }
      const node = JSON.parse(await cluster.read(`kubecontrollersconfigurations.crd.${GROUP}`, '{.items[0].spec.controllers.node}'));
      assert.deepEqual([node.hostEndpoint.autoCreate, node.syncLabels], ['Enabled', 'Enabled']);
    });

    it('deletes what is there although one of the names is missing, and exits 1', async () => {
      await succeeds(['create', '-f', '-'], endpoint('b'));
      const result = await run(['delete', 'hostendpoint', 'a', 'missing', 'b']);
      assert.equal(result.exitCode, 1, told(result));
      assert.match(result.stdout, /^Successfully deleted 2 'HostEndpoint' resource/);
      assert.match(result.stderr, /HostEndpoint\(missing\)/);
      assert.deepEqual(JSON.parse(await succeeds(['get', 'hostendpoints', '-o', 'json'])).items, []);
    });

    it('deletes a global policy by the name under which it is listed', async () => {
      await succeeds(['create', '-f', '-'], policy('spec-policy', 'has(a)'));
      const list = JSON.parse(await succeeds(['get', 'globalnetworkpolicies', '-o', 'json']));
      assert.ok(list.items.some(({ metadata }: { metadata: { name: string } }) => metadata.name === 'spec-policy'));
      assert.match(
        await succeeds(['delete', 'globalnetworkpolicy', 'spec-policy']),
        /^Successfully deleted 1 'GlobalNetworkPolicy' resource/,
      );
    });

    if (real !== undefined) describeSelectors(run);
  });

/** The stand-in judges no selector: only a real CLI can tell whether ours reads the same language. */
function describeSelectors(run: (args: readonly string[], stdin?: string) => Promise<UpgradeProcess>): void {
  describe('and selectors', () => {
    for (const [index, [selector]] of CASES.entries()) {
      it(`takes ${JSON.stringify(selector)}`, async () => {
        assertSucceeded(await run(['create', '-f', '-'], policy(`takes-${index}`, selector)));
        await run(['delete', 'globalnetworkpolicy', `takes-${index}`]);
      });
    }
    for (const [index, [selector]] of WRONG.entries()) {
      it(`refuses ${JSON.stringify(selector.slice(0, 40))}`, async () => {
        const result = await run(['create', '-f', '-'], policy(`refuses-${index}`, selector));
        assert.notEqual(result.exitCode, 0, told(result));
      });
    }
  });
}
