import assert from 'node:assert/strict';
import { applyStage } from '../../../src/features/install/apply-stage.ts';
import { crdsStage } from '../../../src/features/install/around.ts';
import type { Finding } from '../../../src/kernel/check.ts';
import type { Options } from '../../../src/kernel/context.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { type ApplyBench, applyBench, installedClientSide, ownDocuments, runRecord } from '../../support/apply-bench.ts';
import { appliedClientSide } from '../../support/applying-cluster.ts';
import { chartBench } from '../../support/chart-bench.ts';
import { objectOf } from '../../support/inventory.ts';
import { operatedBench } from '../../support/operated-bench.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

type Opened = typeof applyStage;

const IMAGE = '/spec/template/spec/containers/0/image';

async function outcomeOf(stage: Opened, { sources, context }: ApplyBench, id: string): Promise<Finding['outcome'] | undefined> {
  return (await stage.open(sources, context)).findings().find((one) => one.id === id)?.outcome;
}

/** The agents are of a release that is newer than every target here. */
function newer(bench: ApplyBench, name = 'calico-node', image = 'docker.io/calico/node:v3.99.0'): ApplyBench {
  bench.around.edit('DaemonSet', name, [{ op: 'replace', path: IMAGE, value: image }]);
  return bench;
}

/** A CRD of the v3 group itself. */
const native = (group: string) =>
  objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `ippools.${group}`, {
    spec: { group, names: { kind: 'IPPool', plural: 'ippools' }, scope: 'Cluster' },
  });

describe('every stage that writes the target', () => {
  const byManifest = async (more: Partial<Options> = {}) =>
    applyBench([...(await installedClientSide('v3.26.4')), native('netsvc.io')], { options: more });
  const paths: Readonly<Record<string, readonly [Opened, (options?: Partial<Options>) => Promise<ApplyBench>]>> = {
    'apply, by the full manifest': [applyStage, byManifest],
    'crds, by the operator’s manifest': [crdsStage, (options = {}) => operatedBench({ options, more: [native('projectcalico.org')] })],
    'apply, by the operator’s manifest': [applyStage, (options = {}) => operatedBench({ options, more: [native('projectcalico.org')] })],
    'crds, by the chart': [crdsStage, async (options = {}) => chartBench({ options, objects: [native('projectcalico.org')] })],
    'apply, by the chart': [applyStage, async (options = {}) => chartBench({ options, objects: [native('projectcalico.org')] })],
    'apply, by the chart, whose operator is to bring the CRDs': [
      applyStage,
      async (options = {}) => chartBench({ options: { ...options, manageCrds: true }, objects: [native('projectcalico.org')] }),
    ],
  };
  for (const [title, [stage, make]] of Object.entries(paths)) {
    it(`refuses a downgrade and native CRDs by itself: ${title}`, async () => {
      const bench = await make();
      const isOwn = title.includes('full');
      newer(bench, ...(isOwn ? ['netsvc-node', 'registry.netsvc.io/netsvc/node:v3.99.0'] : []));
      assert.equal(await outcomeOf(stage, bench, 'NS-106'), 'error');
      assert.equal(await outcomeOf(stage, bench, 'NS-108'), 'error');
    });

    it(`takes no word for native CRDs: ${title}`, async () => {
      const bench = await make({ accept: [{ check: 'NS-108' }] });
      assert.equal(await outcomeOf(stage, bench, 'NS-108'), 'error');
    });
  }

  it('refuses a release that is too old to start from', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    bench.around.edit('DaemonSet', 'netsvc-node', [{ op: 'replace', path: IMAGE, value: 'registry.netsvc.io/netsvc/node:v3.14.0' }]);
    assert.equal(await outcomeOf(applyStage, bench, 'NS-105'), 'error');
  });

  it('goes on where an earlier part of the run left some components on the target already', async () => {
    const [before, after] = [await ownDocuments('v3.26.4'), await ownDocuments(NETSVC_TARGET)];
    const half = [...before.filter(({ kind }) => kind !== 'DaemonSet'), ...after.filter(({ kind }) => kind === 'DaemonSet')];
    const bench = applyBench(half.map(appliedClientSide));
    for (const record of [undefined, runRecord({ intent: upgradeTo(NETSVC_TARGET, 'v3.26.4') })]) {
      bench.record = record;
      for (const id of ['NS-105', 'NS-106', 'NS-108']) assert.equal(await outcomeOf(applyStage, bench, id), 'ok', id);
    }
  });
});
