import assert from 'node:assert/strict';
import { usualChain } from '../../src/features/chain.ts';
import { holdEffects } from '../../src/features/install-operator/hold-effects.ts';
import { K } from '../../src/kernel/kinds.ts';
import { type KubeObject, refOf } from '../../src/kernel/object.ts';
import { HELD_BY, holdOps, releaseOps } from '../../src/kube/held.ts';
import { applyJsonPatch } from '../../src/manifest/json-patch.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { type HeldFleet, heldFleet } from '../support/held-fleet.ts';
import { FLAGS } from '../support/held-sweep.ts';
import { ORDER, TYPHA } from '../support/operated-bench.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { CALICO_OPERATOR, CALICO_TARGET } from '../support/target.ts';

const IGNORES = calico.operator.ignores ?? assert.fail('nothing can be held');
const SPACE = 'calico-system';
const RUN = 'run-of-yesterday';
const UNDO = `kubectl netsvc-upgrade apply --undo --release=${CALICO_TARGET}`;

const typhaOf = ({ cluster: { store } }: Scenario): KubeObject => store.get(K.Deployment, 'calico-typha', SPACE) ?? assert.fail('no Typha');
const annotated = (scenario: Scenario, annotations: Readonly<Record<string, string>>) => {
  const typha = typhaOf(scenario);
  scenario.cluster.store.update(K.Deployment, { ...typha, metadata: { ...typha.metadata, annotations } });
};
const held = { [IGNORES.annotation]: IGNORES.value, [HELD_BY]: RUN };

/** One command line, as a person types it. */
async function said({ scenario, profile }: HeldFleet, line: string) {
  const bench = sandboxCommand(scenario, profile);
  const exit = await bench.run(...line.split(' '), '--release', CALICO_TARGET);
  return { exit, text: bench.out() + bench.err() };
}

describe('a Typha that a run has left held, its record lost', function () {
  this.timeout(120_000);
  let fleet: HeldFleet;
  beforeEach(async () => {
    fleet = await heldFleet(3);
    annotated(fleet.scenario, held);
    await fleet.scenario.clock.sleep(1_000);
    assert.equal(fleet.marks().length, 4, 'on the Deployment and on its ReplicaSet');
  });

  it('is named by status, with the command that releases it', async () => {
    const { exit, text } = await said(fleet, 'status');
    assert.equal(exit, 0, text);
    assert.match(text, new RegExp(`held: ${TYPHA} by run ${RUN}: the operator does not change it. .*: ${UNDO}$`, 'm'));
  });

  it('is named by verify, with the command that releases it', async () => {
    const { text } = await said(fleet, 'verify');
    const finding = /^× NS-313 .*\n(?: {4}.*\n)*/m.exec(text)?.[0] ?? '';
    assert.match(finding, new RegExp(`    - ${TYPHA}: ${HELD_BY}: ${RUN}\n`), text);
    assert.match(finding, /next: kubectl netsvc-upgrade apply --release=\S+ --undo\n/);
  });

  it('is named where the ReplicaSet alone still has it, with the command that removes it', async () => {
    const { scenario, marks } = fleet;
    scenario.cluster.store.update(K.Deployment, applyJsonPatch(typhaOf(scenario), releaseOps(typhaOf(scenario), IGNORES)));
    assert.equal(marks().length, 2);
    const { text: status } = await said(fleet, 'status');
    assert.match(
      status,
      new RegExp(`left of a hold: ReplicaSet/calico-system/calico-typha-\\S+ by run ${RUN}: .* Remove it: ${UNDO}$`, 'm'),
    );
    const { text } = await said(fleet, 'verify');
    const finding = /^× NS-313 .*\n(?: {4}.*\n)*/m.exec(text)?.[0] ?? '';
    assert.match(finding, /left its hold on ReplicaSet\/calico-system\/calico-typha-\S+: kubectl rollout undo would restore it\n/, text);
    assert.match(finding, /next: kubectl netsvc-upgrade apply --release=\S+ --undo\n/);
    const { exit } = await said(fleet, 'apply --undo --yes');
    assert.deepEqual([exit, marks()], [0, []]);
    assert.doesNotMatch((await said(fleet, 'status')).text, /left of a hold/);
  });

  it('is released by apply --undo, on ReplicaSets as well, and no agent restarts', async () => {
    const { exit, text } = await said(fleet, 'apply --undo --yes');
    assert.deepEqual([exit, fleet.marks(), fleet.worst()], [0, [], 0], text);
  });

  it('stays held while the new operator runs and agents are old, unless that is accepted by name', async () => {
    const { store } = fleet.scenario.cluster;
    const operator = store.get(K.Deployment, 'tigera-operator', 'tigera-operator') ?? assert.fail('no operator');
    const text = JSON.stringify(operator).replaceAll(/operator:v1\.32\.12/g, `operator:${CALICO_OPERATOR}`);
    fleet.scenario.clock.schedule(0, () => store.update(K.Deployment, JSON.parse(text) as KubeObject));
    await fleet.scenario.clock.sleep(0);
    const refused = await said(fleet, 'apply --undo --yes');
    assert.equal(refused.exit, 3, refused.text);
    assert.match(refused.text, /NS-251 [\s\S]*agents are still old/);
    assert.equal(fleet.marks().length, 4);
    const accepted = await said(fleet, `apply --undo --yes --accept ${ORDER}=${TYPHA}`);
    assert.equal(accepted.exit, 0, accepted.text);
    assert.deepEqual(fleet.marks(), []);
  });
});

