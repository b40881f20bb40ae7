import assert from 'node:assert/strict';
import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { jsonAt, textAt } from '../../src/kernel/json.ts';
import { storedMetadata } from '../../src/kube/stored-metadata.ts';
import { playEndpointControllers } from '../control-plane/host-endpoint-controllers.ts';
import type { Played } from '../control-plane/played.ts';
import { until } from '../control-plane/until.ts';
import { storedHosts } from './hep-fleet.ts';
import type { MigratedService } from './hep-services.ts';
import { type InstalledCluster, installedCluster } from './installed-cluster.ts';
import { clientRelease, installClusterCli } from './service-cli.ts';
import { assertSucceeded, startUpgrade, told, upgrade } from './upgrade-process.ts';

export interface Migration {
  /** At least six. */
  readonly nodes: number;
  readonly timeoutMs: number;
  readonly service: MigratedService;
  /** How the played controllers store labels. */
  readonly manner: 'old' | 'new';
  /** Killed at each step, not at one. */
  readonly everyStep: boolean;
  /** A real CLI of the service; the stand-in unless given. */
  readonly cli?: string;
}

/** `node-01` to `node-200`, as the test ground names them. */
const nodeName = (index: number) => `node-${String(index).padStart(2, '0')}`;
const LATE_MS = 3000;
/** The kubelet's own pauses, ten seconds to five minutes, in small. */
const BACK_OFF = { firstMs: 1_000, mostMs: 8_000 };

/**
 * The migration of a fleet. The last node has no endpoint and would be policed, the one before it denies by default and would be opened,
 * the third from the end would be judged by another policy; the second node's endpoint comes late, the third's never at first.
 * Refused, timed out, killed, continued and taken back.
 */
