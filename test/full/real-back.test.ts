import assert from 'node:assert/strict';
import { execa } from 'execa';
import type { Api } from '../control-plane/api.ts';
import { until } from '../control-plane/until.ts';
import { within } from '../support/installed-cluster.ts';
import { describeWhere } from '../support/needs.ts';
import { RealApiServer } from '../support/real-api-server.ts';
import { isReady } from '../support/real-operator.ts';
import { realProgram } from '../support/real-service.ts';
import { BACK, RUN, type SweptCluster, sweptCluster } from '../support/rollback-sweep.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const OLD = 'v3.26.4';
const NODES = ['node-01', 'node-02', 'node-03'];
const LIMIT_MS = 900_000;

const cli = realProgram('calicoctl', OLD);
const newCli = realProgram('calicoctl', CALICO_TARGET);
const engine = realProgram('engine', OLD);
const server = realProgram('apiserver', OLD);
const problem = [cli, newCli, engine, server].flatMap((one) => ('missing' in one ? [one.missing] : []))[0];
const programOf = (one: typeof cli) => ('program' in one ? one.program : '');

const V3 = 'projectcalico.org/v3';
const policy = (kind: string, name: string, spec: object, namespace?: string) => ({
  apiVersion: V3,
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  spec,
});
const from = (selector: string, action = 'Allow') => [{ action, source: { selector } }];

/** What a user of that release has, as the CLI of that release takes it. Selectors of three policies need labels of sets and of a host endpoint. */
const OBJECTS = [
  policy('GlobalNetworkPolicy', 'web-from-allowed', { order: 10, selector: 'app == "web"', ingress: from('role == "allowed"') }),
  policy('GlobalNetworkPolicy', 'none-from-blocked', { order: 5, selector: 'all()', ingress: from('role == "blocked"', 'Deny') }),
  policy('GlobalNetworkPolicy', 'hosts', { order: 20, selector: 'zone == "edge"', applyOnForward: true, egress: [{ action: 'Allow' }] }),
  policy('GlobalNetworkPolicy', 'same-order', { order: 10, selector: 'app == "web"', egress: [{ action: 'Allow' }] }),
  policy('NetworkPolicy', 'db', { selector: 'app == "db"', ingress: from('kind == "partner" || app == "web"') }, 'shop'),
  policy('NetworkPolicy', 'web', { selector: 'app == "web"', egress: [{ action: 'Allow' }] }, 'shop'),
  {
    apiVersion: V3,
    kind: 'GlobalNetworkSet',
    metadata: { name: 'allowed', labels: { role: 'allowed' } },
    spec: { nets: ['198.51.100.0/24'] },
  },
  {
    apiVersion: V3,
    kind: 'NetworkSet',
    metadata: { name: 'partners', namespace: 'shop', labels: { kind: 'partner' } },
    spec: { nets: ['203.0.113.0/24'] },
  },
  {
    apiVersion: V3,
    kind: 'HostEndpoint',
    metadata: { name: 'node-01-eth0', labels: { zone: 'edge' } },
    spec: { node: 'node-01', interfaceName: 'eth0' },
  },
];

/** The objects whose labels the new release keeps elsewhere, as soon as it writes them. */
const LABELLED = [
  ['globalnetworkset', 'blocked'],
  ['globalnetworkset', 'allowed'],
  ['networkset', 'partners', '-n', 'shop'],
  ['hostendpoint', 'node-01-eth0'],
] as const;

async function addPods(api: Api): Promise<void> {
  await api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  const place = '/api/v1/namespaces/shop/pods';
  for (const [index, nodeName] of NODES.entries())
    for (const app of ['web', 'db'])
      await api.send('POST', place, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `${app}-${index}`, labels: { app } },
        spec: { nodeName, containers: [{ name: app, image: 'none' }] },
      });
  await until('they are ready', async () => (await api.get<{ items: Parameters<typeof isReady>[0][] }>(place)).items.every(isReady));
}

const call = async ({ plane }: SweptCluster, program: string, args: readonly string[], input = '') => {
  const env = { DATASTORE_TYPE: 'kubernetes', KUBECONFIG: plane.kubeconfigPath };
  const { exitCode, stdout, stderr } = await execa(program, args, { env, input, reject: false, timeout: 120_000 });
  return { exitCode, stdout, stderr };
};
const calicoctl = (cluster: SweptCluster, which: typeof cli, args: readonly string[], input?: string) =>
  call(cluster, programOf(which), [...args, '--allow-version-mismatch'], input);

/** What the agents' syncer reads, and what their calculation graph enforces on each pod and host endpoint: a line for each. */
async function seen(cluster: SweptCluster): Promise<readonly string[]> {
  const said = await call(cluster, programOf(engine), ['-nodes', NODES.join(',')]);
  assertSucceeded(said);
  // Of a Deployment: each release has a pod of its own.
  return said.stdout.split('\n').filter((fact) => !fact.includes('kube-system/calico-kube-controllers-'));
}

