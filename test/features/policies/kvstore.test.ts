import assert from 'node:assert/strict';
import { policyStage } from '../../../src/features/chain.ts';
import type { Action } from '../../../src/kernel/action.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { kvstoreSources } from '../../support/kvstore-sources.ts';
import { ofRelease, type StandInState, standInState } from '../../support/stand-in-cli-state.ts';

const NAME = 'allow-all-upgrade';
const policy = (order: number) => ({ spec: { order, selector: 'all()', types: ['Ingress', 'Egress'] } });

function stateOf(policies: Readonly<Record<string, object>>): StandInState {
  const objects = { GlobalNetworkPolicy: policies, NetworkPolicy: {}, Tier: {}, Profile: {}, HostEndpoint: {} };
  return standInState({ etcdv3: ofRelease('v3.32.1', objects as never) });
}

async function planned(state: StandInState): Promise<readonly Action[] | string> {
  const context = contextOf({ path: 'kvstore', variant: 'calico-etcd', deletePolicy: NAME });
  const plan = (await policyStage.open(kvstoreSources(state), context)).plan();
  return 'skip' in plan ? plan.skip : plan.actions;
}

/** What the CLI says to the only action of the plan. */
async function performed(state: StandInState): Promise<readonly [number | undefined, string]> {
  const actions = await planned(state);
  assert.ok(typeof actions !== 'string', `${actions}`);
  assert.equal(actions.length, 1);
  const effect = actions[0]?.effect;
  assert.ok(effect?.type === 'exec');
  const { exitCode, stderr } = await kvstoreSources(state).tools.run(effect.run, { program: effect.program ?? '', timeoutMs: 1_000 });
  return [exitCode, stderr];
}

describe('removing the temporary policy with a key-value datastore', () => {
  for (const [title, stored] of [
    ['under its own name, as new clients do', [NAME]],
    ['with the tier before its name, as older clients do', [`default.${NAME}`]],
    ['under both names', [NAME, `default.${NAME}`]],
  ] as const)
    it(`removes what is stored ${title}, and is done then`, async () => {
      const state = stateOf({ ...Object.fromEntries(stored.map((name, order) => [name, policy(order)])), mine: policy(9) });
      assert.deepEqual(await performed(state), [0, '']);
      assert.deepEqual(Object.keys(state.etcdv3.objects.GlobalNetworkPolicy ?? {}), ['mine']);
      assert.equal(await planned(state), `there is no policy ${NAME}`);
    });

  it('keeps each of two that are stored, which may differ', async () => {
    const actions = await planned(stateOf({ [NAME]: policy(1), [`default.${NAME}`]: policy(2) }));
    assert.ok(typeof actions !== 'string');
    const kept = actions[0]?.keep;
    assert.deepEqual(
      kept?.changes.map(({ before }) => (before[''] as { readonly spec: { readonly order: number } }).spec.order),
      [1, 2],
    );
  });
});