describe('an annotation that a person sets', function () {
  this.timeout(120_000);

  for (const value of ['false', ''])
    it(`with value “${value}” is refused before the first write`, async () => {
      const { scenario, profile } = await heldFleet(3);
      annotated(scenario, { [IGNORES.annotation]: value });
      await scenario.clock.sleep(2_000);
      const begun: string[] = [];
      const observe = (event: { readonly type: string }) => begun.push(event.type);
      const outcome = await performIn(scenario, usualChain, FLAGS, { profile, observe });
      const open = outcome.findings.filter((one) => one.outcome === 'error').map(({ id }) => id);
      assert.deepEqual([outcome.exit, open, begun.includes('action-started')], ['blocked', ['NS-411'], false], outcome.message);
      assert.deepEqual(typhaOf(scenario).metadata.annotations, { [IGNORES.annotation]: value });
    });

  it('between the plan and the write is kept, and the operator is not replaced', async () => {
    const { scenario, profile, marks } = await heldFleet(3);
    let isSet = false;
    const outcome = await performIn(scenario, usualChain, FLAGS, {
      profile,
      observe: (event) => {
        if (isSet || event.type !== 'action-started' || event.action.id !== 'hold-typha') return;
        isSet = true;
        annotated(scenario, { [IGNORES.annotation]: IGNORES.value });
      },
    });
    assert.ok(isSet);
    const open = outcome.findings.filter((one) => one.outcome === 'error').map(({ id }) => id);
    assert.deepEqual([outcome.exit, open], ['blocked', ['NS-411']], outcome.message);
    assert.deepEqual(typhaOf(scenario).metadata.annotations, { [IGNORES.annotation]: IGNORES.value });
    assert.ok(marks().every((mark) => mark.endsWith('/ignore')));
    const operator = scenario.cluster.store.get(K.Deployment, 'tigera-operator', 'tigera-operator');
    assert.doesNotMatch(JSON.stringify(operator?.spec), /operator:v1\.42/);
  });
});

describe('Ctrl-C while Typha is released', () => {
  it('is heard although no controller has seen the change', async () => {
    const { scenario } = await heldFleet(3);
    const { cluster, ...ports } = sandboxPorts(scenario);
    const live = applyJsonPatch(typhaOf(scenario), holdOps(typhaOf(scenario), IGNORES, RUN));
    const unseen = { ...live, metadata: { ...live.metadata, generation: 7 }, status: { observedGeneration: 6 } };
    const stop = new AbortController();
    const silent = {
      ...cluster,
      get: async () => unseen,
      patch: async () => unseen,
      async *watch(_kind: unknown, { signal }: { readonly signal: AbortSignal }) {
        yield { type: 'snapshot' as const, items: [unseen] };
        stop.abort();
        assert.ok(signal.aborted, 'the watch ends with it');
      },
    };
    const before = scenario.clock.now();
    const effect = { type: 'release-workload', target: refOf(live), ignores: IGNORES } as const;
    const around = { mustHold: () => undefined, stop: stop.signal } as never;
    await assert.rejects(holdEffects['release-workload'].perform({ ...ports, cluster: silent } as never, effect, around), {
      name: 'Fault',
      code: 'interrupted',
    });
    assert.equal(scenario.clock.now().getTime(), before.getTime());
  });
});