const opened = () => sweptCluster({ source: OLD, file: 'calico-typha.yaml' });

/** Pods, and objects of a user as the old CLI stores them. */
async function furnish(cluster: SweptCluster): Promise<void> {
  await addPods(cluster.plane.api);
  for (const object of OBJECTS) assertSucceeded(await calicoctl(cluster, cli, ['create', '-f', '-'], JSON.stringify(object)));
}

/** To the end; then the new release writes what has labels. */
async function upgradeAndWrite(cluster: SweptCluster): Promise<void> {
  await cluster.timed(RUN);
  for (const [kind, name, ...where] of LABELLED) {
    const { stdout } = await calicoctl(cluster, newCli, ['get', kind, name, ...where, '-o', 'json']);
    assertSucceeded(await calicoctl(cluster, newCli, ['replace', '-f', '-'], stdout));
  }
}

const KINDS = ['globalnetworkpolicy', 'networkpolicy'] as const;

/** Policies as `calicoctl get` lists them: the arguments that name one. */
async function listed(cluster: SweptCluster): Promise<readonly (readonly string[])[]> {
  const lists = await Promise.all(
    KINDS.map(async (kind) => {
      const said = await calicoctl(
        cluster,
        cli,
        ['get', kind, '-A', '-o', 'json'].filter((one) => kind === 'networkpolicy' || one !== '-A'),
      );
      assertSucceeded(said);
      const { items } = JSON.parse(said.stdout) as { readonly items: readonly { metadata: { name: string; namespace?: string } }[] };
      return items.map(({ metadata: { name, namespace } }) => [kind, name, ...(namespace === undefined ? [] : ['-n', namespace])]);
    }),
  );
  return lists.flat();
}

describeWhere(problem, `a rollback from ${CALICO_TARGET}, as the real parts of ${OLD} see it`, function () {
  this.timeout(LIMIT_MS);
  it('the agents read and enforce what they did', async function () {
    await within(opened(), async (one) => {
      await furnish(one);
      const first = await seen(one);
      await upgradeAndWrite(one);
      const same = async () => {
        const now = new Set(await seen(one));
        return first.filter((fact) => now.has(fact)).length;
      };
      const without = await same();
      assert.ok(without < first.length, 'the new release has written nothing that they miss');
      assertSucceeded(await one.command(BACK));
      assert.deepEqual(await seen(one), first);
      if (this.test) this.test.title += `: ${first.length} of ${first.length}, before the rollback ${without}`;
    });
  });

  it('its CLI and its API server get, change and delete every policy', async function () {
    await within(opened(), async (one) => {
      await furnish(one);
      await upgradeAndWrite(one);
      const late = policy('GlobalNetworkPolicy', 'made-by-the-new', { order: 7, selector: 'app == "web"', ingress: from('all()') });
      assertSucceeded(await calicoctl(one, newCli, ['create', '-f', '-'], JSON.stringify(late)));
      const found = async () => {
        const all = await Promise.all((await listed(one)).map((args) => calicoctl(one, cli, ['get', ...args])));
        return `${all.filter(({ exitCode }) => exitCode === 0).length} of ${all.length}`;
      };
      const without = await found();
      assert.match(without, /^0 of /);
      assertSucceeded(await one.command(BACK));
      const policies = await listed(one);
      assert.equal(await found(), `${policies.length} of ${policies.length}`);
      const api = await RealApiServer.register(one.plane, 'projectcalico.org');
      try {
        await api.serve(programOf(server));
        const kubectl = async (...args: readonly string[]) => assertSucceeded(await one.plane.kubectl(args));
        const patch = (order: number) => JSON.stringify({ spec: { order } });
        for (const [index, [kind = '', name = '', ...where]] of policies.entries()) {
          const full = `${kind}s.v3.projectcalico.org`.replace('policys', 'policies');
          await kubectl('get', full, name, ...where);
          await kubectl('patch', full, name, ...where, '--type=merge', '-p', patch(100 + index));
          assertSucceeded(await calicoctl(one, cli, ['get', kind, name, ...where]));
          assertSucceeded(await calicoctl(one, cli, ['patch', kind, name, ...where, '-p', patch(200 + index)]));
          if (index % 2 === 0) assertSucceeded(await calicoctl(one, cli, ['delete', kind, name, ...where]));
          else await kubectl('delete', full, name, ...where);
        }
      } finally {
        await api.stop();
      }
      assert.deepEqual(await listed(one), []);
      if (this.test) this.test.title += `: ${policies.length}; before the rollback the CLI gets ${without}`;
    });
  });
});
