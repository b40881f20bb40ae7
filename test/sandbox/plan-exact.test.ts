import assert from 'node:assert/strict';
import { withinPlan } from '../../src/cli/plan/within.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { chain, usualChain } from '../../src/features/chain.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import { type KubeObject, refOf } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { containersOf } from '../../src/kube/workload.ts';
import { CARRIED_PART, type CarriedEdits } from '../../src/manifest/carried-file.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { contextIn, installedSandbox, sandboxPorts } from '../support/sandbox-ports.ts';
import { savedPlan } from '../support/saved-plan.ts';
import { NETSVC_TARGET } from '../support/target.ts';

/** In waves, with a wait in between in which somebody may write. */
const { uidChange: _, ...unchanging } = netsvc;
const waved: Profile = { ...unchanging, typhaRefusesAgentsBefore: 'v3.28.0' };
const EVIL = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'evil' } } as KubeObject;
const GRANT = {
  ...EVIL,
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'attacker' }],
};

/** Into what the run has kept: whoever may write the state, and knows its form. */
function inject({ state }: Scenario): void {
  const [id = '', text = ''] = [...state.kept].find(([one]) => one.includes(CARRIED_PART)) ?? [];
  const carried = JSON.parse(text) as CarriedEdits;
  const [[file = '', first] = []] = Object.entries(carried.files);
  const base = first ?? { release: '', merged: '', changed: [], removed: [] };
  const files = { ...carried.files, [file || 'upgrade.yaml']: { ...base, merged: 'another', changed: [...base.changed, GRANT] } };
  state.kept.set(id, JSON.stringify({ ...carried, files }));
}

/** Performs the stages with a saved plan of them; `meanwhile` happens once the new agents are rolled. */
async function performed(scenario: Scenario, stages: typeof usualChain, profile: Profile, meanwhile?: (scenario: Scenario) => void) {
  const context = contextIn(scenario, {}, profile);
  const ports = sandboxPorts(scenario);
  const document = await savedPlan({ sources: ports, context }, stages);
  let done = meanwhile === undefined;
  scenario.cluster.store.listen(({ kind, after }) => {
    if (done || kind.plural !== K.DaemonSet.plural || !after) return;
    if (!containersOf(after).some(({ image = '' }) => image.endsWith(`:${NETSVC_TARGET}`))) return;
    done = true;
    scenario.clock.schedule(2_000, () => meanwhile?.(scenario));
  });
  const within = await withinPlan({ file: 'agreed.json', document }, context, { ...ports, chain });
  const outcome = await runChain(stages, ports, context, () => undefined, { within });
  assert.ok(done, 'the agents were rolled first');
  return outcome;
}

describe('a run with a saved plan', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ cli: false });
  });
  const evil = () => scenario.cluster.store.get(K.ClusterRoleBinding, 'evil');

  it('does all that is in it', async () => {
    const { exit, message } = await performed(scenario, usualChain, netsvc);
    assert.deepEqual([exit, message], ['done', undefined]);
  });

  it('takes over the ownership of nothing that is not in it', async () => {
    const context = contextIn(scenario, {}, netsvc);
    const ports = sandboxPorts(scenario);
    const document = await savedPlan({ sources: ports, context }, [applyStage]);
    const within = await withinPlan({ file: 'agreed.json', document }, context, { ...ports, chain });
    const plan = (await applyStage.open(ports, context)).plan();
    assert.ok('actions' in plan);
    assert.doesNotThrow(() => within('apply', plan));
    const more = { ...EVIL, metadata: { ...EVIL.metadata, namespace: 'kube-system' } };
    const actions = plan.actions.map((action) =>
      action.effect.type === 'patch-all'
        ? { ...action, effect: { ...action.effect, patches: [...action.effect.patches, { target: refOf(more), uid: 'u', patch: [] }] } }
        : action,
    );
    assert.throws(
      () => within('apply', { ...plan, actions }),
      /hold, so it did nothing:\n {2}update ClusterRoleBinding\/kube-system\/evil$/,
    );
  });

  it('creates nothing that somebody put into what it has kept, and says what that was', async () => {
    const { exit, message = '', steps } = await performed(scenario, [applyStage], waved, inject);
    assert.equal(evil(), undefined);
    assert.equal(exit, 'stale');
    assert.match(message, /^apply would do what agreed\.json does not hold, so it did nothing:\n/);
    assert.match(message, /\n {2}create ClusterRoleBinding\/evil\n/);
    assert.match(String(steps[0]), /kubectl netsvc-upgrade plan --out plan\.json/);
  });
});
