import assert from 'node:assert/strict';
import { applyStage } from '../../../src/features/install/apply-stage.ts';
import { crdsStage } from '../../../src/features/install/around.ts';
import type { Context } from '../../../src/kernel/context.ts';
import { RECORD, upgradeTo } from '../../fixtures/stored-record.ts';
import { type ChartParts, chartBench, commandsOf, openedChart, storedIn } from '../../support/chart-bench.ts';
import { objectOf } from '../../support/inventory.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

const OPERATOR = `---
apiVersion: apps/v1
kind: Deployment
metadata: { name: tigera-operator, namespace: tigera-operator }
spec: { template: { spec: { containers: [{ name: tigera-operator, image: "quay.io/tigera/operator:v1.25.0" }] } } }
`;
const NAMESPACE = '---\napiVersion: v1\nkind: Namespace\nmetadata: { name: tigera-operator }\n';
const inDefault = { 'meta.helm.sh/release-name': 'calico', 'meta.helm.sh/release-namespace': 'default' };
const namespaceOf = (annotations: Readonly<Record<string, string>> = {}) =>
  objectOf('v1', 'Namespace', 'tigera-operator', { metadata: { uid: 'n', annotations } });

/** A release of chart v3.22 as it stands in its namespace `default`, with what is there of it. */
function oldRelease(more: ChartParts = {}): ChartParts {
  return {
    crdsApplied: true,
    owned: inDefault,
    stored: { namespace: 'default', version: 1, manifest: `${NAMESPACE}${OPERATOR}` },
    objects: [namespaceOf(inDefault)],
    rendered: OPERATOR.replace('v1.25.0', 'v1.42.3'),
    ...more,
  };
}

/** The record of an unfinished run that has begun to move the release. */
const movedBy = (context: Context, parts: ChartParts) => {
  const uids = [...storedIn(parts), ...(parts.objects ?? [])]
    .filter(({ kind }) => kind === 'Secret')
    .map(({ metadata }) => `uid-Secret/${metadata.name}`);
  return { ...RECORD, clusterUid: context.clusterUid, intent: upgradeTo(context.goal.release), wrote: ['apply'], moved: uids };
};

describe('a chart release in another namespace than its operator', () => {
  it('NS-244: is not upgraded where it is, and helm is not even asked', async () => {
    const bench = chartBench(oldRelease());
    const { findings, plan } = await openedChart(bench);
    const found = findings.find(({ id }) => id === 'NS-244');
    assert.deepEqual([found?.outcome, String(found?.next)], ['error', 'kubectl netsvc-upgrade plan --move-release']);
    assert.deepEqual(commandsOf(plan), []);
    assert.equal(
      bench.asked.some((line) => line.includes('helm upgrade')),
      false,
    );
  });

  it('NS-244: not even where it is accepted', async () => {
    const bench = chartBench(oldRelease({ options: { accept: [{ check: 'NS-244' }] } }));
    await assert.rejects(openedChart(bench), { code: 'blocked' });
  });

  it('is moved when asked: annotated, then installed in the new namespace with its values', async () => {
    const bench = chartBench(oldRelease({ options: { moveRelease: true } }));
    const { outcomes, plan } = await openedChart(bench);
    assert.equal(outcomes['NS-244'], 'ok');
    assert.ok('actions' in plan);
    const [adopt, chart] = plan.actions;
    assert.ok(adopt?.effect.type === 'patch-all');
    assert.deepEqual(
      adopt.effect.patches.map(({ target, patch }) => [target.kind, patch.at(-1)?.value]),
      [['Deployment', 'tigera-operator']],
    );
    assert.equal(chart?.id, 'chart');
    assert.match(
      commandsOf(plan).join(),
      pattern`^helm install calico \S+ --version ${CALICO_TARGET} --namespace tigera-operator --values /w/chart-values\.json`,
    );
    assert.equal(bench.saved.get('chart-values.json'), '{"installation":{"registry":"mirror.example.org"}}');
  });

  it('NS-244: gets no CRDs either before it is moved', async () => {
    const { crdsApplied: _, ...parts } = oldRelease();
    const opened = async (bench: ReturnType<typeof chartBench>) => crdsStage.open(bench.sources, bench.context);
    const refused = await opened(chartBench(parts));
    assert.throws(() => refused.plan(), { code: 'blocked', message: /release default\/calico/ });
    assert.ok('actions' in (await opened(chartBench({ ...parts, options: { moveRelease: true } }))).plan());
  });

  it('is found where it is stored once its objects are annotated, and the move goes on', async () => {
    const annotated = { ...inDefault, 'meta.helm.sh/release-namespace': 'tigera-operator' };
    const bench = chartBench(oldRelease({ owned: annotated, options: { moveRelease: true } }));
    bench.record = movedBy(bench.context, oldRelease());
    const { plan } = await openedChart(bench);
    assert.ok('actions' in plan);
    assert.deepEqual(
      plan.actions.map(({ id }) => id),
      ['chart'],
    );
  });

  const moved: ChartParts = {
    crdsApplied: true,
    stored: {
      version: 1,
      chart: { metadata: { name: 'tigera-operator', version: CALICO_TARGET }, values: { manageCRDs: true } },
      config: { manageCRDs: false, goldmane: { enabled: false }, whisker: { enabled: false } },
    },
    // The cluster of these tests knows objects by kind and name alone.
    objects: storedIn({ stored: { namespace: 'default', version: 2, manifest: `${NAMESPACE}${OPERATOR}` } }),
  };

  it('NS-245: warns of the old record that the move has left, and deletes it when asked', async () => {
    const left = (parts: ChartParts) => {
      const bench = chartBench({ ...moved, ...parts });
      bench.record = movedBy(bench.context, moved);
      return openedChart(bench);
    };
    assert.equal((await left({})).outcomes['NS-245'], 'warning');
    const { plan } = await left({ options: { moveRelease: true } });
    assert.ok('actions' in plan);
    assert.deepEqual(
      plan.actions.map(({ effect }) => effect.type === 'delete' && [effect.target.kind, effect.target.namespace]),
      [['Secret', 'default']],
    );
  });

  it('NS-245: does not hear a Secret that looks like an old record and that no move of ours noted', async () => {
    const { outcomes } = await openedChart(chartBench(moved));
    assert.equal(outcomes['NS-245'], 'ok');
    const { plan } = await openedChart(chartBench({ ...moved, options: { moveRelease: true } }));
    assert.ok('skip' in plan);
  });

  it('notes the UIDs of what the release is stored in before the move begins', async () => {
    const { plan } = await openedChart(chartBench(oldRelease({ options: { moveRelease: true } })));
    assert.ok('actions' in plan);
    assert.deepEqual(plan.remember?.moved, ['uid-Secret/sh.helm.release.v1.calico.v1']);
  });

  it('refuses to move what helm would not install over', async () => {
    const rendered = `${OPERATOR}${'---\napiVersion: v1\nkind: ServiceAccount\nmetadata: { name: tigera-operator }\n'}`;
    const account = objectOf('v1', 'ServiceAccount', 'tigera-operator', { metadata: { namespace: 'tigera-operator' } });
    const parts = oldRelease({ rendered, options: { moveRelease: true } });
    const { findings } = await openedChart(chartBench({ ...parts, objects: [...(parts.objects ?? []), account] }));
    const found = findings.find(({ id }) => id === 'NS-239');
    assert.equal(found?.outcome, 'error');
    assert.match(found?.message ?? '', /ServiceAccount\/tigera-operator\/tigera-operator/);
  });
});

