import assert from 'node:assert/strict';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunReport } from '../../src/cli/documents.ts';
import { until } from '../control-plane/until.ts';
import { AGENTS, COMMIT, HELD, NODES, newOn, OWN, opened, RUN, strategy } from '../support/canary-cluster.ts';
import { differences } from '../support/end-state.ts';
import { testFolder } from '../support/folders.ts';
import { readObjects } from '../support/former-state.ts';
import { within } from '../support/installed-cluster.ts';
import { killedAt, startUpgrade, told } from '../support/upgrade-process.ts';

const BACK = ['rollback', ...RUN.slice(1)].filter((word) => word !== '--skip' && word !== 'cli');

/** The current context of a user who works on two clusters. */
const ELSEWHERE = {
  ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'elsewhere' },
  clusters: [{ name: 'elsewhere', cluster: { server: 'https://elsewhere.invalid' } }],
  contexts: [{ name: 'elsewhere', context: { cluster: 'elsewhere', user: '' } }],
};

/** A pod that gets no address, and what the kubelet of its node says of it. */
function refusedPod(node: string): readonly object[] {
  const annotations = { 'netsvc-upgrade.test/ready-after': '600s' };
  const involvedObject = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' };
  const message = 'Failed to create pod sandbox: x509: unknown authority';
  return [
    {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'default', annotations } },
      spec: { nodeName: node, containers: [{ name: 'web', image: 'registry.example.com/web:1' }] },
    },
    {
      ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: 'web.1', namespace: 'default' }, involvedObject, message },
      ...{ type: 'Warning', reason: 'FailedCreatePodSandBox', source: { component: 'kubelet', host: node } },
    },
  ];
}