export function describeMigration({ nodes, timeoutMs, service, manner, everyStep, cli }: Migration): void {
  const { group, program } = service;
  const [changed, opened, policed] = [nodeName(nodes - 2), nodeName(nodes - 1), nodeName(nodes)];

  describe(`hep on a real control plane with ${nodes} nodes of ${program}, ${cli ? 'the real' : 'the stand-in'} CLI and played controllers of the ${manner} manner`, function () {
    this.timeout(timeoutMs);
    let cluster: InstalledCluster;
    let controllers: Played;
    const never = new Set<string>();
    let path = '';
    let hosts: ReturnType<typeof storedHosts>;

    before(async () => {
      cluster = await installedCluster({ manifest: service.manifest, nodes });
      hosts = storedHosts(cluster.plane.api, group);
      await hosts.nodesLabelled();
      const bin = join(cluster.around.home, 'bin');
      if (cli === undefined) await installClusterCli(cluster, join(bin, program), { group, client: service.release });
      else await useReal(cli, join(bin, program));
      path = [bin, join(cluster.around.kubectl, '..'), '/usr/bin', '/bin'].join(delimiter);
      await hosts.make('KubeControllersConfiguration', 'default', { controllers: { node: { syncLabels: 'Enabled' } } });
      await hosts.make('GlobalNetworkPolicy', 'hosts', { selector: 'role == "host"', types: ['Ingress', 'Egress'] });
      await hosts.make('GlobalNetworkPolicy', 'all', { selector: 'zone == "b"', types: ['Ingress'] });
      await hosts.make('GlobalNetworkPolicy', 'rack', { selector: 'rack == "r1"', types: ['Egress'] });
      for (let index = 1; index < nodes; index += 1) {
        const node = nodeName(index);
        await hosts.make('HostEndpoint', `old-${index}`, { node, interfaceName: '*' }, node === opened ? {} : { role: 'host' });
      }
      // Two of the node's own, one of them last in the order of names: both go.
      const first = { node: 'node-01', interfaceName: '*' };
      await hosts.make('HostEndpoint', 'zz-second', first, { role: 'host', team: 'a' }, { note: 'hello' });
      await hosts.make('HostEndpoint', 'eth', { ...first, interfaceName: 'eth0' });
      await hosts.make('HostEndpoint', 'outside', { node: 'no-node', interfaceName: '*' });
      await cluster.plane.kubectl(['label', 'node', policed, 'zone=b']);
      // As the service's CLI labels a node: Kubernetes shows no such label, and the controllers copy it all the same.
      await cluster.plane.kubectl(['annotate', 'node', changed, `${group}/labels={"rack":"r1"}`]);
      const late = new Map([['node-02', LATE_MS]]);
      const as = { ...service, manner, never, late, backOff: BACK_OFF };
      controllers = playEndpointControllers(cluster.plane.api, as);
    });
    after(async () => {
      await controllers?.stop();
      await cluster?.stop();
    });

    /** Under the name by which it is looked for; the cluster is made to say that it is of the CLI's release. */
    async function useReal(from: string, to: string): Promise<void> {
      await mkdir(join(to, '..'), { recursive: true });
      await symlink(from, to);
      const spec = { calicoVersion: await clientRelease(from) };
      await cluster.plane.kubectl(['patch', `clusterinformations.crd.${group}`, 'default', '--type=merge', '-p', JSON.stringify({ spec })]);
    }

    const around = () => ({ ...cluster.around, env: { PATH: path } });
    const asked = (...args: readonly string[]) => [...args, '--release', service.release, '--manifest-url', service.source];
    const run = (...args: readonly string[]) => upgrade(asked(...args), around(), timeoutMs);
    const names = async () => (await hosts.list('endpoints')).map(({ metadata }) => metadata.name);

    const ACCEPT = [`NS-711=${opened}`, `NS-712=${policed}`, `NS-713=${changed}`].flatMap((one) => ['--accept', one]);
    let start: Awaited<ReturnType<typeof hosts.state>>;

    it('gives a verdict for every node, refuses, and changes nothing', async () => {
      start = await hosts.state();
      const result = await run('hep', '--yes');
      assert.equal(result.exitCode, 3, told(result));
      for (const [id, node] of [
        ['NS-711', opened],
        ['NS-712', policed],
        ['NS-713', changed],
      ]) {
        assert.match(result.stdout, new RegExp(`${id} 1 host .*: ${node}$`, 'm'), told(result));
      }
      assert.match(result.stdout, /NS-718 .*outside/);
      assert.deepEqual(await hosts.state(), start);
    });

    it('times out at the node whose endpoint does not come, with its old one still there', async () => {
      never.add('node-03');
      const result = await run('hep', '--yes', '--timeout', nodes > 50 ? '60s' : '30s', ...ACCEPT);
      assert.equal(result.exitCode, 124, told(result));
      // The late one came, and so did those that old controllers make one after the other.
      assert.match(result.stderr, /^error: 1 of \d+ nodes .*: node-03: no automatic endpoint yet$/m);
      assert.ok((await names()).includes('old-3'));
      never.clear();
      // Controllers that missed a node look at it again at its next change.
      await cluster.plane.kubectl(['annotate', 'node', 'node-03', 'fixed=yes']);
    });

    const oldOnes = async () => (await names()).filter((name) => name.startsWith('old-')).length;
    const moments: readonly (readonly [title: string, isNow: () => Promise<boolean>])[] = [
      [
        'when the first label is on its node',
        async () => (await hosts.list('nodes')).some(({ metadata }) => metadata.labels?.role === 'host'),
      ],
      ['when the setting is on', async () => JSON.stringify(await hosts.list('settings')).includes('"autoCreate":"Enabled"')],
      ['when the first automatic endpoint is there', async () => (await names()).some((name) => name.endsWith('-auto-hep'))],
      ['when the first old one is gone', async () => !(await names()).includes('old-1')],
      ['when half of the old ones are gone', async () => (await oldOnes()) <= nodes / 2],
    ];

    /** Every node that had an endpoint has one, old or automatic, and none lost its label. */
    async function assertNoGap(): Promise<void> {
      const all = await hosts.list('endpoints');
      for (let index = 1; index < nodes; index += 1) {
        const node = nodeName(index);
        const mine = all.filter(({ spec }) => textAt(spec, 'node') === node);
        const isLabelled = mine.some((one) => storedMetadata(one, group).labels.role === 'host');
        assert.ok(mine.length > 0, `${node} has no endpoint`);
        assert.ok(isLabelled || node === opened, `${node} lost its label`);
      }
    }

    if (everyStep) {
      it('is taken back from where it stopped, to be killed at each step from the beginning', async () => {
        assertSucceeded(await run('hep', '--undo', '--yes'));
        await hosts.noneAutomatic();
        assert.deepEqual(withoutSwitch(await hosts.state()), withoutSwitch(start));
      });
    }

    for (const [title, isNow] of everyStep ? moments : moments.slice(3, 4)) {
      it(`is killed ${title}, and no node is left without an endpoint and its label`, async () => {
        const first = startUpgrade(asked('hep', '--yes', ...ACCEPT), around(), timeoutMs);
        let ended = false;
        void first.then(() => {
          ended = true;
        });
        await until(title, async () => ended || (await isNow()), timeoutMs, 50);
        first.kill('SIGKILL');
        const { signal, stderr } = await first;
        assert.equal(signal, 'SIGKILL', `it was at its end before: ${stderr}`);
        assert.ok(await isNow());
        await assertNoGap();
      });
    }

    it('is brought to the end by the same command', async () => {
      assertSucceeded(await run('hep', '--yes', ...ACCEPT));
      const automatic = Array.from({ length: nodes }, (_, index) => `${nodeName(index + 1)}-auto-hep`);
      assert.deepEqual((await names()).toSorted(), ['eth', 'outside', ...automatic].toSorted());
      await assertNoGap();
    });

    it('has nothing to do the second time', async () => {
      const result = await run('hep', '--yes');
      assertSucceeded(result);
      assert.match(result.stdout + result.stderr, /no old one is left/);
    });

    it('takes everything back, object by object', async () => {
      assertSucceeded(await run('hep', '--undo', '--yes'));
      await hosts.noneAutomatic();
      const back = await hosts.state();
      assert.equal(jsonAt(back.settings[0], 'controllers', 'node', 'hostEndpoint', 'autoCreate'), 'Disabled');
      assert.deepEqual(withoutSwitch(back), withoutSwitch(start));
    });
  });
}

/** Off is not the same as never set, and means the same. */
function withoutSwitch<State extends { readonly settings: readonly unknown[] }>(state: State): State {
  const copy = structuredClone(state);
  for (const one of copy.settings as { controllers: { node: { hostEndpoint?: object } } }[]) delete one.controllers.node.hostEndpoint;
  return copy;
}
