import assert from 'node:assert/strict';
import { commandLine } from '../../../src/core/argv.ts';
import { ApiFailure } from '../../../src/core/ports.ts';
import type { StagePlan } from '../../../src/core/stage.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { applyStage } from '../../../src/stages/apply.ts';

import { configuration, configurationCrd, deployment } from '../../support/calico-objects.ts';
import { type ChartParts, chartBench, openedChart, storedIn } from '../../support/chart-bench.ts';

import { objectOf } from '../../support/inventory.ts';
import { TYPHA } from '../../support/operated-bench.ts';

const commands = (plan: StagePlan) =>
  'skip' in plan ? [] : plan.actions.flatMap(({ effect }) => (effect.type === 'exec' ? [commandLine(effect.run)] : []));

const PLACE = '/w/tigera-operator-v3.32.1-a8c938318041.tgz --version v3.32.1 --namespace tigera-operator';
const OFF = '--set manageCRDs=false --set goldmane.enabled=false --set whisker.enabled=false';

const upgradedBefore = {
  chart: { metadata: { name: 'tigera-operator', version: 'v3.32.1' }, values: { manageCRDs: true } },
  config: { manageCRDs: false, goldmane: { enabled: false }, whisker: { enabled: false } },
};

describe('apply on the chart path', () => {
  it('upgrades the release with its values kept, where the CRDs are there already', async () => {
    const { outcomes, plan } = await openedChart(chartBench({ crdsApplied: true }));
    assert.deepEqual(new Set(Object.values(outcomes)), new Set(['ok', 'not-applicable']));
    assert.deepEqual(commands(plan), [`helm upgrade calico ${PLACE} --reset-then-reuse-values ${OFF}`]);
  });

  it('brings CRDs that are missing right before the upgrade, and judges anew in between', async () => {
    const { plan } = await openedChart(chartBench());
    assert.match(commands(plan)[0] ?? '', /^kubectl apply --server-side --force-conflicts -f \S+\/v1_crd_projectcalico_org.yaml$/);
    assert.match(commands(plan)[1] ?? '', /^helm upgrade/);
    assert.equal('actions' in plan && plan.actions.at(-1)?.afresh, true);
  });

  it('holds the renaming of policies when asked: after the CRDs, before the upgrade, and looked at again', async () => {
    const objects = [configurationCrd, configuration];
    const { plan } = await openedChart(chartBench({ objects, options: { holdPolicyMigration: true } }));
    assert.ok('actions' in plan);
    const steps = plan.actions.map(({ id }) => id).filter((id) => id !== 'crds-file');
    assert.deepEqual(steps, ['crds', 'crds-established', 'hold-policies', 'held-policies', 'chart']);
    assert.equal(plan.actions.at(-1)?.afresh, true);
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
    assert.deepEqual(commands(plan), [
      `helm upgrade calico ${PLACE} --reset-then-reuse-values --set manageCRDs=true --set goldmane.enabled=false --set whisker.enabled=false`,
    ]);
  });

  it('gives helm 3.13 the values of the release as a private file', async () => {
    const bench = chartBench({ helm: 'v3.13.0', crdsApplied: true });
    const { plan } = await openedChart(bench);
    assert.deepEqual(commands(plan), [`helm upgrade calico ${PLACE} --values /w/chart-values.json ${OFF}`]);
    assert.equal(bench.saved.get('chart-values.json'), '{"installation":{"registry":"mirror.example.org"}}');
  });

  it('tells helm where the release is when it is stored in ConfigMaps', async () => {
    const { plan } = await openedChart(chartBench({ storage: 'ConfigMap', crdsApplied: true }));
    assert.match(commands(plan)[0] ?? '', /^HELM_DRIVER=configmap helm upgrade/);
  });

  it('has nothing to do, and asks the server nothing, once the release is deployed with what is wanted', async () => {
    const stored = {
      chart: { metadata: { name: 'tigera-operator', version: 'v3.32.1' }, values: { manageCRDs: true } },
      config: { manageCRDs: false, goldmane: { enabled: false }, whisker: { enabled: false } },
    };
    const bench = chartBench({ stored, crdsApplied: true });
    assert.deepEqual((await openedChart(bench)).plan, { skip: 'release tigera-operator/calico is at v3.32.1, with your values' });
    assert.equal(
      bench.asked.some((line) => line.includes('upgrade')),
      false,
    );
  });

  it('lets values of a file speak for themselves', async () => {
    const files = { 'more.yaml': 'goldmane:\n  enabled: true\nwhisker:\n  enabled: false\n' };
    const { plan } = await openedChart(chartBench({ files, options: { chartValues: 'more.yaml' }, crdsApplied: true }));
    assert.deepEqual(commands(plan), [`helm upgrade calico ${PLACE} --reset-then-reuse-values --values more.yaml --set manageCRDs=false`]);
  });

  it('switches flow logs on when asked for after an upgrade that left them off, once', async () => {
    const options = { enableFlowLogs: true };
    const { plan } = await openedChart(chartBench({ stored: upgradedBefore, options, crdsApplied: true }));
    const on = '--set goldmane.enabled=true --set whisker.enabled=true';
    assert.deepEqual(commands(plan), [`helm upgrade calico ${PLACE} --reset-then-reuse-values ${on}`]);
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
      message: /--enable-flow-logs: the chart of v3\.32\.1 has no Goldmane, Whisker/,
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
    assert.ok(plan.notes?.some((note) => note.includes('helm deletes') && note.includes('Deployment/tigera-operator/tigera-operator')));
  });

  it('tells what the new operator restarts, and names CRDs of removed kinds as left behind, without a command that deletes them', async () => {
    const { plural, group } = calico.removedKinds[0] ?? assert.fail();
    const crd = objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `${plural}.${group}`);
    const { plan } = await openedChart(chartBench({ objects: [crd] }));
    assert.ok('actions' in plan);
    assert.ok(plan.notes?.some((note) => /^the new operator restarts DaemonSet\/calico-system\/calico-node \(2 pods\), /.test(note)));
    const left = plan.objects?.find(({ change }) => change === 'left-behind');
    assert.match(left?.note ?? '', new RegExp(`kubectl get ${plural}\\.${group} -A$`));
  });

  it('asks again for what the server cannot say before it has the new CRDs', async () => {
    const error = 'Error: UPGRADE FAILED: [resource mapping not found for name: "default": no matches for kind "Goldmane"';
    assert.equal((await openedChart(chartBench({ trial: { error } }))).outcomes['NS-239'], 'not-applicable');
    assert.equal((await openedChart(chartBench({ trial: { error }, crdsApplied: true }))).outcomes['NS-239'], 'error');
  });
});

