import assert from 'node:assert/strict';
import { isRole } from '../../../src/manifest/permissions.ts';
import { calico } from '../../../src/profiles/calico.ts';
import {
  type ApplyBench,
  applyBench,
  begun,
  installedClientSide,
  openApply,
  ownDocuments,
  planned,
  upgrade,
} from '../../support/apply-bench.ts';
import { releases } from '../../support/releases.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const FILE = 'calico-typha.yaml';
const NODE = 'calico-node';

describe('roles of both releases on manifest paths, real manifests with Typha', function () {
  this.timeout(120_000); // many whole upgrades of the real manifests
  let own: unknown;
  before(async () => {
    own = (await ownDocuments(CALICO_TARGET, FILE, releases)).find((one) => isRole(one) && one.metadata.name === NODE)?.rules;
  });

  async function benchOf(from: string): Promise<ApplyBench> {
    const installed = await installedClientSide(from, FILE, releases);
    const parts = { profile: calico, folder: releases, releases: [from, CALICO_TARGET], options: { release: CALICO_TARGET } };
    return applyBench(installed, parts);
  }

  const rulesOf = ({ around }: ApplyBench) => around.object('ClusterRole', NODE)?.rules;
  const runs = ({ around }: ApplyBench, release: string) =>
    around.objects().some(({ kind, spec }) => ['DaemonSet', 'Deployment'].includes(kind) && JSON.stringify(spec).includes(`:${release}"`));

  for (const [from, asked] of [
    ['v3.30.7', '"baselineadminnetworkpolicies"'],
    ['v3.25.1', `"serviceaccounts/token"],"resourceNames":["${NODE}"]`],
  ] as const)
    it(`grant what workloads of ${from} ask for while one is left, and are the target’s own in the end`, async () => {
      const bench = await benchOf(from);
      const actions = await begun(bench);
      for (const action of actions) {
        bench.around.perform(action);
        const isGranted = JSON.stringify(rulesOf(bench)).includes(asked);
        assert.ok(isGranted || !runs(bench, from), action.id);
      }
      assert.equal(actions.at(-1)?.id, 'wave-roles');
      assert.deepEqual(rulesOf(bench), own);
      assert.deepEqual(await planned(bench), []);
    });

  it('end as the target’s own, after whatever write the run was killed', async () => {
    const writes = (await planned(await benchOf('v3.30.7'))).filter(({ effect }) => effect.type === 'exec').map(({ id }) => id);
    assert.equal(writes.length, 5);
    for (const last of writes) {
      const cut = await benchOf('v3.30.7');
      for (const action of await begun(cut)) {
        cut.around.perform(action);
        if (action.id === last) break;
      }
      await upgrade(cut);
      assert.deepEqual(rulesOf(cut), own, last);
    }
  });

  it('are one row of the plan, which says how long the old rules stay', async () => {
    const plan = (await openApply(await benchOf('v3.30.7'))).plan();
    assert.ok('actions' in plan);
    const rows = plan.objects?.filter(({ ref }) => ref.kind === 'ClusterRole' && ref.name === NODE);
    assert.deepEqual(
      rows?.map(({ by }) => by),
      ['wave-roles'],
    );
    const group = 'policy.networking.k8s.io';
    assert.ok(
      plan.notes?.includes(
        `ClusterRole/${NODE} grants adminnetworkpolicies.${group}, baselineadminnetworkpolicies.${group} until the last wave: older workloads that start again need it`,
      ),
    );
  });

  it('are no wave of their own where the source asks for nothing that the target’s lack', async () => {
    const ids = (await planned(await benchOf('v3.27.5'))).map(({ id }) => id);
    assert.ok(ids.includes('wave-controllers'));
    assert.ok(!ids.includes('wave-roles'));
  });
});
