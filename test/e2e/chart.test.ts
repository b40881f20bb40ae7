import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { type Attacker, attacker } from '../support/attacker.ts';
import { flagsOf, RELEASE_NAMESPACE, sharedChartCluster } from '../support/chart-cluster.ts';
import { packedChart, repositoryNaming, repositoryWith } from '../support/hostile-charts.ts';
import { assertWritesNothing } from '../support/installed-cluster.ts';
import { asAnybodyElse, type MisleadingMachine, misleadingMachine, programRequests } from '../support/misleading.ts';
import { patient } from '../support/patience.ts';
import { releases } from '../support/releases.ts';
import { repacked } from '../support/repacked-release.ts';
import { assertOneByOne, slowTool } from '../support/slow-kubectl.ts';
import { CALICO_OPERATOR, CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, type Surroundings, surroundingsEnv, told, upgrade } from '../support/upgrade-process.ts';

/** The whole chain; no CLI is there to be changed. */
const RUN = ['run', '--yes', '--skip', 'cli'] as const;

const FORGED = 'sh.helm.release.v1.calico.v99';

const READING = `apiVersion: v1
kind: ConfigMap
metadata: { name: bait, namespace: "{{ .Release.Namespace }}" }
data: { got: '{{ (lookup "v1" "Secret" "default" "bait").data | toJson }}' }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: by-hook, annotations: { helm.sh/hook: pre-upgrade } }
`;

