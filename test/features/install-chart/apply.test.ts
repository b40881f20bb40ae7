import assert from 'node:assert/strict';
import { applyStage } from '../../../src/features/install/apply-stage.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { HELD_BY } from '../../../src/kube/held.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { configuration, configurationCrd, deployment } from '../../support/calico-objects.ts';
import { type ChartParts, chartBench, commandsOf, openedChart, storedIn } from '../../support/chart-bench.ts';
import { objectOf } from '../../support/inventory.ts';
import { ORDER, TYPHA, unheld } from '../../support/operated-bench.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

const PLACE = `/w/tigera-operator-${CALICO_TARGET}-a8c938318041.tgz --version ${CALICO_TARGET} --namespace tigera-operator`;
const OFF = '--set manageCRDs=false --set goldmane.enabled=false --set whisker.enabled=false';

const upgradedBefore = {
  chart: { metadata: { name: 'tigera-operator', version: CALICO_TARGET }, values: { manageCRDs: true } },
  config: { manageCRDs: false, goldmane: { enabled: false }, whisker: { enabled: false } },
};

describe('apply on the chart path', () => {
  it('upgrades the release with its values kept, where the CRDs are there already', async () => {
    const { outcomes, plan } = await openedChart(chartBench({ crdsApplied: true }));
    assert.deepEqual(new Set(Object.values(outcomes)), new Set(['ok', 'not-applicable']));
    assert.deepEqual(commandsOf(plan), [`helm upgrade calico ${PLACE} --reset-then-reuse-values ${OFF}`]);
    const why =
      /^manageCRDs=false: the new CRDs come first, so that new fields can be set before the upgrade, and stay under your own tooling$/;
    assert.ok('actions' in plan && plan.notes?.some((note) => why.test(String(note))), JSON.stringify(plan));
    assert.ok(!plan.notes?.some((note) => String(note).includes('new configuration')), 'only where the operator applies them');
  });

  it('has both revisions of each object, for a diff', async () => {
    const { plan } = await openedChart(chartBench({ crdsApplied: true }));
    const objects = ('objects' in plan && plan.objects) || [];
    const changed = objects.filter(({ change, bodies }) => change === 'update' && bodies?.isOfRelease);
    assert.deepEqual(
      changed.map(({ ref, bodies }) => [ref.kind, bodies?.before?.metadata.name, bodies?.after?.metadata.name]),
      [['Deployment', 'tigera-operator', 'tigera-operator']],
    );
    for (const { change, bodies } of objects) if (change === 'create') assert.deepEqual(Object.keys(bodies ?? {}), ['after']);
  });

  it('brings CRDs that are missing right before the upgrade, and judges anew in between', async () => {
    const { plan } = await openedChart(chartBench());
    assert.match(commandsOf(plan)[0] ?? '', /^kubectl apply --server-side --force-conflicts -f \S+\/v1_crd_projectcalico_org.yaml$/);
    assert.match(commandsOf(plan)[1] ?? '', /^helm upgrade/);
    assert.equal('actions' in plan && plan.actions.at(-1)?.afresh, true);
  });

  it('holds the renaming of policies when asked: after the CRDs, before the upgrade, and looked at again', async () => {
    const objects = [configurationCrd, configuration];
    const { plan } = await openedChart(chartBench({ objects, options: { holdPolicyMigration: true } }));
    assert.ok('actions' in plan);
    const steps = plan.actions.map(({ id }) => id).filter((id) => id !== 'crds-file');
    assert.deepEqual(steps, ['crds', 'crds-established', 'hold-policies', 'held-policies', 'chart']);
    assert.deepEqual([plan.actions.at(-1)?.afresh, plan.actions.at(-1)?.pointOfNoReturn], [true, 'operator']);
  });

  it('refuses to hold it where the CRDs that know the switch come only with the new operator', async () => {
    const known = { chart: { metadata: { name: 'tigera-operator', version: 'v3.30.7' }, values: { manageCRDs: true } } };
    const bench = chartBench({
      ...{ stored: known, objects: [configurationCrd, configuration] },
      options: { manageCrds: true, holdPolicyMigration: true },
    });
    await assert.rejects(openedChart(bench), { name: 'Fault', code: 'usage', message: /--manage-crds/ });
  });

  it('leaves the CRDs to an operator that can apply them, when told so', async () => {
    const known = { chart: { metadata: { name: 'tigera-operator', version: 'v3.30.7' }, values: { manageCRDs: true } } };
    const { plan, outcomes } = await openedChart(chartBench({ stored: known, options: { manageCrds: true } }));
    assert.equal(outcomes['NS-238'], 'ok');
    assert.deepEqual(commandsOf(plan), [
      `helm upgrade calico ${PLACE} --reset-then-reuse-values --set manageCRDs=true --set goldmane.enabled=false --set whisker.enabled=false`,
    ]);
    const late = 'the new CRDs exist only after the new operator runs: new configuration cannot be applied until after the upgrade';
    assert.ok('actions' in plan && plan.notes?.includes(late), JSON.stringify(plan));
  });

  it('leaves the CRDs to the new operator wherever the installed one could not apply them', async () => {
    const { outcomes } = await openedChart(chartBench({ options: { manageCrds: true } }));
    assert.equal(outcomes['NS-238'], 'ok');
  });

  it('lists the CRDs once where the stage before it brings them', async () => {
    const bench = chartBench();
    const listed = async (pending: readonly string[]) => {
      const context = { ...bench.context, chain: { pending, onlyPlanned: true, later: [] } };
      const plan = (await applyStage.open(bench.sources, context)).plan();
      return 'actions' in plan ? plan.objects?.filter(({ ref }) => ref.kind === 'CustomResourceDefinition').length : undefined;
    };
    assert.deepEqual([await listed([]), await listed(['crds'])], [2, 0]);
  });

  it('gives helm 3.13 the values of the release as a private file', async () => {
    const bench = chartBench({ helm: 'v3.13.0', crdsApplied: true });
    const { plan } = await openedChart(bench);
    assert.deepEqual(commandsOf(plan), [`helm upgrade calico ${PLACE} --values /w/chart-values.json ${OFF}`]);
    assert.equal(bench.saved.get('chart-values.json'), '{"installation":{"registry":"mirror.example.org"}}');
  });

  it('tells helm where the release is when it is stored in ConfigMaps', async () => {
    const { plan } = await openedChart(chartBench({ storage: 'ConfigMap', crdsApplied: true }));
    assert.match(commandsOf(plan)[0] ?? '', /^HELM_DRIVER=configmap helm upgrade/);
  });

  it('needs no right on Secrets where the release is stored in ConfigMaps', async () => {
    const { plan, outcomes } = await openedChart(chartBench({ storage: 'ConfigMap', crdsApplied: true, forbidden: true }));
    assert.equal(outcomes['NS-231'], 'ok');
    assert.match(commandsOf(plan)[0] ?? '', /^HELM_DRIVER=configmap helm upgrade/);
  });

  it('has nothing to do, and asks the server nothing, once the release is deployed with what is wanted', async () => {
    const stored = {
      chart: { metadata: { name: 'tigera-operator', version: CALICO_TARGET }, values: { manageCRDs: true } },
      config: { manageCRDs: false, goldmane: { enabled: false }, whisker: { enabled: false } },
    };
    const bench = chartBench({ stored, crdsApplied: true });
    assert.deepEqual((await openedChart(bench)).plan, { skip: `release tigera-operator/calico is at ${CALICO_TARGET}, with your values` });
    assert.equal(
      bench.asked.some((line) => line.includes('upgrade')),
      false,
    );
  });

  it('lets values of a file speak for themselves', async () => {
    const files = { 'more.yaml': 'goldmane:\n  enabled: true\nwhisker:\n  enabled: false\n' };
    const { plan } = await openedChart(chartBench({ files, options: { chartValues: 'more.yaml' }, crdsApplied: true }));
    assert.deepEqual(commandsOf(plan), [
      `helm upgrade calico ${PLACE} --reset-then-reuse-values --values more.yaml --set manageCRDs=false`,
    ]);
  });

  it('switches flow logs on when asked for after an upgrade that left them off, once', async () => {
    const options = { enableFlowLogs: true };
    const { plan } = await openedChart(chartBench({ stored: upgradedBefore, options, crdsApplied: true }));
    const on = '--set goldmane.enabled=true --set whisker.enabled=true';
    assert.deepEqual(commandsOf(plan), [`helm upgrade calico ${PLACE} --reset-then-reuse-values ${on}`]);
    const config = { manageCRDs: false, goldmane: { enabled: true }, whisker: { enabled: true } };
    const after = chartBench({ stored: { ...upgradedBefore, config }, options, crdsApplied: true });
    assert.ok('skip' in (await openedChart(after)).plan);
  });

  it('refuses flow logs that a file of values switches off, naming both', async () => {
    const parts = { files: { 'my.yaml': 'goldmane:\n  enabled: false\n' }, stored: upgradedBefore, crdsApplied: true };
    const bench = chartBench({ ...parts, options: { chartValues: 'my.yaml', enableFlowLogs: true } });
    await assert.rejects(openedChart(bench), {
      code: 'usage',
      message: '--enable-flow-logs asks for what --values my.yaml switches off: goldmane.enabled',
    });
  });

  it('refuses flow logs that the target’s chart does not have', async () => {
    const bench = chartBench({ defaults: 'manageCRDs: true\n', crdsApplied: true, options: { enableFlowLogs: true } });
    await assert.rejects(openedChart(bench), {
      code: 'usage',
      message: pattern`--enable-flow-logs: the chart of ${CALICO_TARGET} has no Goldmane, Whisker`,
    });
  });

  it('shows what the new revision changes, creates and removes', async () => {
    const manifest = '---\napiVersion: v1\nkind: Namespace\nmetadata: { name: calico-system }\n';
    const { plan } = await openedChart(chartBench({ crdsApplied: true, trial: { manifest } }));
    assert.ok('actions' in plan);
    assert.deepEqual(
      plan.objects?.map(({ ref, change }) => `${change} ${ref.kind}/${ref.name}`),
      ['create Namespace/calico-system'],
    );
    assert.ok(
      plan.notes?.some(
        (note) => String(note).includes('helm deletes') && String(note).includes('Deployment/tigera-operator/tigera-operator'),
      ),
    );
  });

  it('shows the hooks that helm runs in an upgrade, which its manifest does not hold', async () => {
    const hooks = ['pre-upgrade,post-install', 'pre-delete'].map((hook) => ({
      manifest: `apiVersion: batch/v1\nkind: Job\nmetadata: { name: ${hook.slice(0, 6)}, annotations: { helm.sh/hook: "${hook}" } }\n`,
    }));
    const { plan } = await openedChart(chartBench({ crdsApplied: true, trial: { manifest: '', hooks } }));
    assert.ok('actions' in plan);
    assert.deepEqual(
      plan.objects?.map(({ ref, change }) => `${change} ${ref.kind}/${ref.name}`),
      ['create Job/pre-up'],
    );
  });

  it('tells what the new operator restarts, and names CRDs of removed kinds as left behind, without a command that deletes them', async () => {
    const { plural, group } = calico.removedKinds[0] ?? assert.fail();
    const crd = objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `${plural}.${group}`);
    const { plan } = await openedChart(chartBench({ objects: [crd] }));
    assert.ok('actions' in plan);
    assert.ok(
      plan.notes?.some((note) => /^the new operator restarts DaemonSet\/calico-system\/calico-node \(2 pods\), /.test(String(note))),
    );
    const left = plan.objects?.find(({ change }) => change === 'left-behind');
    assert.match(String(left?.note ?? ''), new RegExp(`kubectl get ${plural}\\.${group} -A$`));
  });

  it('asks again for what the server cannot say before it has the new CRDs', async () => {
    const error = 'Error: UPGRADE FAILED: [resource mapping not found for name: "default": no matches for kind "Goldmane"';
    assert.equal((await openedChart(chartBench({ trial: { error } }))).outcomes['NS-239'], 'not-applicable');
    assert.equal((await openedChart(chartBench({ trial: { error }, crdsApplied: true }))).outcomes['NS-239'], 'error');
  });
});

