import assert from 'node:assert/strict';
import { policyStage } from '../../../src/features/chain.ts';
import { policyPreconditions } from '../../../src/features/policies/effects.ts';
import type { Action } from '../../../src/kernel/action.ts';
import { MovedOn } from '../../../src/kernel/fault.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { kvstoreSources } from '../../support/kvstore-sources.ts';
import { ofRelease, type StandInState, standInState } from '../../support/stand-in-cli-state.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const NAME = 'allow-all-upgrade';
const policy = (order: number) => ({ spec: { order, selector: 'all()', types: ['Ingress', 'Egress'] } });

function stateOf(policies: Readonly<Record<string, object>>): StandInState {
  const objects = { GlobalNetworkPolicy: policies, NetworkPolicy: {}, Tier: {}, Profile: {}, HostEndpoint: {} };
  return standInState({ etcdv3: ofRelease(CALICO_TARGET, objects as never) });
}

async function planned(state: StandInState): Promise<readonly Action[] | string> {
  const context = contextOf({ path: 'kvstore', variant: 'calico-etcd', deletePolicy: NAME });
  const plan = (await policyStage.open(kvstoreSources(state), context)).plan();
  return 'skip' in plan ? plan.skip : plan.actions;
}

/** What the CLI says to the removal, which comes after the copy. */
async function performed(state: StandInState): Promise<readonly [number | undefined, string]> {
  const actions = await planned(state);
  assert.ok(typeof actions !== 'string', `${actions}`);
  const [copy, removal] = actions.map(({ effect }) => effect);
  assert.ok(copy?.type === 'copy-policy' && removal?.type === 'exec');
  assert.match(copy.restoredBy, /^\/bin\/calicoctl apply -f \S+\/allow-all-upgrade-\w+\.yaml --config=/);
  const { exitCode, stderr } = await kvstoreSources(state).tools.run(removal.run, { program: removal.program ?? '', timeoutMs: 1_000 });
  return [exitCode, stderr];
}

/** Whether what was planned still holds. */
async function isAsRead(planned: readonly Action[], state: StandInState): Promise<boolean> {
  const effect = planned.at(-1)?.effect;
  assert.ok(effect?.type === 'exec' && effect.onlyIf?.type === 'policies-as-read');
  const { tools } = kvstoreSources(state);
  const asked = policyPreconditions['policies-as-read'].assert({ tools } as never, effect.onlyIf, {} as never);
  return asked.then(
    () => true,
    (thrown: unknown) => {
      assert.ok(thrown instanceof MovedOn);
      return false;
    },
  );
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

  it('asks the CLI of the installed release, whatever the upgrade goes to', async () => {
    const context = contextOf({ path: 'kvstore', variant: 'calico-etcd', deletePolicy: NAME, release: 'v3.99.0' });
    const opened = await policyStage.open(kvstoreSources(stateOf({ [NAME]: policy(1) })), context);
    assert.ok('actions' in opened.plan(), JSON.stringify(opened.plan()));
  });

  it('keeps each of two that are stored, which may differ', async () => {
    const actions = await planned(stateOf({ [NAME]: policy(1), [`default.${NAME}`]: policy(2) }));
    assert.ok(typeof actions !== 'string');
    const kept = actions.at(-1)?.keep;
    assert.deepEqual(
      kept?.changes.map(({ before }) => (before[''] as { readonly spec: { readonly order: number } }).spec.order),
      [1, 2],
    );
  });

  it('deletes nothing that was changed, added or deleted by others since it was shown', async () => {
    const actions = await planned(stateOf({ [NAME]: policy(1) }));
    assert.ok(typeof actions !== 'string');
    for (const [wanted, stored] of [
      [true, { [NAME]: policy(1) }],
      [true, { [NAME]: policy(1), mine: policy(3) }],
      [false, { [NAME]: policy(2) }],
      [false, { [NAME]: policy(1), [`default.${NAME}`]: policy(1) }],
      [false, {}],
    ] as const)
      assert.equal(await isAsRead(actions, stateOf(stored)), wanted, JSON.stringify(stored));
  });
});
