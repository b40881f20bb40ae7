import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { differences } from '../support/end-state.ts';
import { readObjects } from '../support/former-state.ts';
import { installedCluster, within } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, killedAt, told } from '../support/upgrade-process.ts';

const FROM = 'v3.27.5';
const COMMON = ['--yes', '--accept', 'NS-301', '--manifest-url', releases] as const;
const RUN = ['run', '--skip', 'cli', ...COMMON] as const;
const BACK = ['rollback', ...COMMON] as const;
const AGENTS = 'daemonset -n kube-system calico-node';

type Cluster = Awaited<ReturnType<typeof installedCluster>>;

const opened = (file = 'calico.yaml') => installedCluster({ manifest: manifestFile(FROM, file, releases), nodes: 3 });

/** Every agent is replaced by it: an upgrade does not begin before they are ready. */
async function edit({ plane }: Cluster, variable: string): Promise<void> {
  await plane.kubectl(['-n', 'kube-system', 'set', 'env', 'daemonset/calico-node', variable]);
  await plane.kubectl(['-n', 'kube-system', 'rollout', 'status', 'daemonset/calico-node', '--timeout', '120s']);
}

const imageOf = ({ read }: Cluster) => read(AGENTS, '{.spec.template.spec.containers[0].image}');
const variable = ({ read }: Cluster, name: string) => read(AGENTS, `{.spec.template.spec.containers[0].env[?(@.name=="${name}")].value}`);

async function assertAsBefore(cluster: Cluster, before: Awaited<ReturnType<typeof readObjects>>): Promise<void> {
  assert.deepEqual(differences(before, await readObjects(cluster.plane.api)), []);
}

/** What a rollback goes by is in the cluster: in few Secrets, with no value of another Secret and no rights. */
async function assertKeepsLittle({ plane }: Cluster): Promise<void> {
  const { stdout } = await plane.kubectl([
    '-n',
    'kube-system',
    'get',
    'secrets',
    '--field-selector',
    'type=netsvc-upgrade/state',
    '-o',
    'json',
  ]);
  const { items } = JSON.parse(stdout) as { readonly items: readonly { readonly data: Readonly<Record<string, string>> }[] };
  assert.ok(items.length > 0 && items.length <= 3, `${items.length} Secrets`);
  const texts = items.flatMap(({ data }) =>
    Object.entries(data).map(([key, value]) => {
      const bytes = Buffer.from(value, 'base64');
      return (key.includes('.gz') ? gunzipSync(bytes) : bytes).toString();
    }),
  );
  assert.match(texts.join('\n'), /1400/);
  // Objects that are kept; what only names one is none.
  const kept = texts.join('\n').match(/\{"apiVersion":"[^"]*","kind":"\w+","metadata"/g) ?? [];
  assert.deepEqual(
    kept.filter((one) => /"kind":"(Secret|Cluster|Role|Namespace|APIService|\w+WebhookConfiguration)/.test(one)),
    [],
  );
  assert.ok(kept.length > 0);
}

describe('rollback on a real control plane', function () {
  this.timeout(400_000);

  it('gives every object its former state, edits of before included, and a second one writes nothing', () =>
    within(opened('calico-typha.yaml'), async (cluster) => {
      await edit(cluster, 'FELIX_LOGSEVERITYSCREEN=debug');
      await cluster.plane.kubectl(['-n', 'kube-system', 'patch', 'cm', 'calico-config', '-p', '{"data":{"veth_mtu":"1400"}}']);
      const before = await readObjects(cluster.plane.api);
      assertSucceeded(await cluster.upgrade(...RUN));
      assert.match(await imageOf(cluster), new RegExp(`:${CALICO_TARGET}$`));
      await assertKeepsLittle(cluster);
      const back = await cluster.upgrade(...BACK);
      assertSucceeded(back);
      const order = ['configuration', 'typha', 'agents', 'controllers'].map((wave) => back.stderr.indexOf(`-${wave}.yaml`));
      assert.deepEqual(
        order.toSorted((a, b) => a - b),
        order,
        back.stderr,
      );
      await assertAsBefore(cluster, before);
      const again = await cluster.upgrade(...BACK);
      assertSucceeded(again);
      assert.match(again.stdout, /Nothing was changed by this command/);
      await assertAsBefore(cluster, before);
    }));

  it('carries what people changed before the upgrade, in the middle of it, and since', () =>
    within(opened(), async (cluster) => {
      await edit(cluster, 'FELIX_LOGSEVERITYSCREEN=debug');
      await killedAt(RUN, cluster.around, /calico-node node-\d+ new /);
      await edit(cluster, 'FELIX_REPORTINGINTERVALSECS=7');
      assertSucceeded(await cluster.upgrade(...RUN));
      await edit(cluster, 'FELIX_BPFLOGLEVEL=info');
      await edit(cluster, 'FELIX_LOGSEVERITYSCREEN=info');
      assertSucceeded(await cluster.upgrade(...BACK));
      assert.match(await imageOf(cluster), new RegExp(`:${FROM}$`));
      const names = ['FELIX_REPORTINGINTERVALSECS', 'FELIX_BPFLOGLEVEL', 'FELIX_LOGSEVERITYSCREEN'];
      assert.deepEqual(await Promise.all(names.map((name) => variable(cluster, name))), ['7', 'info', 'info']);
    }));

  it('takes back a run that was killed half way, and one that was killed itself goes on with the same command', () =>
    within(opened(), async (cluster) => {
      const before = await readObjects(cluster.plane.api);
      await killedAt(RUN, cluster.around, /calico-node node-\d+ new /);
      await killedAt(BACK, cluster.around, /calico-node node-\d+ new /);
      const other = await cluster.upgrade(...RUN);
      assert.equal(other.exitCode, 3, told(other));
      assert.match(told(other), /a rollback to v3\.27\.5 is unfinished, and this one goes to v3\.32\.1/);
      assert.match(told(other), /kubectl netsvc-upgrade rollback/);
      assertSucceeded(await cluster.upgrade(...BACK));
      await assertAsBefore(cluster, before);
    }));

  it('that was killed may go forward again, on the user’s word, with the edits of before', () =>
    within(opened(), async (cluster) => {
      await edit(cluster, 'FELIX_LOGSEVERITYSCREEN=debug');
      assertSucceeded(await cluster.upgrade(...RUN));
      await killedAt(BACK, cluster.around, /calico-node node-\d+ new /);
      assertSucceeded(await cluster.upgrade(...RUN, '--accept', 'NS-012'));
      assert.match(await imageOf(cluster), new RegExp(`:${CALICO_TARGET}$`));
      assert.equal(await variable(cluster, 'FELIX_LOGSEVERITYSCREEN'), 'debug');
      const back = await cluster.upgrade('plan', '--rollback', '--manifest-url', releases);
      assertSucceeded(back);
      assert.match(back.stdout, /v3\.32\.1 → v3\.27\.5/);
      assert.match(back.stdout, /Next: kubectl netsvc-upgrade rollback/);
    }));
});
