import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { ApiFailure, type Cluster } from '../../src/kernel/ports.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { newOn, waved } from '../support/canary-sandbox.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';

/** What a plan says of the agents: how many restart, and how many at a time. */
async function planned(scenario: Scenario, flags: Flags = {}): Promise<readonly unknown[]> {
  const { plans } = await performIn(scenario, [applyStage], { 'dry-run': 'server', ...flags }, { profile: waved });
  const object = plans.flatMap(({ objects }) => objects).find(({ ref }) => ref.kind === 'DaemonSet');
  return [object?.restarts, object?.atOnce];
}

describe('the plan of a canary, and of what follows it', () => {
  const hooks = { 'before-node': './drain.sh {node}' };

  it('says how many agents restart, and at which pace', async () => {
    const scenario = await installedSandbox({ nodes: 6 });
    assert.deepEqual(await planned(scenario, { canary: '2' }), [2, 1]);
    assert.deepEqual(await planned(scenario, { canary: '2', soak: '5m', 'max-unavailable': '3' }), [6, 3]);
    await performIn(scenario, [applyStage], { canary: '2' }, { profile: waved });
    assert.deepEqual(await planned(scenario, { canary: '2' }), [undefined, undefined]);
    for (const flags of [{}, { canary: '2', soak: '5m' }, hooks, { probe: './look.sh' }] satisfies Flags[])
      assert.deepEqual(await planned(scenario, flags), [4, 1], JSON.stringify(flags));
    for (const flags of [{}, hooks] satisfies Flags[])
      assert.deepEqual(await planned(scenario, { ...flags, 'max-unavailable': '3' }), [4, 3], JSON.stringify(flags));
    await performIn(scenario, [applyStage], {}, { profile: waved });
    assert.deepEqual(await planned(scenario), [undefined, undefined]);
  });
  for (const flags of [{ canary: '1' }, hooks, { 'max-unavailable': '1' }] satisfies Flags[])
    it(`is refused where the server answers no dry run of the agents, also to who accepts that: --${Object.keys(flags)}`, async () => {
      const scenario = await installedSandbox({ nodes: 3 });
      const ports = sandboxPorts(scenario);
      const { cluster: own } = ports;
      const dryRunApply: Cluster['dryRunApply'] = async (kind, document, manager) => {
        if (kind.plural !== 'daemonsets') return own.dryRunApply(kind, document, manager);
        throw new ApiFailure(400, 'BadRequest', 'admission webhook "x" does not support dry run');
      };
      const cluster = new Proxy(own, {
        get(of, name) {
          const value: unknown = name === 'dryRunApply' ? dryRunApply : Reflect.get(of, name);
          return typeof value === 'function' ? value.bind(of) : value;
        },
      });
      const outcome = await performIn(
        scenario,
        [applyStage],
        { ...flags, accept: ['NS-202'] },
        { profile: waved, ports: { ...ports, cluster } },
      );
      assert.deepEqual([outcome.exit, outcome.writes, newOn(scenario)], ['blocked', 0, []], outcome.message);
      const found = outcome.findings.find(({ id }) => id === 'NS-202');
      assert.match(found?.hint ?? '', /nobody can accept this[\s\S]*it is kept only where the dry run of the DaemonSet is answered/);
    });
});
