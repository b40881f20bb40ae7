import assert from 'node:assert/strict';
import type { Action } from '../../../src/kernel/action.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { plainText } from '../../../src/kernel/step.ts';
import { calico } from '../../../src/profiles/calico.ts';
import type { Wanted } from '../../fixtures/facts.ts';
import { type ApplyBench, applyBench, installedClientSide, openApply, planned, upgrade } from '../../support/apply-bench.ts';
import { releases } from '../../support/releases.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const FOLDER = '/home/me/upgrade';
const APPLY = 'kubectl apply --server-side --force-conflicts -f';

const told = ({ effect }: Action) => {
  if (effect.type === 'exec') return [effect.run.tool, ...effect.run.args].join(' ');
  if (effect.type === 'wait' && effect.until.type === 'rollout') {
    return `wait ${effect.until.targets.map(({ name, image }) => `${name} ${image.replace(/^.*:/, '')}`).join(', ')}`;
  }
  if (effect.type === 'wait' && effect.until.type === 'crds-established') return `wait ${effect.until.names.length} CRDs`;
  return effect.type === 'write' ? `write ${effect.file}` : effect.type;
};

const order = (actions: readonly Action[]) => actions.filter(({ effect }) => effect.type !== 'patch-all').map(told);

const configuration: KubeObject = {
  apiVersion: 'crd.projectcalico.org/v1',
  kind: 'KubeControllersConfiguration',
  metadata: { name: 'default' },
  spec: {},
};

const READY = { conditions: [{ type: 'Ready', status: 'True' }] };
const HELD = { controllers: { policyMigration: { enabled: 'Disabled' } } };