/** What must not be heard comes first, on the cluster that is upgraded afterwards. */
describe('a chart release with helm 3 on a real control plane', function () {
  this.timeout(280_000);

  const cluster = sharedChartCluster(3, { operator: { mode: 'well', pace: 0.1 }, plane: { audit: 'requests' } });

  /** Whoever answers instead of the chart's repository: a proxy, a name that was taken over. */
  describe('a repository of charts that is not the service’s', () => {
    const from = (url: string) => ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases, '--repo', url];
    const folder = (name: string) => join(cluster.around.home, name);
    /** Servers, which would keep the process after a failure. */
    const ends: (() => unknown)[] = [];
    after(() => Promise.all(ends.map((end) => end())));

    /** Nothing is written, and each command says why. */
    async function assertRefused(url: string, why: RegExp): Promise<string> {
      const before = await cluster.versions();
      const results = [await cluster.upgrade('plan', '-o', 'wide', ...from(url)), await cluster.upgrade('apply', '--yes', ...from(url))];
      for (const result of results) {
        assert.equal(result.exitCode, 3, told(result));
        assert.match(told(result), why);
      }
      assert.equal(await cluster.versions(), before);
      return results.map(told).join('\n');
    }

    it('gets no file of its own name into the work folder, whether it is a chart or a kubeconfig', async () => {
      const misled = await misleadingMachine(cluster.plane, folder('misled'));
      ends.push(misled.stop);
      const kubeconfig = await readFile(join(misled.home, '.kube', 'config'));
      for (const [name, content] of [
        ['kubeconfig', kubeconfig],
        ['other-operator-v9.9.9.tgz', await packedChart(cluster.tool, folder('packed'))],
      ] as const) {
        const repository = await repositoryNaming(name, content);
        ends.push(repository.close);
        await assertRefused(repository.url, /NS-235 .*is not of that very version/);
        assert.ok(repository.asked.includes(`/${name}`), 'it was fetched');
      }
      const kept = readdirSync(folder('.local/state'), { recursive: true }).map(String);
      assert.deepEqual(
        kept.filter((file) => /kubeconfig|other-operator|fresh-/.test(file)),
        [],
      );
      assert.equal(misled.visits(), 0);
    });

    it('reads nothing of the cluster with its chart, whose sum nobody confirmed', async () => {
      const bait = JSON.stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'bait', namespace: 'default' },
        stringData: { a: 'b41t' },
      });
      await cluster.plane.kubectl(['create', '-f', '-'], bait);
      const repository = await repositoryWith(cluster.tool, folder('reading'), READING);
      ends.push(repository.close);
      const before = (await programRequests(cluster.plane)).length;
      const said = await assertRefused(repository.url, /NS-248 .*sha256/i);
      const requests = (await programRequests(cluster.plane)).slice(before);
      assert.deepEqual(
        requests.filter(({ requestURI }) => /\/secrets\/bait/.test(requestURI)),
        [],
      );
      assert.ok(!said.includes(Buffer.from('b41t').toString('base64')));
      // The same chart, once its sum is given: then `lookup` reads.
      const confirmed = await cluster.upgrade('plan', ...from(repository.url), ...repository.confirmed);
      assert.ok(
        (await programRequests(cluster.plane)).some(({ requestURI }) => /\/secrets\/bait/.test(requestURI)),
        told(confirmed),
      );
      assert.match(confirmed.stdout, /by-hook/);
    });
  });

  /** It writes a newer revision of the release beside helm's Secrets, with values of its own: they decide which operator runs, with all rights. */
  describe('an attacker who may write ConfigMaps where the chart release is', () => {
    let foe: Attacker;
    after(() => foe?.close());
    before(async () => {
      foe = await attacker(cluster.plane, 'attacker', ['configmaps'], RELEASE_NAMESPACE);
    });

    const forged = async (): Promise<KubeObject> => {
      const [packed, metadata] = await repacked(cluster.plane, 99, { config: { installation: { registry: 'evil.example.org/' } } });
      return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { release: packed } };
    };

    it('stops the upgrade, which names the ConfigMap and writes nothing, with --yes and with the whole check accepted', async () => {
      await foe.cluster.create(K.ConfigMap, await forged());
      const before = await cluster.versions();
      for (const accept of [[], ['--accept', 'NS-247']]) {
        const result = await cluster.upgrade('apply', '--yes', ...flagsOf(cluster), ...accept);
        assert.equal(result.exitCode, 3, told(result));
        assert.match(told(result), /NS-247 .*configmap\/sh\.helm\.release\.v1\.calico\.v99/);
      }
      assert.equal(await cluster.versions(), before);
      // The upgrade below gets nothing of it into the release.
      await foe.cluster.remove(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', name: FORGED, namespace: RELEASE_NAMESPACE });
    });
  });

  /** One story, in order: a refusal (the others are in `npm run test:full`), the plan, the upgrade cut off in the middle, and the end. */
  describe('the upgrade, CRDs first', () => {
    const revision = async () =>
      (JSON.parse(await cluster.helm('list', '-n', RELEASE_NAMESPACE, '-o', 'json')) as readonly Record<string, string>[])[0] ?? {};
    /** Whatever else helm would look at leads to a server that counts who comes. */
    let machine: MisleadingMachine;
    let misled: Surroundings;
    before(async () => {
      machine = await misleadingMachine(cluster.plane, join(cluster.around.home, 'misled'));
      misled = { ...cluster.around, home: machine.home, env: { ...cluster.around.env, ...machine.env } };
    });
    after(() => machine?.stop());
    const flags = () => [...flagsOf(cluster), '--kubeconfig', cluster.around.kubeconfig, '--skip', 'cli'];

    it('is led astray where nobody keeps helm', async () => {
      const env = { ...surroundingsEnv(misled), HELM_KUBECONTEXT: '', HELM_DRIVER: 'secret' };
      await execa(cluster.tool, ['list', '-A'], { env, extendEnv: false, reject: false, timeout: patient(30_000) });
      assert.ok(machine.visits() > 0);
      machine.forget();
    });

    it('asks as the user whom the flags name, and helm with it', async () => {
      await cluster.plane.kubectl(['create', 'clusterrolebinding', 'upgraders', '--clusterrole=cluster-admin', '--group=upgraders']);
      const before = (await programRequests(cluster.plane)).length;
      const result = await upgrade(['plan', ...flags(), '--as', 'ann', '--as-group', 'upgraders'], misled);
      assert.equal(machine.visits(), 0, told(result));
      assertSucceeded(result);
      const requests = (await programRequests(cluster.plane)).slice(before);
      assert.ok(
        requests.some(({ userAgent }) => /^helm/i.test(userAgent ?? '')),
        'helm asked nothing',
      );
      assert.deepEqual(asAnybodyElse(requests, 'ann', 'upgraders'), []);
    });

    it('plans the very commands, and writes nothing', async () => {
      const before = await cluster.versions();
      const result = await cluster.upgrade('plan', ...flagsOf(cluster), '-o', 'wide');
      assertSucceeded(result);
      assert.match(result.stdout, /kubectl apply --server-side --force-conflicts -f \S+crd_projectcalico_org\.yaml/);
      assert.match(
        result.stdout,
        pattern`helm upgrade calico \S+tigera-operator-${CALICO_TARGET}-\w{12}\.tgz --version ${CALICO_TARGET} --namespace tigera-operator --reset-then-reuse-values`,
      );
      const { exitCode, stdout } = await cluster.upgrade('plan', ...flagsOf(cluster), '--diff');
      assert.equal(exitCode, 0);
      assert.match(stdout, /^--- release\/(Deployment\/tigera-operator\/tigera-operator)\n\+\+\+ planned\/\1\n@@ /m);
      assert.equal(await cluster.versions(), before);
    });

    it('killed in the middle of helm, the same command waits for it and goes on, and helm asks no other cluster', async () => {
      const before = (await programRequests(cluster.plane)).length;
      const slow = await slowTool(misled, ['run', '--yes', ...flags()], { name: 'helm', real: cluster.tool, verb: 'upgrade' });
      const { child } = await slow.startHeld();
      child.kill('SIGKILL');
      await child;
      const next = slow.start();
      await next.says(/waiting for helm/);
      await slow.letGo();
      assertSucceeded(await next.child);
      assertOneByOne(await slow.takeLog());
      assert.deepEqual(
        [(await revision()).revision, (await revision()).status, (await revision()).chart],
        ['2', 'deployed', `tigera-operator-${CALICO_TARGET}`],
      );
      assert.equal(machine.visits(), 0);
      const byHelm = (await programRequests(cluster.plane)).slice(before).filter(({ userAgent }) => /^helm/i.test(userAgent ?? ''));
      assert.deepEqual(
        ['get', 'create', 'update'].filter((verb) => byHelm.every((event) => event.verb !== verb)),
        [],
      );
    });

    it('has brought the CRDs, the new operator and all its components, and kept the values', async () => {
      assert.match(
        await cluster.read('deploy -n tigera-operator tigera-operator', '{.spec.template.spec.containers[0].image}'),
        pattern`:${CALICO_OPERATOR}$`,
      );
      assert.equal(
        await cluster.read('deploy -n tigera-operator tigera-operator', '{.spec.template.spec.containers[0].args}'),
        '["-manage-crds=false"]',
      );
      assert.equal(await cluster.read('installations.operator.tigera.io default', '{.spec.registry}'), 'mirror.example.org/');
      assert.equal(
        await cluster.read('ds -n calico-system calico-node', '{.spec.template.spec.containers[0].image}'),
        `mirror.example.org/calico/node:${CALICO_TARGET}`,
      );
      assert.equal(await cluster.read('crd goldmanes.operator.tigera.io', '{.metadata.name}'), 'goldmanes.operator.tigera.io');
      assert.equal(await cluster.read('goldmanes.operator.tigera.io', '{.items}'), '[]', 'what was not there stays away');
    });

    it('a second run writes nothing', async () => {
      await assertWritesNothing(cluster, () => cluster.upgrade(...RUN, ...flagsOf(cluster)));
    });
  });
});