describe('agents and Typha in a chart upgrade, which its operator replaces in the same second', () => {
  const typha = deployment('calico-typha', 'quay.io/calico/typha:v3.27.5', { namespace: 'calico-system' });
  const [check = '', subject = ''] = TYPHA.split('=');

  it('NS-251: is refused until a person takes it on by name, and told in the plan', async () => {
    const { findings, plan } = await openedChart(chartBench({ crdsApplied: true, objects: [typha] }));
    const told = findings.find(({ id }) => id === check);
    assert.deepEqual([told?.outcome, told?.byName, told?.evidence.map(({ text }) => text)], ['error', true, [subject]]);
    assert.ok('actions' in plan && plan.notes?.some((note) => /Typha and the agents in the same second/.test(note)));
    const accepted = chartBench({ crdsApplied: true, objects: [typha], options: { accept: [{ check, subject }] } });
    assert.equal((await openedChart(accepted)).outcomes[check], 'accepted');
  });

  it('NS-251: is asked no more once the release is upgraded, as in a run that goes on', async () => {
    const bench = chartBench({ crdsApplied: true, objects: [typha], stored: upgradedBefore });
    const { clusterUid } = bench.context;
    bench.record = { target: 'v3.32.1', source: 'v3.27.5', clusterUid, digests: {} } as ReturnType<typeof Object.assign>;
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
const editedOperator = {
  manager: 'kubectl-set',
  operation: 'Update',
  fieldsV1: {
    'f:spec': {
      'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"tigera-operator"}': { 'f:image': {} } } } },
    },
  },
};

/** Revision 4, which failed on the way to the target; revision 3 is deployed. */
const failedAttempt = (more: Readonly<Record<string, unknown>> = {}) =>
  storedIn({
    stored: {
      version: 4,
      info: { status: 'failed', description: 'conflict' },
      chart: { metadata: { name: 'tigera-operator', version: 'v3.32.1' }, values: { manageCRDs: true } },
      config: { manageCRDs: false, goldmane: { enabled: false }, whisker: { enabled: false } },
      manifest: '',
      ...more,
    },
  });

describe('a chart upgrade after a failed revision: helm goes on from the one that is deployed', () => {
  for (const helm of ['v3.19.5', 'v4.3.1']) {
    it(`sets anew with helm ${helm} what only the failed revision had set`, async () => {
      const { plan } = await openedChart(chartBench({ helm, crdsApplied: true, objects: failedAttempt() }));
      assert.deepEqual(commands(plan), [`helm upgrade calico ${PLACE} --reset-then-reuse-values ${OFF}`]);
    });
  }

  it('gives helm 3.13 the values of the deployed one', async () => {
    const bench = chartBench({ helm: 'v3.13.0', crdsApplied: true, objects: failedAttempt() });
    assert.deepEqual(commands((await openedChart(bench)).plan), [`helm upgrade calico ${PLACE} --values /w/chart-values.json ${OFF}`]);
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
    assert.match(commands(plan).join(), /--set manageCRDs=false --set whisker.enabled=false$/);
  });

  it('goes on from the newest of all where none is deployed', async () => {
    const config = { manageCRDs: true, goldmane: { enabled: false }, whisker: { enabled: false } };
    const { plan } = await openedChart(chartBench({ crdsApplied: true, stored: { info: { status: 'failed' }, config } }));
    assert.deepEqual(commands(plan), [`helm upgrade calico ${PLACE} --reset-then-reuse-values`]);
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
  ['NS-235', 'another chart', { chart: 'name: felix\nversion: v3.32.1\n' }],
  ['NS-236', 'CRDs among the objects of the release', { stored: { manifest: CRD_IN_RELEASE }, objects: [liveCrd()] }],
  ['NS-238', 'an operator that cannot apply CRDs', { options: { manageCrds: true } }],
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
      assert.equal(commands(plan).join().startsWith('HELM_DRIVER=configmap helm upgrade'), newer === 'ConfigMap');
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
    assert.deepEqual([finding?.outcome, finding?.next], ['warning', 'kubectl get secrets -A -l owner=helm']);
  });

  for (const [status, next] of [
    ['pending-upgrade', 'kubectl delete secret/sh.helm.release.v1.calico.v3 --namespace tigera-operator'],
    ['pending-rollback', 'kubectl delete secret/sh.helm.release.v1.calico.v3 --namespace tigera-operator'],
    // The record is the release itself: values and objects are in no other.
    ['pending-install', 'helm history calico --namespace tigera-operator'],
    ['uninstalling', 'helm history calico --namespace tigera-operator'],
    ['superseded', 'helm history calico --namespace tigera-operator'],
  ] as const) {
    it(`NS-232: leads out of ${status} without losing the release`, async () => {
      const { sources, context } = chartBench({ crdsApplied: true, stored: { info: { status } } });
      const found = (await applyStage.open(sources, context)).findings().find(({ id }) => id === 'NS-232');
      assert.deepEqual([found?.outcome, found?.next], ['error', next]);
    });
  }

  it('NS-232: lets a run go on from the failed revision that it left itself', async () => {
    const failed = { info: { status: 'failed' }, chart: { metadata: { name: 'tigera-operator', version: 'v3.32.1' } } };
    const bench = chartBench({ stored: failed, crdsApplied: true });
    const { clusterUid } = bench.context;
    bench.record = { target: 'v3.32.1', clusterUid, digests: {} } as ReturnType<typeof Object.assign>;
    assert.equal((await openedChart(bench)).outcomes['NS-232'], 'expected');
  });

  it('NS-240: nothing, where the values say what becomes of the driver', async () => {
    const stored = { config: { installation: { kubeletVolumePluginPath: '/var/lib/kubelet' } } };
    const parts: ChartParts = { stored, defaults: CSI_DEFAULT, objects: [csiDriver], crdsApplied: true };
    assert.equal((await openedChart(chartBench(parts))).outcomes['NS-240'], 'ok');
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

  for (const [helm, method, forced] of [
    ['v3.19.5', undefined, false],
    ['v4.3.1', 'ssa', true],
    // A release of helm 3: helm 4 stays with client-side apply, and refuses the flag there.
    ['v4.3.1', undefined, false],
    ['v4.3.1', 'csa', false],
    ['v3.19.5', 'ssa', false],
  ] as const) {
    it(`NS-241: names fields set by hand before ${helm} takes them (${method ?? 'no'} method), and takes them only once accepted`, async () => {
      const accept = [{ check: 'NS-241' }];
      const parts: ChartParts = { helm, crdsApplied: true, ...(method ? { stored: { apply_method: method } } : {}) };
      const edit = (bench: ReturnType<typeof chartBench>) => {
        bench.around.edit('Deployment', 'tigera-operator', [], editedOperator);
        return openedChart(bench);
      };
      assert.equal((await edit(chartBench(parts))).outcomes['NS-241'], 'error');
      const { outcomes, plan } = await edit(chartBench({ ...parts, options: { accept } }));
      assert.equal(outcomes['NS-241'], 'accepted');
      assert.equal(commands(plan)[0]?.includes('--force-conflicts'), forced);
    });
  }
});

describe('what was removed in the cluster by hand and the chart would bring back', () => {
  const manifestOf = (env: string, more = '') => `---
apiVersion: apps/v1
kind: Deployment
metadata: { name: tigera-operator, namespace: tigera-operator }
spec: { template: { spec: { containers: [{ name: tigera-operator, image: "quay.io/tigera/operator:v1.32.12", env: ${env} }] } } }
${more}`;
  /** The same in the installed revision and in the new one; the live operator has no variable. */
  const unchanged = (manifest: string, parts: ChartParts = {}): ChartParts => ({
    ...{ crdsApplied: true, trial: { manifest } },
    ...parts,
    stored: { manifest, ...parts.stored },
  });
  const FIELD = 'spec.template.spec.containers[tigera-operator].env[KEEP].value';
  const OBJECT = 'Deployment/tigera-operator/tigera-operator';
  const KEEP = '[{ name: KEEP, value: "1" }]';
  const evidenceIn = async (parts: ChartParts) => {
    const told = (await openedChart(chartBench(parts))).findings.find(({ id }) => id === 'NS-241');
    return [told?.outcome, told?.exit, told?.evidence.map(({ text, detail }) => `${text}: ${detail}`)];
  };

  it('NS-241: is named, and shown in the plan as a change of the object', async () => {
    const parts = unchanged(manifestOf(KEEP));
    assert.deepEqual(await evidenceIn(parts), ['error', 'conflicts', [`${OBJECT} ${FIELD}: removed in the cluster`]]);
    const { plan } = await openedChart(chartBench(parts));
    assert.ok('actions' in plan);
    assert.deepEqual(
      plan.objects?.map(({ ref, change, fields, note }) => [ref.name, change, fields, note]),
      [['tigera-operator', 'update', [{ path: FIELD, after: '1' }], 'restarts 1 pod']],
    );
  });

  it('NS-241: once accepted comes back, and helm 4 need not force it', async () => {
    const accept = [{ check: 'NS-241' }];
    const parts = unchanged(manifestOf(KEEP), { helm: 'v4.3.1', stored: { apply_method: 'ssa' }, options: { accept } });
    const { outcomes, plan } = await openedChart(chartBench(parts));
    assert.equal(outcomes['NS-241'], 'accepted');
    assert.equal(commands(plan)[0]?.includes('--force-conflicts'), false);
  });

  it('NS-241: has nothing to say of what only the new chart has, and of what says nothing', async () => {
    const parts = { crdsApplied: true, stored: { manifest: manifestOf('[]') }, trial: { manifest: manifestOf(KEEP) } };
    assert.equal((await evidenceIn(parts))[0], 'ok');
    // A server or an operator that writes an object anew leaves empty values out.
    assert.equal((await evidenceIn(unchanged(manifestOf('[{ name: KEEP, value: "" }]'))))[0], 'ok');
  });

  const account = '---\napiVersion: v1\nkind: ServiceAccount\nmetadata: { name: extra, namespace: tigera-operator }\n';

  it('NS-241: names an object that is gone, which the plan says is created', async () => {
    const parts = unchanged(manifestOf('[]', account));
    assert.deepEqual(await evidenceIn(parts), ['error', 'conflicts', ['ServiceAccount/tigera-operator/extra: removed in the cluster']]);
    const { plan } = await openedChart(chartBench(parts));
    assert.ok('actions' in plan);
    assert.deepEqual(
      plan.objects?.map(({ ref, change }) => `${change} ${ref.name}`),
      ['unchanged tigera-operator', 'create extra'],
    );
  });

  it('NS-241: knows of nothing removed where no revision was ever deployed', async () => {
    const parts = unchanged(manifestOf('[]', account), { stored: { info: { status: 'failed' } } });
    assert.equal((await evidenceIn(parts))[0], 'ok');
  });

  it('NS-241: shows in the plan what another manager has set as well, with who it was', async () => {
    const bench = chartBench(unchanged(manifestOf('[]')));
    const path = '/spec/template/spec/containers/0/image';
    bench.around.edit('Deployment', 'tigera-operator', [{ op: 'replace', path, value: 'mirror.corp/op:v1' }], editedOperator);
    const { plan } = await openedChart(bench);
    assert.ok('actions' in plan);
    const image = 'spec.template.spec.containers[tigera-operator].image';
    assert.deepEqual(
      plan.objects?.map(({ change, fields, taken }) => [change, fields, taken]),
      [
        [
          'update',
          [{ path: image, before: 'mirror.corp/op:v1', after: 'quay.io/tigera/operator:v1.32.12' }],
          [{ path: image, manager: 'kubectl-set' }],
        ],
      ],
    );
  });

  const installed = (spec: string) =>
    `---\napiVersion: operator.tigera.io/v1\nkind: Installation\nmetadata: { name: default }\nspec: ${spec}\n`;

  it('NS-241: leaves to a custom resource of a client-side release what the chart does not change, for helm patches only that', async () => {
    const same = unchanged(installed('{ registry: mirror.example.org/, nonPrivileged: Disabled }'));
    assert.equal((await evidenceIn(same))[0], 'ok');
    const changed = { ...same, trial: { manifest: installed('{ registry: other.example.org/, nonPrivileged: Disabled }') } };
    assert.deepEqual(await evidenceIn(changed), ['error', 'conflicts', ['Installation/default spec.registry: removed in the cluster']]);
    const onServer = { ...same, stored: { ...same.stored, apply_method: 'ssa' } };
    assert.deepEqual((await evidenceIn(onServer))[2], [
      'Installation/default spec.registry: removed in the cluster',
      'Installation/default spec.nonPrivileged: removed in the cluster',
    ]);
  });
});