describe('the waves of the apply stage, real manifests with Typha', function () {
  this.timeout(120_000); // many whole upgrades of the real manifests
  let installed: readonly KubeObject[];
  before(async () => {
    installed = await installedClientSide('v3.27.5', 'calico-typha.yaml', releases);
  });

  const bench = (options: Wanted = {}, more: readonly KubeObject[] = [configuration]): ApplyBench =>
    applyBench([...installed, ...more], {
      profile: calico,
      folder: releases,
      releases: ['v3.27.5', 'v3.31.2', CALICO_TARGET],
      options: { release: CALICO_TARGET, ...options },
    });

  it('bring agents before Typha before controllers, each waited for', async () => {
    assert.deepEqual(order(await planned(bench())), [
      'write upgrade.yaml',
      'write upgrade-1-configuration.yaml',
      `${APPLY} ${FOLDER}/upgrade-1-configuration.yaml`,
      'wait 23 CRDs',
      'write upgrade-2-agents.yaml',
      `${APPLY} ${FOLDER}/upgrade-2-agents.yaml`,
      `wait calico-node ${CALICO_TARGET}`,
      'write upgrade-3-typha.yaml',
      `${APPLY} ${FOLDER}/upgrade-3-typha.yaml`,
      `wait calico-typha ${CALICO_TARGET}`,
      'write upgrade-4-controllers.yaml',
      `${APPLY} ${FOLDER}/upgrade-4-controllers.yaml`,
      `wait calico-kube-controllers ${CALICO_TARGET}`,
    ]);
  });

  it('are judged and planned anew right before each that comes after a wait: Typha, and the controllers', async () => {
    const afresh = (await planned(bench())).filter((action) => action.afresh).map(({ id }) => id);
    assert.deepEqual(afresh, ['wave-typha', 'wave-controllers']);
    const holding = (await planned(bench({ holdPolicyMigration: true }))).filter((action) => action.afresh).map(({ id }) => id);
    assert.deepEqual(holding, ['wave-typha', 'hold-policies']);
  });

  it('watch all new agents once more after Typha, where a soak was asked for', async () => {
    const ids = (await planned(bench({ soakMs: 60_000 }))).map(({ id }) => id);
    assert.deepEqual(ids.slice(ids.indexOf('wait-typha')).slice(0, 2), ['wait-typha', 'soak-typha']);
    assert.ok(!(await planned(bench())).some(({ id }) => id === 'soak-typha'));
  });

  it('end with the agents, where the run goes no further', async () => {
    const ids = (await planned(bench({ until: 'agents' }))).map(({ id }) => id);
    assert.equal(ids.at(-1), 'wait-agents');
  });

  it('can be taken back, the renaming of policies included', async () => {
    const actions = await planned(bench());
    assert.deepEqual(
      actions.filter(({ pointOfNoReturn }) => pointOfNoReturn !== undefined).map(({ id }) => id),
      [],
    );
  });

  const felix = {
    apiVersion: 'crd.projectcalico.org/v1',
    kind: 'FelixConfiguration',
    metadata: { name: 'default' },
    spec: { bpfEnabled: true },
  };

  for (const stop of [{ canary: '1' }, { until: 'agents' }, { until: 'controllers' }, {}] as const)
    it(`say before the first node that none has an undo in eBPF mode, where the run is to stop early: ${JSON.stringify(stop)}`, async () => {
      const notesOf = async (more: readonly KubeObject[]) => {
        const one = bench(stop, [configuration, ...more]);
        for (const name of ['node-1', 'node-2']) one.around.edit('Node', name, [{ op: 'add', path: '/status', value: READY }]);
        const plan = (await openApply(one)).plan();
        return 'notes' in plan ? (plan.notes ?? []).map(plainText) : [];
      };
      const note =
        /^before the first node: a node has no undo once its agent is new\. In eBPF mode new agents keep connections in a table that older agents refuse\./;
      assert.equal((await notesOf([felix])).filter((one) => note.test(one)).length, Object.keys(stop).length);
      assert.ok(!(await notesOf([])).some((one) => note.test(one)), 'without eBPF it has one');
    });

  it('have no way back from the first agent on in eBPF mode, where the source is older than its tables', async () => {
    const first = (await planned(bench({}, [configuration, felix]))).find(({ pointOfNoReturn }) => pointOfNoReturn !== undefined);
    assert.deepEqual([first?.id, first?.pointOfNoReturn], ['wave-agents', 'tables']);
  });

  it('hold the renaming right before the controllers, with the CRDs that know the switch in place', async () => {
    const actions = order(await planned(bench({ holdPolicyMigration: true })));
    const hold = actions.findIndex((line) => line.startsWith('kubectl patch'));
    const patch = JSON.stringify({ spec: HELD });
    assert.equal(actions[hold], `kubectl patch kubecontrollersconfigurations.crd.projectcalico.org default --type=merge -p ${patch}`);
    assert.deepEqual(actions.slice(hold + 1, hold + 3), ['wait', `${APPLY} ${FOLDER}/upgrade-4-controllers.yaml`]);
  });

  it('hold the renaming as well where the controllers are the target’s already, unless it is held', async () => {
    const late = bench();
    await upgrade(late);
    const holding = bench({ holdPolicyMigration: true });
    const held = { ...late, context: holding.context };
    assert.deepEqual(
      (await planned(held)).filter(({ effect }) => effect.type !== 'write').map(({ id }) => id),
      ['hold-policies', 'held-policies'],
    );
    held.around.edit('KubeControllersConfiguration', 'default', [{ op: 'add', path: '/spec', value: HELD }]);
    assert.deepEqual(await planned(held), []);
  });

  it('say so if there is nothing to hold the renaming with', async () => {
    await assert.rejects(planned(bench({ holdPolicyMigration: true }, [])), { name: 'Fault', code: 'blocked' });
  });

  it('wait for the aggregated API once its server is rolled, before anything searches it again', async () => {
    const server = await installedClientSide('v3.27.5', 'apiserver.yaml', releases);
    const actions = await planned(bench({}, [configuration, ...server]));
    const ids = actions.map(({ id }) => id);
    const waited = actions.find(({ id }) => id === 'api-add-ons');
    assert.ok(waited?.effect.type === 'wait');
    assert.deepEqual(waited.effect.until, { type: 'apiservice-available', names: ['v3.projectcalico.org'] });
    assert.equal(ids.indexOf('api-add-ons'), ids.indexOf('wait-add-ons') + 1);
    assert.ok(ids.indexOf('api-add-ons') < ids.indexOf('wave-controllers'), ids.join(' '));
  });

  it('end at rest, whatever wave the last run was killed in', async () => {
    for (const last of ['wave-agents', 'wave-typha']) {
      const cut = bench();
      for (const action of await planned(cut)) {
        cut.around.perform(action);
        if (action.id === last) break;
      }
      const next = order(await planned(cut)).filter((line) => !line.startsWith('write'));
      assert.match(next[0] ?? '', last === 'wave-agents' ? /^wait calico-node/ : /^wait calico-typha/);
      await upgrade(cut);
      assert.deepEqual(await planned(cut), []);
    }
  });
});