describe('agents and Typha in a chart upgrade', () => {
  const typha = deployment('calico-typha', 'quay.io/calico/typha:v3.27.5', { namespace: 'calico-system' });
  const [check, subject] = [ORDER, TYPHA];

  it('NS-251: is refused until a person takes it on by name, where nothing keeps the operator from Typha', async () => {
    const unordered = { crdsApplied: true, objects: [typha], profile: unheld };
    const { findings } = await openedChart(chartBench(unordered));
    const told = findings.find(({ id }) => id === check);
    assert.deepEqual([told?.outcome, told?.byName, told?.evidence.map(({ text }) => text)], ['error', true, [subject]]);
    const accepted = chartBench({ ...unordered, options: { accept: [{ check, subject }] } });
    assert.equal((await openedChart(accepted)).outcomes[check], 'accepted');
  });

  it('hold Typha before helm, follow the agents, and release it', async () => {
    const bench = chartBench({ crdsApplied: true, objects: [typha] });
    const { outcomes, plan } = await openedChart(bench);
    assert.equal(outcomes[check], 'ok');
    assert.ok('actions' in plan);
    assert.deepEqual(
      plan.actions.map(({ id }) => id),
      ['hold-typha', 'chart', 'agents', 'release-typha'],
    );
    const chart = plan.actions.find(({ id }) => id === 'chart')?.effect;
    assert.ok(chart?.type === 'exec' && chart.onlyIf?.type === 'workloads-held');
  });

  it('are released also where the release is upgraded already, as in a run that was killed while it waited', async () => {
    const held = {
      ...typha,
      metadata: { ...typha.metadata, annotations: { [calico.operator.ignores?.annotation ?? '']: 'true', [HELD_BY]: 'r' } },
    };
    const { plan } = await openedChart(chartBench({ crdsApplied: true, objects: [held], stored: upgradedBefore }));
    assert.ok('actions' in plan);
    assert.deepEqual(
      plan.actions.map(({ id }) => id),
      ['agents', 'release-typha'],
    );
  });

  it('NS-251: is asked no more once the release is upgraded, as in a run that goes on', async () => {
    const bench = chartBench({ crdsApplied: true, objects: [typha], stored: upgradedBefore });
    const { clusterUid } = bench.context;
    bench.record = { intent: upgradeTo(CALICO_TARGET, 'v3.27.5'), clusterUid, digests: {}, stages: [], kept: [], wrote: [] } as ReturnType<
      typeof Object.assign
    >;
    assert.equal((await openedChart(bench)).outcomes[check], 'not-applicable');
  });
});

