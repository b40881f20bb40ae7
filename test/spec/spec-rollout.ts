import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { RolloutTarget } from '../../src/kernel/rollout.ts';
import { judgeRollout } from '../../src/kube/judge-rollout.ts';
import { podFacts } from '../../src/kube/pod-facts.ts';
import { daemonSet, eventually, freshName, type SpecCluster } from './spec-cluster.ts';

export function describeRollout(open: () => SpecCluster): void {
  const pods = async (name: string) =>
    (await open().cluster.list(K.Pod, { namespace: 'default', labelSelector: `app=${name}` })).map(podFacts);
  const progress = async (name: string, release: string) => {
    const image = `registry.netsvc.io/spec/main:${release}`;
    const ready = { type: 'all-containers' } as const;
    const target: RolloutTarget = { kind: 'DaemonSet', namespace: 'default', name, container: 'main', image, ready };
    const workload = await open().cluster.get(K.DaemonSet, name, 'default');
    return judgeRollout({ target, workload, pods: await pods(name), nodes: new Map(), now: 0 });
  };
  const rolledOut = (name: string, release: string) =>
    eventually(open().clock, `${name} is on ${release}`, async () => (await progress(name, release)).done);
  const install = async (name: string) => {
    await open().installClientSide(daemonSet(name, 'v1'));
    await rolledOut(name, 'v1');
  };

  describe('a DaemonSet', () => {
    it('rolls one node at a time', async () => {
      const name = freshName('rolls');
      await install(name);
      const [end, unready] = [new AbortController(), [] as number[]];
      const watching = follow(open(), name, end.signal, (ready) => unready.push(open().nodes.length - ready));
      await open().serverSideApply([daemonSet(name, 'v2')]);
      await rolledOut(name, 'v2');
      end.abort();
      await watching;
      assert.equal(Math.max(...unready), 1);
    });

    for (const fault of ['not-ready', 'image-pull'] as const) {
      it(`stops where a new pod does not become ready (${fault}), and goes on when the node is fixed`, async () => {
        const name = freshName('stuck');
        await install(name);
        for (const node of open().nodes) await open().fault(node, fault);
        await open().serverSideApply([daemonSet(name, 'v2')]);
        const isStuck = async () =>
          (await pods(name)).find(
            (pod) => pod.images.main?.endsWith(':v2') && (fault === 'not-ready' ? pod.phase === 'Running' : pod.trouble),
          );
        const stuck = await eventually(open().clock, 'a new pod is stuck', isStuck);
        await open().clock.sleep(1500); // time in which a second one would have been replaced
        const tags = (await pods(name)).map(({ images }) => images.main?.slice(-2)).sort();
        assert.deepEqual(tags, ['v1', 'v1', 'v2']);
        assert.equal(stuck.readyContainers, 0);
        assert.equal((await progress(name, 'v2')).done, false);
        for (const node of open().nodes) await open().fault(node, 'none');
        await rolledOut(name, 'v2');
      });
    }
  });
}

/** Tells after every change how many pods are ready. */
async function follow({ cluster }: SpecCluster, name: string, signal: AbortSignal, tell: (ready: number) => void): Promise<void> {
  const ready = new Map<string, boolean>();
  for await (const update of cluster.watch(K.Pod, { namespace: 'default', labelSelector: `app=${name}`, signal })) {
    for (const object of update.type === 'snapshot' ? update.items : [update.object]) {
      const pod = podFacts(object);
      ready.set(pod.uid, update.type !== 'deleted' && pod.readyCondition && !pod.terminating);
    }
    tell([...ready.values()].filter(Boolean).length);
  }
}
