import assert from 'node:assert/strict';
import { until } from '../control-plane/until.ts';
import { type Cluster, HELD, NODES, newOn, OWN, opened, RUN, strategy } from '../support/canary-cluster.ts';
import { within } from '../support/installed-cluster.ts';
import { startUpgrade, told, untilSaid } from '../support/upgrade-process.ts';

const CANARY = 'node-01';
const OTHER = 'node-05';

/** How long an agent takes to be ready: long enough for something to happen meanwhile. Milliseconds. */
const READY_MS = 3_000;

type Running = ReturnType<typeof startUpgrade>;

/** When something happens. */
const PHASES: Readonly<Record<string, (cluster: Cluster, running: Running) => Promise<unknown>>> = {
  'while the agent of the canary starts': (cluster) =>
    until('the agent of the canary is made', async () => (await newOn(cluster)).includes(CANARY), 120_000),
  'in the soak': (_, running) => untilSaid(running, /watch the agent of node-01/),
  'while the others follow': (cluster) => until('another one follows', async () => (await newOn(cluster)).length > 1, 120_000),
};

async function gone({ plane }: Cluster, node: string): Promise<void> {
  await plane.kubectl(['delete', 'node', node]);
  await plane.kubectl(['-n', 'kube-system', 'delete', 'pod', '--field-selector', `spec.nodeName=${node}`, '--force', '--grace-period=0']);
}

/** One that is there already is not changed by a fault of its node: its successor crashes. */
async function crashes({ plane }: Cluster, node: string): Promise<void> {
  await plane.fault(node, 'crash-loop');
  await plane.kubectl(['-n', 'kube-system', 'delete', 'pod', '-l', 'k8s-app=calico-node', '--field-selector', `spec.nodeName=${node}`]);
}

interface Happening {
  readonly does: (cluster: Cluster) => Promise<unknown>;
  /** Nodes in the end. */
  readonly nodes: number;
  /** Of the canary: nothing follows, unless others follow already. */
  readonly fails?: RegExp;
}

const WHAT: Readonly<Record<string, Happening>> = {
  'a node joins': { does: ({ plane }) => plane.addNodes(1), nodes: NODES + 1 },
  'the node of the canary is cordoned': { does: ({ plane }) => plane.kubectl(['cordon', CANARY]), nodes: NODES },
  'another node is cordoned': { does: ({ plane }) => plane.kubectl(['cordon', OTHER]), nodes: NODES },
  'another node disappears': { does: (cluster) => gone(cluster, OTHER), nodes: NODES - 1 },
  'the node of the canary disappears': {
    does: (cluster) => gone(cluster, CANARY),
    nodes: NODES - 1,
    fails: /the canary is gone: node-01 is no node/,
  },
  'the agent of the canary crashes': {
    does: (cluster) => crashes(cluster, CANARY),
    nodes: NODES,
    fails: /the canary failed: [\s\S]*node-01/,
  },
};

describe('a canary on a real control plane while its nodes change', function () {
  this.timeout(400_000);

  for (const [phase, begins] of Object.entries(PHASES))
    for (const [what, { does, nodes, fails }] of Object.entries(WHAT))
      it(`${what} ${phase}`, () =>
        within(opened({ readyAfterMs: READY_MS }), async (cluster) => {
          const running = startUpgrade([...RUN, '--canary', '1', '--soak', '12s', '--timeout', '3m'], cluster.around);
          await begins(cluster, running);
          const isHeld = (await strategy(cluster)) === HELD;
          assert.equal(isHeld, phase !== 'while the others follow');
          await does(cluster);
          const ended = await running;
          if (isHeld && fails) {
            assert.equal(ended.exitCode, 5, told(ended));
            assert.match(ended.stderr, fails);
            const others = (await newOn(cluster)).filter((node) => node !== CANARY);
            assert.deepEqual([others, await strategy(cluster)], [[], HELD]);
            return;
          }
          // By then it is one agent among all.
          if (what.endsWith('crashes')) assert.notEqual(ended.exitCode, 0, told(ended));
          else assert.deepEqual([ended.exitCode, (await newOn(cluster)).length], [0, nodes], told(ended));
          assert.equal(await strategy(cluster), OWN);
        }));
});