const CRD_IN_RELEASE = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ippools.crd.projectcalico.org }
`;
const liveCrd = (annotations: Readonly<Record<string, string>> = {}) =>
  objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'ippools.crd.projectcalico.org', { metadata: { annotations } });
const csiDriver = objectOf('apps/v1', 'DaemonSet', 'csi-node-driver', {
  metadata: { namespace: 'calico-system' },
  spec: {
    selector: {},
    template: { spec: { containers: [{ name: 'calico-csi', image: 'quay.io/calico/csi:v3.27.5' }] } },
  },
});
const CSI_DEFAULT = 'installation: { kubeletVolumePluginPath: None }\n';

/** Revision 4, which failed on the way to the target; revision 3 is deployed. */
const failedAttempt = (more: Readonly<Record<string, unknown>> = {}) =>
  storedIn({
    stored: {
      version: 4,
      info: { status: 'failed', description: 'conflict' },
      chart: { metadata: { name: 'tigera-operator', version: CALICO_TARGET }, values: { manageCRDs: true } },
      config: { manageCRDs: false, goldmane: { enabled: false }, whisker: { enabled: false } },
      manifest: '',
      ...more,
    },
  });

describe('a chart upgrade after a failed revision: helm goes on from the one that is deployed', () => {
  for (const helm of ['v3.19.5', 'v4.3.1']) {
    it(`sets anew with helm ${helm} what only the failed revision had set`, async () => {
      const { plan } = await openedChart(chartBench({ helm, crdsApplied: true, objects: failedAttempt() }));
      assert.deepEqual(commandsOf(plan), [`helm upgrade calico ${PLACE} --reset-then-reuse-values ${OFF}`]);
    });
  }

  it('gives helm 3.13 the values of the deployed one', async () => {
    const bench = chartBench({ helm: 'v3.13.0', crdsApplied: true, objects: failedAttempt() });
    assert.deepEqual(commandsOf((await openedChart(bench)).plan), [`helm upgrade calico ${PLACE} --values /w/chart-values.json ${OFF}`]);
    assert.equal(bench.saved.get('chart-values.json'), '{"installation":{"registry":"mirror.example.org"}}');
  });

  it('NS-232: tells of the failed revision, and whose values are taken', async () => {
    const { findings } = await openedChart(chartBench({ crdsApplied: true, objects: failedAttempt() }));
    const told = findings.find(({ id }) => id === 'NS-232');
    assert.equal(told?.outcome, 'error');
    assert.match(told?.message ?? '', /^revision 4 of tigera-operator\/calico is failed: conflict; .*values.* of revision 3/);
    assert.match(told?.hint ?? '', /--values/);
  });

  it('NS-232: speaks of no other revision where none is deployed, as after an installation that failed', async () => {
    const bench = chartBench({ crdsApplied: true, stored: { info: { status: 'failed', description: 'conflict' } } });
    const told = (await openedChart(bench)).findings.find(({ id }) => id === 'NS-232');
    assert.equal(told?.message, 'revision 3 of tigera-operator/calico is failed: conflict');
  });

  it('NS-233: looks for a pinned operator in the values that helm takes', async () => {
    const pinned = { tigeraOperator: { version: 'v1.32.12' } };
    const inBase = chartBench({ crdsApplied: true, stored: { config: pinned }, objects: failedAttempt() });
    assert.equal((await openedChart(inBase)).outcomes['NS-233'], 'error');
    const inFailed = chartBench({ crdsApplied: true, objects: failedAttempt({ config: pinned }) });
    assert.equal((await openedChart(inFailed)).outcomes['NS-233'], 'ok');
  });

  it('NS-236: finds the CRDs that helm deletes because the deployed revision holds them', async () => {
    const bench = chartBench({ crdsApplied: true, stored: { manifest: CRD_IN_RELEASE }, objects: [...failedAttempt(), liveCrd()] });
    assert.equal((await openedChart(bench)).outcomes['NS-236'], 'error');
  });

  it('NS-240: does not take the word of the failed revision for the CSI driver', async () => {
    const config = { installation: { kubeletVolumePluginPath: '/var/lib/kubelet' } };
    const parts: ChartParts = { defaults: CSI_DEFAULT, objects: [csiDriver, ...failedAttempt({ config })], crdsApplied: true };
    assert.equal((await openedChart(chartBench(parts))).outcomes['NS-240'], 'error');
  });

  it('leaves on what the failed revision may have brought already: switched off, it would be left behind', async () => {
    const manifest = '---\napiVersion: operator.tigera.io/v1\nkind: Goldmane\nmetadata: { name: default }\n';
    const { plan } = await openedChart(chartBench({ crdsApplied: true, objects: failedAttempt({ config: {}, manifest }) }));
    assert.match(commandsOf(plan).join(), /--set manageCRDs=false --set whisker.enabled=false$/);
  });

  it('looks for the deployed one only where helm is told to look, in the store of the newest', async () => {
    const stored = { version: 4, info: { status: 'failed' }, config: { manageCRDs: true, goldmane: { enabled: false } } };
    const { plan } = await openedChart(chartBench({ crdsApplied: true, objects: storedIn({ storage: 'ConfigMap', stored }) }));
    assert.match(commandsOf(plan).join(), /^HELM_DRIVER=configmap .* --reset-then-reuse-values --set whisker.enabled=false$/);
  });

  it('goes on from the newest of all where none is deployed', async () => {
    const config = { manageCRDs: true, goldmane: { enabled: false }, whisker: { enabled: false } };
    const { plan } = await openedChart(chartBench({ crdsApplied: true, stored: { info: { status: 'failed' }, config } }));
    assert.deepEqual(commandsOf(plan), [`helm upgrade calico ${PLACE} --reset-then-reuse-values`]);
  });
});

const REFUSED: readonly (readonly [string, string, ChartParts])[] = [
  ['NS-231', 'a release that is stored nowhere', { storage: 'none', options: { path: 'chart' } }],
  ['NS-231', 'Secrets that may not be read', { forbidden: true }],
  ['NS-232', 'an operation that has not ended', { stored: { info: { status: 'pending-upgrade' } } }],
  ['NS-232', 'a failed revision', { stored: { info: { status: 'failed', description: 'conflict' } } }],
  ['NS-233', 'a pinned operator', { stored: { config: { tigeraOperator: { version: 'v1.32.12' } } } }],
  ['NS-234', 'helm 2', { helm: 'Client: v2.17.0' }],
  ['NS-235', 'a chart of another release', { chart: 'name: tigera-operator\nversion: v3.31.2\n' }],
  ['NS-235', 'another chart', { chart: `name: felix\nversion: ${CALICO_TARGET}\n` }],
  ['NS-236', 'CRDs among the objects of the release', { stored: { manifest: CRD_IN_RELEASE }, objects: [liveCrd()] }],
  ['NS-238', 'a chart whose operator cannot apply CRDs', { options: { manageCrds: true }, defaults: 'goldmane: { enabled: true }\n' }],
  ['NS-239', 'values that the chart rejects', { trial: { error: 'Error: values don’t meet the specifications of the schema' } }],
  ['NS-240', 'the loss of the CSI driver', { defaults: CSI_DEFAULT, objects: [csiDriver] }],
];

describe('what stands against a chart upgrade', () => {
  for (const [id, what, parts] of REFUSED) {
    it(`${id}: ${what}`, async () => {
      const { outcomes } = await openedChart(chartBench({ crdsApplied: true, ...parts }));
      assert.equal(outcomes[id], 'error');
    });
  }

  for (const [newer, older] of [
    ['ConfigMap', 'Secret'],
    ['Secret', 'ConfigMap'],
  ] as const) {
    it(`NS-231: takes the newer of two stores, the ${newer}s, where ${older}s of an older time are left`, async () => {
      const objects = storedIn({ storage: newer, stored: { version: 9, config: { installation: { registry: 'new.example.org' } } } });
      const bench = chartBench({ crdsApplied: true, storage: older, objects });
      const { plan } = await openedChart(bench);
      assert.equal(commandsOf(plan).join().startsWith('HELM_DRIVER=configmap helm upgrade'), newer === 'ConfigMap');
      const found = (await applyStage.open(bench.sources, bench.context)).findings().find(({ id }) => id === 'NS-231');
      assert.match(found?.message ?? '', /revision 9/);
    });
  }

  it('NS-231: nothing, where ConfigMaps may not be read and Secrets have the release', async () => {
    const bench = chartBench({ crdsApplied: true });
    const { cluster } = bench.sources;
    const list: typeof cluster.list = async (kind, options) => {
      if (kind.kind === 'ConfigMap' && options?.labelSelector) throw new ApiFailure(403, 'Forbidden', 'configmaps is forbidden');
      return cluster.list(kind, options);
    };
    const { outcomes } = await openedChart({ ...bench, sources: { ...bench.sources, cluster: { ...cluster, list } } });
    assert.equal(outcomes['NS-231'], 'ok');
  });

  it('NS-236: nothing, once each live CRD is marked to be kept', async () => {
    const parts: ChartParts = { stored: { manifest: CRD_IN_RELEASE }, objects: [liveCrd({ 'helm.sh/resource-policy': 'keep' })] };
    assert.equal((await openedChart(chartBench({ crdsApplied: true, ...parts }))).outcomes['NS-236'], 'ok');
  });

  it('NS-236: not even a person who accepts the loss of all data gets a plan for it', async () => {
    const parts: ChartParts = { stored: { manifest: CRD_IN_RELEASE }, objects: [liveCrd()], options: { accept: [{ check: 'NS-236' }] } };
    await assert.rejects(openedChart(chartBench(parts)), { code: 'blocked' });
  });

  it('NS-237: warns of CRDs that belong to another release', async () => {
    const foreign = liveCrd({ 'meta.helm.sh/release-name': 'calico-crds', 'meta.helm.sh/release-namespace': 'default' });
    const { sources, context } = chartBench({ crdsApplied: true, objects: [foreign] });
    const finding = (await applyStage.open(sources, context)).findings().find(({ id }) => id === 'NS-237');
    assert.deepEqual([finding?.outcome, String(finding?.next)], ['warning', 'kubectl get secrets -A -l owner=helm']);
  });

  const mark = 'kubectl delete secret/sh.helm.release.v1.calico.v3 --namespace tigera-operator';
  for (const [status, isDeleted] of [
    ['pending-upgrade', true],
    ['pending-rollback', true],
    // The record is the release itself: values and objects are in no other.
    ['pending-install', false],
    ['uninstalling', false],
    ['superseded', false],
  ] as const) {
    it(`NS-232: leads out of ${status} without losing the release`, async () => {
      const { sources, context } = chartBench({ crdsApplied: true, stored: { info: { status } } });
      const found = (await applyStage.open(sources, context)).findings().find(({ id }) => id === 'NS-232');
      assert.deepEqual([found?.outcome, String(found?.next)], ['error', 'helm history calico --namespace tigera-operator']);
      assert.equal(found?.hint?.includes(mark), isDeleted, found?.hint);
      const copied = 'kubectl get secret/sh.helm.release.v1.calico.v3 --namespace tigera-operator -o yaml > calico.v3.yaml';
      assert.equal(found?.hint?.includes(copied), isDeleted, found?.hint);
    });
  }

  it('NS-232: lets a run go on from the failed revision that it left itself', async () => {
    const failed = { info: { status: 'failed' }, chart: { metadata: { name: 'tigera-operator', version: CALICO_TARGET } } };
    const bench = chartBench({ stored: failed, crdsApplied: true });
    const { clusterUid } = bench.context;
    bench.record = {
      intent: upgradeTo(CALICO_TARGET),
      clusterUid,
      path: 'chart',
      digests: {},
      stages: [],
      kept: [],
      wrote: [],
    } as ReturnType<typeof Object.assign>;
    assert.equal((await openedChart(bench)).outcomes['NS-232'], 'expected');
  });

  it('NS-240: nothing, where the values say what becomes of the driver', async () => {
    const stored = { config: { installation: { kubeletVolumePluginPath: '/var/lib/kubelet' } } };
    const parts: ChartParts = { stored, defaults: CSI_DEFAULT, objects: [csiDriver], crdsApplied: true };
    assert.equal((await openedChart(chartBench(parts))).outcomes['NS-240'], 'ok');
  });

  it('NS-242: nothing, where the file says the same value in its new place', async () => {
    const stored = {
      chart: { metadata: { name: 'tigera-operator', version: 'v3.27.5' }, values: { kubeletVolumePluginPath: '' } },
      config: { kubeletVolumePluginPath: '/var/lib/kubelet' },
    };
    const parts = { stored, defaults: 'installation: { kubeletVolumePluginPath: None }\n', crdsApplied: true } as const;
    const files = { 'my.yaml': 'installation: { kubeletVolumePluginPath: /var/lib/kubelet }\n' };
    const outcome = async (more: ChartParts) => (await openedChart(chartBench({ ...parts, ...more }))).outcomes['NS-242'];
    assert.equal(await outcome({}), 'warning');
    assert.equal(await outcome({ files, options: { chartValues: 'my.yaml' } }), 'ok');
  });

  it('NS-242: a value that the installed chart names and the target’s no longer does; not what neither names', async () => {
    const stored = {
      chart: {
        metadata: { name: 'tigera-operator', version: 'v3.27.5' },
        values: { apiServer: { enabled: true, old: '' }, gone: 1, both: {} },
      },
      config: { apiServer: { old: 'x', enabled: false }, gone: 2, both: { mine: 1 }, unnamed: 3 },
    };
    const defaults = 'apiServer: { enabled: true }\nboth: {}\n';
    const { findings } = await openedChart(chartBench({ stored, defaults, crdsApplied: true }));
    const told = findings.find(({ id }) => id === 'NS-242');
    assert.deepEqual([told?.outcome, told?.evidence?.map(({ text }) => text)], ['warning', ['apiServer.old', 'gone']]);
    const same = await openedChart(chartBench({ stored, defaults: `${defaults}gone: 1\n`, crdsApplied: true }));
    assert.deepEqual(
      same.findings.find(({ id }) => id === 'NS-242')?.evidence?.map(({ text }) => text),
      ['apiServer.old'],
    );
  });
});