describe('what a chart upgrade would delete with its content', () => {
  const holding = { stored: { manifest: `${NAMESPACE}${OPERATOR}` }, crdsApplied: true } as const;

  it('NS-243: a Namespace that the new chart lacks is an error, accepted or not', async () => {
    const { outcomes } = await openedChart(chartBench({ ...holding, objects: [namespaceOf()] }));
    assert.equal(outcomes['NS-243'], 'error');
    const accepted = chartBench({ ...holding, objects: [namespaceOf()], options: { accept: [{ check: 'NS-243' }] } });
    await assert.rejects(openedChart(accepted), { code: 'blocked' });
  });

  it('NS-243: nothing, once the live object is marked to be kept', async () => {
    const kept = namespaceOf({ 'helm.sh/resource-policy': 'keep' });
    assert.equal((await openedChart(chartBench({ ...holding, objects: [kept] }))).outcomes['NS-243'], 'ok');
  });

  for (const group of ['crd.projectcalico.org', 'projectcalico.org']) {
    it(`NS-243: a policy of ${group} that the new chart lacks is an error: hosts would be open without it`, async () => {
      const policy = `---\napiVersion: ${group}/v1\nkind: GlobalNetworkPolicy\nmetadata: { name: hosts }\n`;
      const names = { kind: 'GlobalNetworkPolicy', plural: 'globalnetworkpolicies' };
      const objects = [
        objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `globalnetworkpolicies.${group}`, {
          spec: { group, names, scope: 'Cluster' },
        }),
        objectOf(`${group}/v1`, 'GlobalNetworkPolicy', 'hosts', { metadata: { uid: 'p' } }),
      ];
      const bench = chartBench({ stored: { manifest: `${OPERATOR}${policy}` }, crdsApplied: true, objects });
      const found = (await openedChart(bench)).findings.find(({ id }) => id === 'NS-243');
      assert.equal(found?.outcome, 'error');
      assert.match(found?.message ?? '', /GlobalNetworkPolicy\/hosts/);
    });
  }

  it('NS-239: does not send a person to mapkubeapis while its refusal alone keeps the namespace', async () => {
    const error =
      'Error: UPGRADE FAILED: unable to build kubernetes objects from current release manifest: no matches for kind "PodSecurityPolicy"';
    const parts = { ...holding, trial: { error }, rendered: OPERATOR } as const;
    const hint = async (objects: ChartParts['objects'] = []) => {
      const bench = chartBench({ ...parts, objects });
      return (await applyStage.open(bench.sources, bench.context)).findings().find(({ id }) => id === 'NS-239');
    };
    assert.match((await hint([namespaceOf()]))?.hint ?? '', /First fix NS-243/);
    assert.equal(String((await hint([namespaceOf()]))?.next), 'kubectl netsvc-upgrade explain NS-243');
    assert.equal(String((await hint([]))?.next), 'helm plugin list');
  });

  it('NS-246: a release of a chart that holds the operator beside others is not upgraded to the operator’s alone', async () => {
    const stored = { chart: { metadata: { name: 'platform', version: '1.0.0' }, values: {} } };
    assert.equal((await openedChart(chartBench({ stored, crdsApplied: true }))).outcomes['NS-246'], 'error');
    const vendor = { chart: { metadata: { name: 'tigera-operator', version: '2.3.1' }, values: {} } };
    assert.equal((await openedChart(chartBench({ stored: vendor, crdsApplied: true }))).outcomes['NS-246'], 'error');
    const accept = [{ check: 'NS-246', subject: 'platform' }];
    assert.equal((await openedChart(chartBench({ stored, crdsApplied: true, options: { accept } }))).outcomes['NS-246'], 'accepted');
  });
});
