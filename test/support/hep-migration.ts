import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type EndpointControllers, playEndpointControllers } from '../control-plane/host-endpoint-controllers.ts';
import { type InstalledCluster, installedCluster } from './installed-cluster.ts';
import { manifestFile, ownReleases } from './shared.ts';
import { installStandIn } from './stand-in-cli.ts';
import { standInState } from './stand-in-cli-state.ts';
import { startUpgrade, type UpgradeProcess, upgrade } from './upgrade-process.ts';

const GROUP = 'netsvc.io';
const said = (result: UpgradeProcess) => `exit ${result.exitCode}\n${result.stdout}\n${result.stderr}`;

interface Endpoint {
  readonly metadata: { readonly name: string; readonly labels?: object; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: object;
}

/** `node-01` to `node-200`, as the test ground names them. */
const nodeName = (index: number) => `node-${String(index).padStart(2, '0')}`;

/**
 * The migration of a fleet: the node before the last denies by default and would be opened, the last has no endpoint and would be policed.
 * Refused, timed out, killed, continued and taken back.
 */
export function describeMigration(nodes: number, timeoutMs: number): void {
  const [opened, policed] = [nodeName(nodes - 1), nodeName(nodes)];

  describe(`hep on a real control plane with ${nodes} nodes, with the stand-in CLI and played controllers`, function () {
    this.timeout(timeoutMs);
    let cluster: InstalledCluster;
    let controllers: EndpointControllers;
    const never = new Set<string>();
    let path = '';

    const apply = (kind: string, name: string, spec: object, labels: object = {}) =>
      cluster.plane.kubectl(
        ['create', '-f', '-'],
        JSON.stringify({ apiVersion: `crd.${GROUP}/v1`, kind, metadata: { name, labels }, spec }),
      );

    before(async () => {
      cluster = await installedCluster({ manifest: manifestFile('v3.32.2', 'netsvc.yaml', ownReleases), nodes });
      const bin = join(cluster.around.home, 'bin');
      await mkdir(bin, { recursive: true });
      const [program, state] = [join(bin, 'stand-in'), join(bin, 'state.json')];
      installStandIn(program);
      await writeFile(state, JSON.stringify(standInState({ generation: 'new', client: 'v3.32.2' })));
      const settings = `STAND_IN_CLI_STATE=${state} STAND_IN_CLI_KUBECTL=${cluster.around.kubectl} STAND_IN_CLI_GROUP=${GROUP}`;
      await writeFile(join(bin, 'netsvcctl'), `#!/bin/sh\n${settings} exec ${program} "$@"\n`);
      await chmod(join(bin, 'netsvcctl'), 0o755);
      path = [bin, join(cluster.around.kubectl, '..'), '/usr/bin', '/bin'].join(delimiter);
      await apply('KubeControllersConfiguration', 'default', { controllers: { node: { syncLabels: 'Enabled' } } });
      await apply('GlobalNetworkPolicy', 'hosts', { selector: 'role == "host"', types: ['Ingress', 'Egress'] });
      await apply('GlobalNetworkPolicy', 'all', { selector: 'zone == "b"', types: ['Ingress'] });
      for (let index = 1; index < nodes; index += 1) {
        const node = nodeName(index);
        await apply('HostEndpoint', `old-${index}`, { node, interfaceName: '*' }, index === nodes - 1 ? {} : { role: 'host' });
      }
      await apply('HostEndpoint', 'eth', { node: 'node-01', interfaceName: 'eth0' });
      await cluster.plane.kubectl(['label', 'node', policed, 'zone=b']);
      const createdBy = ['netsvc.io/created-by', 'netsvc-kube-controllers'] as const;
      const manner = { group: GROUP, createdBy, allowAllProfile: 'netsvc-default-allow', manner: 'new', never } as const;
      controllers = playEndpointControllers(cluster.plane.api, manner);
    });
    after(async () => {
      await controllers?.stop();
      await cluster?.stop();
    });

    const around = () => ({ ...cluster.around, env: { PATH: path } });
    const run = (...args: readonly string[]) => upgrade([...args, '--manifest-url', ownReleases], around(), timeoutMs);
    const list = async (resource: string): Promise<readonly Endpoint[]> =>
      JSON.parse((await cluster.plane.kubectl(['get', resource, '-o', 'json'])).stdout).items;
    const names = async () => (await list(`hostendpoints.crd.${GROUP}`)).map(({ metadata }) => metadata.name);

    /** Endpoints with their labels wherever they are stored, the setting, and the labels of nodes. */
    async function stateOf(): Promise<unknown> {
      const endpoints = await list(`hostendpoints.crd.${GROUP}`);
      const settings = await list(`kubecontrollersconfigurations.crd.${GROUP}`);
      const nodes = await list('nodes');
      const labels = ({ metadata }: Endpoint) => ({
        ...metadata.labels,
        ...(JSON.parse(metadata.annotations?.[`${GROUP}/metadata`] ?? '{}') as { labels?: object }).labels,
      });
      return {
        endpoints: endpoints.map((one) => [one.metadata.name, labels(one), one.spec]),
        settings: settings.map(({ spec }) => spec),
        nodes: nodes.map(({ metadata }) => [metadata.name, metadata.labels]),
      };
    }

    const ACCEPT = ['--accept', `NS-711=${opened}`, '--accept', `NS-712=${policed}`];
    let start: unknown;

    it('gives a verdict for every node, refuses, and changes nothing', async () => {
      start = await stateOf();
      const result = await run('hep', '--yes');
      assert.equal(result.exitCode, 3, said(result));
      assert.match(result.stdout, new RegExp(`NS-711 .*${opened}`));
      assert.match(result.stdout, new RegExp(`NS-712 .*${policed}`));
      assert.deepEqual(await stateOf(), start);
    });

    it('times out at the node whose endpoint does not come, with its old one still there', async () => {
      never.add('node-03');
      const result = await run('hep', '--yes', '--timeout', '5s', ...ACCEPT);
      assert.equal(result.exitCode, 124, said(result));
      assert.match(result.stderr, /node-03/);
      assert.ok((await names()).includes('old-3'));
      never.clear();
    });

    it('is killed in the middle, and the same command brings it to the end', async () => {
      const first = startUpgrade(['hep', '--yes', ...ACCEPT, '--manifest-url', ownReleases], around(), timeoutMs);
      for (let tries = 0; tries < 200 && (await names()).includes('old-1'); tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 50));
      first.kill('SIGKILL');
      await first;
      const result = await run('hep', '--yes', ...ACCEPT);
      assert.equal(result.exitCode, 0, said(result));
      const automatic = Array.from({ length: nodes }, (_, index) => `${nodeName(index + 1)}-auto-hep`);
      assert.deepEqual((await names()).toSorted(), ['eth', ...automatic].toSorted());
    });

    it('has nothing to do the second time', async () => {
      const result = await run('hep', '--yes');
      assert.equal(result.exitCode, 0, said(result));
      assert.match(result.stdout + result.stderr, /no old one is left/);
    });

    it('takes everything back, object by object', async () => {
      const result = await run('hep', '--undo', '--yes');
      assert.equal(result.exitCode, 0, said(result));
      for (let tries = 0; tries < 100 && (await names()).some((name) => name.endsWith('-auto-hep')); tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const back = (await stateOf()) as { settings: { controllers: { node: { hostEndpoint?: unknown } } }[] };
      for (const { controllers: spec } of back.settings) {
        assert.deepEqual(spec.node.hostEndpoint, { autoCreate: 'Disabled' });
        delete spec.node.hostEndpoint;
      }
      assert.deepEqual(back, start);
    });
  });
}
