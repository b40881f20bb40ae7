import assert from 'node:assert/strict';
import { enableFlowLogs, readMissingFlowLogs } from '../../../src/features/install-operator/flow-logs.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';

const context = { ...contextOf({ enableFlowLogs: true }), profile: calico };
const kindOf = (kind: string) => ({
  group: 'operator.tigera.io',
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
});
const kinds = ['Goldmane', 'Whisker'].map(kindOf);
const resource = (kind: string): KubeObject => ({ apiVersion: 'operator.tigera.io/v1', kind, metadata: { name: 'default' } });

function crdsOf(...names: readonly string[]) {
  const documents = names.map((kind) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: kind },
    spec: { group: 'operator.tigera.io', names: { kind } },
  }));
  return { url: 'https://x/crds.yaml', documents };
}

describe('flow logs', () => {
  const missing = async (objects: readonly KubeObject[], served = kinds) =>
    (await readMissingFlowLogs(clusterOf(objects, { kinds: served }), context, crdsOf('Goldmane', 'Whisker'))).map(({ kind }) => kind);

  it('are missing whole where nothing is there, the kinds included', async () => {
    assert.deepEqual(await missing([], []), ['Goldmane', 'Whisker']);
    assert.deepEqual(await missing([]), ['Goldmane', 'Whisker']);
  });

  it('are added to what is there, which is left as it is', async () => {
    assert.deepEqual(await missing([resource('Goldmane')]), ['Whisker']);
    assert.deepEqual(await missing([resource('Goldmane'), resource('Whisker')]), []);
    assert.deepEqual(enableFlowLogs([], context), []);
  });

  it('are both in one file', () => {
    const [write] = enableFlowLogs([resource('Goldmane'), resource('Whisker')], context);
    assert.ok(write?.effect.type === 'write');
    assert.equal(write.effect.content.split('kind: ').length, 3);
    assert.match(write.effect.content, /name: default/);
  });

  it('are refused for a release without their CRDs, before anything is done', async () => {
    const reading = readMissingFlowLogs(clusterOf([], { kinds }), context, crdsOf('Installation'));
    await assert.rejects(reading, { code: 'usage', message: /has no Goldmane, Whisker/ });
  });
});