/** Each story on a cluster of its own; the sandbox has them all, and kills at every write. */
describe('more of a canary on a real control plane', function () {
  this.timeout(300_000);

  it('that fails leaves all other agents alone until it is repaired; killed in the soak, it is resumed with no further agent meanwhile', () =>
    within(opened(), async (cluster) => {
      await cluster.plane.fault('node-01', 'crash-loop');
      const failed = await cluster.upgrade(...RUN, '--canary', '1', '--soak', '5s', '--timeout', '2m');
      assert.equal(failed.exitCode, 5, told(failed));
      assert.match(failed.stderr, /the canary failed: 1 pod failed, more than --max-failed=0: node-01: /);
      const refused = await cluster.upgrade(...COMMIT, '--timeout', '40s');
      assert.equal(refused.exitCode, 5, told(refused));
      assert.deepEqual([await newOn(cluster), await strategy(cluster)], [['node-01'], HELD]);
      await cluster.plane.fault('node-01', 'none');
      // Its restarts stay counted: the pod is given a new start, as the error says.
      const agent = ['delete', 'pod', '-l', 'k8s-app=calico-node', '--field-selector', 'spec.nodeName=node-01'];
      await cluster.plane.kubectl(['-n', 'kube-system', ...agent]);
      await killedAt([...RUN, '--canary', '2', '--soak', '10m'], cluster.around, /watch the agents of /);
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      assert.deepEqual([await newOn(cluster), await strategy(cluster)], [['node-01', 'node-02'], HELD]);
      const went = await cluster.upgrade(...RUN, '--canary', '2', '--soak', '3s', '--max-unavailable', '3');
      assert.equal(went.exitCode, 0, told(went));
      assert.deepEqual([(await newOn(cluster)).length, await strategy(cluster)], [NODES, OWN]);
    }));

  it('that is ready at once fails all the same where a new pod on its node was refused a network, until the pod has one', () =>
    within(opened(), async (cluster) => {
      const folder = testFolder('refused');
      const [objects, script] = [join(folder, 'objects.json'), join(folder, 'start.sh')];
      writeFileSync(objects, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: refusedPod('node-03') }));
      writeFileSync(script, `#!/bin/sh\nexec kubectl create -f ${objects}\n`);
      chmodSync(script, 0o755);
      const canary = [...RUN, '--canary', 'node-03', '--after-node', script];
      const failed = await cluster.upgrade(...canary);
      assert.equal(failed.exitCode, 5, told(failed));
      assert.match(
        failed.stderr,
        /the canary failed: new pods get no network on a node whose agent is new and ready: node-03: default\/web: .*x509: unknown/,
      );
      assert.deepEqual([await newOn(cluster), await strategy(cluster)], [['node-03'], HELD]);
      assert.match((await cluster.upgrade('status')).stdout, /apply +failed/);
      const soaked = await cluster.upgrade(...canary, '--soak', '3s');
      assert.equal(soaked.exitCode, 5, told(soaked));
      assert.match(
        soaked.stderr,
        /the canary failed: new pods get no network on a node whose agent is new and ready: node-03: default\/web: /,
      );
      assert.deepEqual([await newOn(cluster), await strategy(cluster)], [['node-03'], HELD]);
      const { exitCode, stderr } = await cluster.plane.kubectl(['-n', 'default', 'delete', 'pod', 'web', '--now']);
      assert.equal(exitCode, 0, stderr);
      const held = await cluster.upgrade(...canary);
      assert.equal(held.exitCode, 5, told(held));
      assert.match(held.stderr, /the canary runs: 1 of 5 agents/);
      assert.match(told(held), /no new pod on node-03 is known to have no network; only pods that start there show it/);
    }));

  it('has a probe beside it, which no record holds and no resumed run leaves out', () =>
    within(opened(), async (cluster) => {
      const folder = testFolder('probe');
      const [flag, script] = [join(folder, 'fails'), join(folder, 'check.sh')];
      const probe = `${script} 'a word'`;
      const refused = await cluster.upgrade(...RUN, '--canary', '1', '--probe', probe);
      assert.equal(refused.exitCode, 64, told(refused));
      assert.match(refused.stderr, /--probe: \S+check\.sh is no program that can be started/);
      writeFileSync(script, `#!/bin/sh\nif [ -e ${flag} ]; then echo "no answer to $1" >&2; exit 1; fi\n`);
      chmodSync(script, 0o755);
      writeFileSync(flag, '');
      const failing = await cluster.upgrade(...RUN, '--canary', '1', '--probe', probe);
      assert.equal(failing.exitCode, 3, told(failing));
      assert.match(failing.stderr, /does not pass before the start: it ended with exit code 1: no answer to a word/);
      assert.deepEqual(await newOn(cluster), []);
      rmSync(flag);
      const report = join(folder, 'report.json');
      const running = cluster.upgrade(...RUN, '--canary', '1', '--soak', '10m', '--probe', probe, '--report-file', report);
      await until('the agent of the canary is new', async () => (await newOn(cluster)).length === 1);
      writeFileSync(flag, '');
      const stopped = await running;
      assert.equal(stopped.exitCode, 5, told(stopped));
      assert.match(stopped.stderr, /the canary failed: the probe failed 2 times in a row: it ended with exit code 1: no answer to a word/);
      assert.deepEqual([(await newOn(cluster)).length, await strategy(cluster)], [1, HELD]);
      const { history } = JSON.parse(readFileSync(report, 'utf8')) as RunReport;
      assert.equal(history?.probe?.failures.length, 2, JSON.stringify(history?.probe));
      const kept = [await cluster.upgrade('report', '-o', 'json'), await cluster.upgrade('status', '-o', 'json')].map(
        ({ stdout }) => stdout,
      );
      for (const place of [...kept, readFileSync(report, 'utf8')]) {
        assert.match(place, /--probe=\(hidden\)/);
        assert.doesNotMatch(place, /check\.sh/);
      }
      rmSync(flag);
      const without = await cluster.upgrade(...COMMIT);
      assert.equal(without.exitCode, 64, told(without));
      assert.match(without.stderr, /begun with --probe, which is not given now/);
      const went = await cluster.upgrade(...COMMIT, '--probe', probe);
      assert.equal(went.exitCode, 0, told(went));
      assert.deepEqual([(await newOn(cluster)).length, await strategy(cluster)], [NODES, OWN]);
    }));

  it('has commands around each node; killed between two nodes, it resumes with those that are left', () =>
    within(opened(), async (cluster) => {
      const folder = testFolder('hooks');
      const [log, script] = [join(folder, 'log'), join(folder, 'hook.sh')];
      const [asked, elsewhere] = [join(folder, 'asked'), join(folder, 'elsewhere')];
      writeFileSync(log, '');
      const server = 'kubectl config view --minify -o \'jsonpath={.clusters[0].cluster.server}{"\\n"}\'';
      writeFileSync(script, `#!/bin/sh\necho "$1 $2" >> ${log}\n${server} >> ${asked}\n[ "$1" = before ] && sleep 1\nexit 0\n`);
      chmodSync(script, 0o755);
      writeFileSync(elsewhere, JSON.stringify(ELSEWHERE));
      const misled = { ...cluster.around, kubeconfig: [elsewhere, cluster.around.kubeconfig].join(delimiter) };
      const context = (await cluster.plane.kubectl(['config', 'current-context'])).stdout.trim();
      const surge = '{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}}}}';
      const patched = (patch: string, ...more: readonly string[]) =>
        cluster.plane.kubectl(['-n', 'kube-system', 'patch', 'daemonset', 'calico-node', '-p', patch, ...more]);
      assert.equal((await patched(surge)).exitCode, 0);
      // Which is why a pace takes the place of a surge.
      const both = await patched(surge.replace('"maxUnavailable":0', '"maxUnavailable":3'), '--dry-run=server');
      assert.match(both.stderr, /may not be set when max(?:Surge|Unavailable) is non-zero/);
      const hooks = ['--before-node', `${script} before {node}`, '--after-node', `${script} after {node}`];
      const lines = () => readFileSync(log, 'utf8').trim().split('\n');
      const killed = startUpgrade([...RUN, '--context', context, ...hooks], misled);
      await until('two nodes are done', async () => lines().includes('after node-02'), 180_000);
      killed.kill('SIGKILL');
      await killed;
      const { stdout: own } = await cluster.plane.kubectl(['config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}']);
      assert.deepEqual([...new Set(readFileSync(asked, 'utf8').trim().split('\n'))], [own]);
      // A deletion that was on its way is through then.
      await pause(3000);
      const [news, before] = [(await newOn(cluster)).length, lines().length];
      assert.deepEqual(
        [await cluster.read(AGENTS, '{.spec.updateStrategy.type}'), news >= 2 && news < NODES],
        ['OnDelete', true],
        `${news} new`,
      );
      const without = await cluster.upgrade(...COMMIT);
      assert.equal(without.exitCode, 64, told(without));
      const went = await cluster.upgrade(...RUN, ...hooks);
      assert.equal(went.exitCode, 0, told(went));
      const surged = '{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0},"type":"RollingUpdate"}';
      assert.deepEqual([(await newOn(cluster)).length, await strategy(cluster)], [NODES, surged]);
      const later = lines().slice(before);
      assert.equal(later.length, 2 * (NODES - news), later.join());
      assert.ok(!later.includes('before node-01') && later.includes(`after node-0${NODES}`), later.join());
    }));

  it('or all of it with the names of policies as they were: commit releases what the run held', () =>
    within(opened(), async (cluster) => {
      const configuration = {
        apiVersion: 'crd.projectcalico.org/v1',
        kind: 'KubeControllersConfiguration',
        metadata: { name: 'default' },
        spec: { controllers: {} },
      };
      await cluster.plane.api.send('POST', '/apis/crd.projectcalico.org/v1/kubecontrollersconfigurations', configuration);
      const spec = () => cluster.read('kubecontrollersconfigurations.crd.projectcalico.org default', '{.spec}');
      const until = await cluster.upgrade(...RUN, '--until', 'controllers');
      assert.equal(until.exitCode, 0, told(until));
      assert.match(await spec(), /"enabled":"Disabled"/);
      const status = await cluster.upgrade('status');
      assert.match(status.stdout, /stopped on purpose, --until controllers, for \S+\. Open: names of policies, ownerrefs-restore, cli/);
      assert.match(status.stdout, /\nNext: kubectl.*netsvc-upgrade commit/);
      const renames = (enabled: string) =>
        cluster.plane.kubectl([
          ...['patch', 'kubecontrollersconfigurations.crd.projectcalico.org', 'default', '--type=merge', '-p'],
          JSON.stringify({ spec: { controllers: { policyMigration: { enabled } } } }),
        ]);
      await renames('Enabled');
      const over = await cluster.upgrade('status');
      assert.match(
        over.stdout,
        /--until controllers is over: nothing keeps the controllers from renaming policies any more\. Open: ownerrefs-/,
      );
      await renames('Disabled');
      const went = await cluster.upgrade(...COMMIT);
      assert.equal(went.exitCode, 0, told(went));
      assert.doesNotMatch(await spec(), /Disabled/);
    }));

  it('watches nodes that join, are cordoned or go, refuses a second terminal, and leaves a strategy that somebody writes to its user', () =>
    within(opened(), async (cluster) => {
      const { plane } = cluster;
      const kubectl = (...words: readonly string[]) => plane.kubectl([...words]);
      await kubectl('cordon', 'node-01');
      const running = cluster.upgrade(...RUN, '--canary', '2', '--soak', '45s');
      await until('both agents of the canary are new', async () => (await newOn(cluster)).length === 2);
      assert.deepEqual(await newOn(cluster), ['node-02', 'node-03'], 'a cordoned node is none of those that are counted');
      const other = await cluster.upgrade(...COMMIT);
      assert.equal(other.exitCode, 6, told(other));
      await kubectl('cordon', 'node-02');
      await kubectl('delete', 'node', 'node-03');
      await kubectl('-n', 'kube-system', 'delete', 'pod', '--field-selector', 'spec.nodeName=node-03', '--force', '--grace-period=0');
      await plane.addNodes(1);
      await until('the node that joined has an agent', async () => (await newOn(cluster)).length === 2);
      const [, joined = ''] = await newOn(cluster);
      assert.deepEqual([(await newOn(cluster))[0], await strategy(cluster)], ['node-02', HELD]);
      assert.ok(!['node-01', 'node-04', 'node-05'].includes(joined), joined);
      const patch = '{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":2}}}}';
      await kubectl('-n', 'kube-system', 'patch', 'daemonset', 'calico-node', '-p', patch);
      // The DaemonSet rolls as it was told; a number that the release would write over is for its user to decide.
      const ended = await running;
      assert.equal(ended.exitCode, 8, told(ended));
      assert.match(
        ended.stdout,
        /NS-208 [\s\S]*updateStrategy\.rollingUpdate\.maxUnavailable: yours: 2, after the upgrade: 1, set by kubectl-patch/,
      );
      assert.match(ended.stdout, /undo +possible: kubectl netsvc-upgrade rollback (?!.*--(canary|soak))/);
      const resumed = await cluster.upgrade(...COMMIT, '--accept', 'NS-208');
      assert.equal(resumed.exitCode, 0, told(resumed));
      assert.deepEqual([(await newOn(cluster)).length, await strategy(cluster)], [NODES, OWN]);
    }));

  it('that is held goes back; and the way back begins with a canary of its own, which commit continues', () =>
    within(opened(), async (cluster) => {
      const before = await readObjects(cluster.plane.api);
      const held = await cluster.upgrade(...RUN, '--canary', 'node-03');
      assert.equal(held.exitCode, 5, told(held));
      const back = await cluster.upgrade(...BACK);
      assert.equal(back.exitCode, 0, told(back));
      assert.doesNotMatch(told(back), /see that every agent replaced so far is ready/);
      assert.deepEqual([await newOn(cluster), await strategy(cluster)], [[], OWN]);
      assert.deepEqual(differences(before, await readObjects(cluster.plane.api)), []);
      const whole = await cluster.upgrade(...RUN);
      assert.equal(whole.exitCode, 0, told(whole));
      const first = await cluster.upgrade(...BACK, '--canary', 'node-02');
      assert.equal(first.exitCode, 5, told(first));
      assert.match(first.stderr, /the canary runs: 1 of 5 agents has v3\.27\.5 and is ready \(node-02\)/);
      const others = ['node-01', 'node-03', 'node-04', 'node-05'];
      assert.deepEqual([await newOn(cluster), await strategy(cluster)], [others, HELD]);
      const status = await cluster.upgrade('status');
      assert.match(status.stdout, /All other agents follow with: kubectl.* netsvc-upgrade commit/);
      const other = await cluster.upgrade(...COMMIT, '--release', 'v3.32.0');
      assert.equal(other.exitCode, 64, told(other));
      const went = await cluster.upgrade(...COMMIT);
      assert.equal(went.exitCode, 0, told(went));
      assert.deepEqual(differences(before, await readObjects(cluster.plane.api)), []);
      const none = await cluster.upgrade(...COMMIT);
      assert.equal(none.exitCode, 64, told(none));
    }));
});
