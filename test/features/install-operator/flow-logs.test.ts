import assert from 'node:assert/strict';
import { enableFlowLogs, readConsoleNotes, readMissingFlowLogs } from '../../../src/features/install-operator/flow-logs.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

const context = contextOf({ enableFlowLogs: true }, calico);
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
  const of = (group: string) =>
    names.map((kind) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: kind },
      spec: { group, names: { kind } },
    }));
  const url = 'https://x/crds.yaml';
  return { url, documents: of('operator.tigera.io'), in: (group: string) => ({ url, documents: of(group) }) };
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
    const message = pattern`${CALICO_TARGET} have no Goldmane and no Whisker in operator\.tigera\.io, only Installation \(https://x/crds\.yaml\)`;
    await assert.rejects(reading, { code: 'usage', message });
  });

  it('are the words of the procedure in its own profile; a release that calls them otherwise is refused with what it has', async () => {
    const own = contextOf({ release: 'v3.32.2', enableFlowLogs: true }, netsvc);
    const group = own.profile.operatorGroup;
    const wanted = await readMissingFlowLogs(clusterOf([]), own, crdsOf('FlowLogAggregator', 'FlowUI').in(group));
    assert.deepEqual(
      wanted.map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.name]),
      [
        [`${group}/v1`, 'FlowLogAggregator', 'default'],
        [`${group}/v1`, 'FlowUI', 'default'],
      ],
    );
    const otherwise = readMissingFlowLogs(clusterOf([]), own, crdsOf('FlowLogs', 'FlowUI').in(group));
    await assert.rejects(otherwise, { message: /v3\.32\.2 have no FlowLogAggregator in operator\.netsvc\.io, only FlowLogs, FlowUI / });
  });

  it('are recommended where a hosted console is connected and nothing collects them', async () => {
    const served = [...kinds, kindOf('ManagementClusterConnection')];
    const notes = (objects: readonly KubeObject[], enableFlowLogs = false) =>
      readConsoleNotes(clusterOf(objects, { kinds: served }).cluster, contextOf({ enableFlowLogs }, calico));
    const console = resource('ManagementClusterConnection');
    assert.match(
      (await notes([console])).join(),
      /ManagementClusterConnection\/default .* only from Goldmane, which --enable-flow-logs adds/,
    );
    for (const quiet of [notes([]), notes([console, resource('Goldmane')]), notes([console], true)]) assert.deepEqual(await quiet, []);
  });
});
