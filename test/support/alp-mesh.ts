import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { KubeObject } from '../../src/kernel/object.ts';
import { podShape } from '../../src/kube/pod-facts.ts';
import { startInjector } from '../control-plane/injecting-webhook.ts';
import type { Played } from '../control-plane/played.ts';
import { until } from '../control-plane/until.ts';
import { type InstalledCluster, installedCluster } from './installed-cluster.ts';
import { meshObjects, NEW, namespaces, OLD, publishTemplates, templateOf, workload } from './mesh-objects.ts';
import { manifestFile, ownReleases } from './releases.ts';
import { assertSucceeded, startUpgrade, told, upgrade } from './upgrade-process.ts';

/** The last in the order of names: the others are done before it. */
const [BROKEN, CRASHING] = ['zz-broken', 'node-03'];
const ALONE = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'alone', namespace: 'shop' },
  spec: { containers: [{ name: 'app', image: 'shop/app:1' }] },
};
/**
 * The sidecars of a mesh: among its workloads a StatefulSet, one whose disruption budget is spent, one whose rollout is paused, a bare
 * pod, and one that crashes wherever it is started anew. Killed, continued and taken back. `workloads`: Deployments in the mesh, and as many
 * outside it.
 */
export function describeMesh({ workloads, timeoutMs }: { readonly workloads: number; readonly timeoutMs: number }): void {
  describe(`alp on a real control plane with ${workloads} meshed and as many plain workloads, and an injecting webhook`, function () {
    this.timeout(timeoutMs);
    let cluster: InstalledCluster;
    let injector: Played;
    let folder = '';

    const create = async (...objects: readonly object[]) => {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      assertSucceeded(await cluster.plane.kubectl(['create', '-f', '-'], list));
    };

    /** The namespace has its service account, and the webhook is in force: a pod that is made now has the sidecar. */
    const injects = async () => {
      const args = ['create', '--dry-run=server', '-o', 'jsonpath={.spec.containers[*].name}', '-f', '-'];
      return (await cluster.plane.kubectl(args, JSON.stringify(ALONE))).stdout.includes('policy-sidecar');
    };

    /** To the node on which everything that starts crashes, and where nothing else is placed; with the host's network, without which simulated pods do not recover. */
    function pinned({ spec, ...one }: ReturnType<typeof workload>): object {
      const place = { hostNetwork: true, nodeSelector: { 'kubernetes.io/hostname': CRASHING }, tolerations: [{ operator: 'Exists' }] };
      return { ...one, spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, ...place } } } };
    }

    before(async () => {
      cluster = await installedCluster({ manifest: manifestFile(NEW, 'netsvc.yaml', ownReleases), nodes: 3 });
      await cluster.plane.kubectl(['taint', 'node', CRASHING, 'crashing=yes:NoSchedule']);
      folder = join(cluster.around.home, 'releases');
      await publishTemplates(folder);
      await create(...namespaces);
      await create(...meshObjects(`mine: kept\n${templateOf(OLD)}`));
      injector = await startInjector(cluster.plane.api);
      await until('a pod is given the sidecar', injects);
      const names = Array.from({ length: workloads }, (_, index) => `web-${index + 1}`);
      await create(
        ...names.map((name) => workload('shop', name)),
        workload('shop', 'db', 'StatefulSet'),
        workload('shop', 'guarded'),
        workload('shop', 'held', 'Deployment', { paused: false }),
        pinned(workload('shop', BROKEN)),
        ALONE,
        {
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: { name: 'guarded', namespace: 'shop' },
          spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
        },
        ...names.map((name) => workload('plain', name)),
      );
      await until('the workloads run', async () => (await running()).length >= workloads + 5);
      await cluster.plane.kubectl(['rollout', 'pause', 'deployment/held', '-n', 'shop']);
      await cluster.plane.fault(CRASHING, 'crash-loop');
    });
    after(async () => {
      await cluster?.stop();
      await injector?.stop();
    });

    const list = async (...what: readonly string[]): Promise<readonly KubeObject[]> =>
      JSON.parse((await cluster.plane.kubectl(['get', ...what, '-o', 'json'])).stdout).items;
    const running = () => list('pods', '-n', 'shop', '--field-selector=status.phase=Running');

    /** Names of pods whose sidecar is of the release. */
    async function podsWith(release: string): Promise<readonly string[]> {
      const pods = await list('pods', '-n', 'shop');
      const isOf = (pod: KubeObject) =>
        podShape(pod).spec?.containers?.some(({ name, image }) => name === 'policy-sidecar' && image?.endsWith(`:${release}`));
      return pods
        .filter(isOf)
        .map(({ metadata }) => metadata.name.replace(/-[a-z0-9]+-[a-z0-9]+$/, ''))
        .sort();
    }

    const run = (...args: readonly string[]) => upgrade([...args, '--manifest-url', folder], cluster.around);
    const config = async () =>
      JSON.parse(await cluster.read('configmap istio-sidecar-injector -n istio-system', '{.data}')).config as string;
    const LEFT = ['alone', 'guarded', 'held'];

    it('is killed between two restarts, and the same command restarts the rest, but for what crashes: that stops it', async () => {
      const first = startUpgrade(['alp', '--yes', '--manifest-url', folder], cluster.around);
      await until('two were restarted', async () => (await podsWith(NEW)).length >= 2, 60_000, 50);
      first.kill('SIGKILL');
      await first;
      const before = (await podsWith(NEW)).length;
      assert.ok(before >= 1 && before < workloads, `${before} were restarted before the kill`);
      const result = await run('alp', '--yes', '--batch', '3');
      assert.equal(result.exitCode, 5, told(result));
      assert.match(result.stderr, /1 pod failed, more than --max-failed=0: node-03: .*CrashLoopBackOff/);
      assert.match(result.stdout, /NS-734/);
      assert.deepEqual(await podsWith(OLD), [...LEFT, BROKEN], 'its old pod goes on working');
    });

    it('leaves what crashes behind within --max-failed, and says so', async () => {
      const result = await run('alp', '--yes', '--max-failed', '1');
      assertSucceeded(result);
      assert.match(result.stdout, /left behind: Deployment shop\/zz-broken \(.*CrashLoopBackOff/);
    });

    it('is whole once the crashes are fixed', async () => {
      await cluster.plane.fault(CRASHING, 'none');
      assertSucceeded(await run('alp', '--yes'));
      assert.deepEqual(await podsWith(OLD), LEFT);
      assert.equal((await podsWith(NEW)).length, workloads + 2);
    });

    it('carried the change of the injector, and left workloads outside the mesh alone', async () => {
      assert.equal(await config(), `mine: kept\n${templateOf(NEW)}`);
      for (const { metadata } of await list('deployments', '-n', 'plain')) assert.equal(metadata.generation, 1, metadata.name);
    });

    it('restarts nothing the second time, and what was paused once it is resumed', async () => {
      const generations = async () => (await list('deployments', '-n', 'shop')).map(({ metadata }) => [metadata.name, metadata.generation]);
      const before = await generations();
      assertSucceeded(await run('alp', '--yes'));
      assert.deepEqual(await generations(), before);
      await cluster.plane.kubectl(['rollout', 'resume', 'deployment/held', '-n', 'shop']);
      assertSucceeded(await run('alp', '--yes'));
      assert.deepEqual(await podsWith(OLD), ['alone', 'guarded']);
    });

    it('puts the former template back', async () => {
      assertSucceeded(await run('alp', '--undo', '--yes'));
      assert.equal(await config(), `mine: kept\n${templateOf(OLD)}`);
    });
  });
}
