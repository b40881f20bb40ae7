import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/core/object.ts';
import type { RunRecord } from '../../src/core/run-record.ts';
import { type ApplyBench, applyBench, installedClientSide, openApply, ownDocuments } from '../support/apply-bench.ts';
import { appliedClientSide, ownedBy } from '../support/applying-cluster.ts';

const TEMPLATE = '/spec/template/spec/containers/0';
const NODE = 'DaemonSet/kube-system/netsvc-node spec.template.spec.containers[netsvc-node]';

/** Documents of the installed release with one of them changed as text. */
async function editedFile(kind: string, from: string, to: string): Promise<readonly KubeObject[]> {
  const documents = await ownDocuments('v3.26.4');
  return documents.map((one) => (one.kind === kind ? (JSON.parse(JSON.stringify(one).replaceAll(from, to)) as KubeObject) : one));
}

async function judged(bench: ApplyBench, id = 'NS-201') {
  const found = (await openApply(bench)).findings().find((one) => one.id === id) ?? assert.fail(`no ${id}`);
  return { ...found, lost: found.evidence.map(({ text }) => text) };
}

const by = (manager: string, fieldsV1: object) => ({ manager, operation: 'Update', apiVersion: 'apps/v1', fieldsV1: fieldsV1 as never });
const containerField = (field: string) => ({
  'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"netsvc-node"}': { [field]: {} } } } } },
});

describe('edits made in the file that was applied', () => {
  it('are lost if the target says something else: exit 8, by name', async () => {
    const bench = applyBench((await editedFile('DaemonSet', '"autodetect"', '"can-reach=10.0.0.1"')).map(appliedClientSide));
    const { outcome, exit, lost, evidence } = await judged(bench);
    assert.deepEqual([outcome, exit], ['error', 'conflicts']);
    assert.deepEqual(lost, [`${NODE}.env[IP].value`]);
    assert.equal(evidence[0]?.detail, 'yours: can-reach=10.0.0.1, after the upgrade: autodetect');
  });

  it('may go if each of them is accepted by name', async () => {
    const options = { accept: [{ check: 'NS-201', subject: `${NODE}.env[IP].value` }] };
    const bench = applyBench((await editedFile('DaemonSet', '"autodetect"', '"can-reach=10.0.0.1"')).map(appliedClientSide), { options });
    assert.equal((await judged(bench)).outcome, 'accepted');
  });

  it('count as one whole variable where the person added one', async () => {
    const added = await editedFile(
      'DaemonSet',
      '{"name":"IP","value":"autodetect"}',
      '{"name":"IP","value":"autodetect"},{"name":"MY","value":"1"}',
    );
    const { lost } = await judged(applyBench(added.map(appliedClientSide)));
    assert.deepEqual(lost, [`${NODE}.env[MY].value`]);
  });

  it('are none if only the release tags differ, and one per image if the registry does', async () => {
    const tags = await editedFile('DaemonSet', ':v3.26.4', ':v3.26.3');
    assert.deepEqual((await judged(applyBench(tags.map(appliedClientSide), { options: { path: 'manifest' } }))).lost, []);
    const mirror = await editedFile('Deployment', 'registry.netsvc.io/netsvc/', 'mirror.example/netsvc/');
    assert.deepEqual((await judged(applyBench(mirror.map(appliedClientSide)))).lost, [
      'Deployment/kube-system/netsvc-kube-controllers spec.template.spec.containers[netsvc-kube-controllers].image',
    ]);
  });

  it('are obsolete if their container is gone in the target', async () => {
    const edited = await editedFile('DaemonSet', '"netsvc-node","-mount"', '"netsvc-node","-mount","-v"');
    const { outcome, message } = await judged(applyBench(edited.map(appliedClientSide)));
    assert.equal(outcome, 'ok');
    assert.match(message, /1 edit kept or without a place/);
  });

  it('of CRDs and service accounts are not looked at: the target brings them whole', async () => {
    const documents = (await ownDocuments('v3.26.4')).map((one) => {
      const labels = { mine: 'yes' };
      return one.kind === 'CustomResourceDefinition' || one.kind === 'ServiceAccount'
        ? { ...one, metadata: { ...one.metadata, labels } }
        : one;
    });
    assert.deepEqual((await judged(applyBench(documents.map(appliedClientSide)))).lost, []);
  });
});

describe('edits made in the cluster', () => {
  it('are lost where the target sets the field, with the manager that made them', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    const cpu = { 'f:resources': { 'f:requests': { 'f:cpu': {} } } };
    const owner = by('kubectl-edit', {
      'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"netsvc-node"}': cpu } } } },
    });
    bench.around.edit('DaemonSet', 'netsvc-node', [{ op: 'replace', path: `${TEMPLATE}/resources/requests/cpu`, value: '500m' }], owner);
    const { lost, evidence } = await judged(bench);
    assert.deepEqual(lost, [`${NODE}.resources.requests.cpu`]);
    assert.match(evidence[0]?.detail ?? '', /set by kubectl-edit/);
  });

  it('are found without a trace of who made them: a variable removed live would come back', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    const live = bench.around.object('DaemonSet', 'netsvc-node') as {
      spec?: { template?: { spec?: { containers?: { env?: { name: string }[] }[] } } };
    };
    const index = live.spec?.template?.spec?.containers?.[0]?.env?.findIndex(({ name }) => name === 'NETSVC_LOG_SEVERITY') ?? -1;
    bench.around.edit('DaemonSet', 'netsvc-node', [{ op: 'remove', path: `${TEMPLATE}/env/${index}` }]);
    assert.deepEqual((await judged(bench)).lost, [`${NODE}.env[NETSVC_LOG_SEVERITY].value`]);
  });

  it('stay where the target does not speak of the field', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    const owner = by('kubectl-patch', containerField('f:tty'));
    bench.around.edit('DaemonSet', 'netsvc-node', [{ op: 'add', path: `${TEMPLATE}/tty`, value: true }], owner);
    const { outcome, message } = await judged(bench);
    assert.equal(outcome, 'ok', message);
    assert.match(message, /1 edit kept/);
  });

  it('are found on objects that nobody applied: created ones are compared with the release itself', async () => {
    const created = (await ownDocuments('v3.26.4')).map((one) => ownedBy('kubectl-create', one));
    const bench = applyBench(created);
    assert.deepEqual((await judged(bench)).lost, []);
    bench.around.edit('Deployment', 'netsvc-kube-controllers', [{ op: 'replace', path: '/spec/replicas', value: 2 }], by('kubectl', {}));
    assert.deepEqual((await judged(bench)).lost, ['Deployment/kube-system/netsvc-kube-controllers spec.replicas']);
  });

  it('count an object that the person did away with: the target would bring it back', async () => {
    const installed = (await installedClientSide('v3.26.4')).filter(({ kind }) => kind !== 'PodDisruptionBudget');
    assert.deepEqual((await judged(applyBench(installed))).lost, ['PodDisruptionBudget/kube-system/netsvc-kube-controllers']);
  });
});

describe('when edits are judged', () => {
  const begun = (digests: RunRecord['digests']): RunRecord => ({
    version: 1,
    runId: 'r',
    clusterUid: 'cluster-1',
    profile: 'netsvc',
    target: 'v3.32.2',
    path: 'manifest',
    digests,
    startedAt: '2026-01-01T11:00:00Z',
    startedBy: 'me',
    toolVersion: '0',
    accepted: [],
    stages: [{ id: 'apply', state: 'failed', startedAt: '2026-01-01T11:00:00Z' }],
    kept: [],
  });
  const edited = async () => (await editedFile('DaemonSet', '"autodetect"', '"first-found"')).map(appliedClientSide);

  it('they are judged again after a run that stopped before it wrote', async () => {
    const bench = applyBench(await edited());
    bench.record = begun({});
    assert.equal((await judged(bench)).outcome, 'error');
  });

  it('they are not judged again once a run has begun to write: the cluster no longer tells them', async () => {
    const bench = applyBench(await edited());
    bench.record = begun({ 'upgrade.yaml': 'v3.32.2/manifests/netsvc.yaml'.padEnd(64, '0') });
    assert.equal((await judged(bench)).outcome, 'ok');
  });

  it("they are not judged if the target is the person's own file", async () => {
    const bench = applyBench(await edited(), { options: { upgradeFile: 'mine.yaml' } });
    bench.files.set('mine.yaml', (await ownDocuments('v3.32.2')).map((one) => JSON.stringify(one)).join('\n---\n'));
    assert.equal((await judged(bench)).outcome, 'ok');
  });

  it('a base of the nearest older patch release does, and is named', async () => {
    const installed = (await ownDocuments('v3.26.4')).map(
      (one) => JSON.parse(JSON.stringify(one).replaceAll('v3.26.4', 'v3.26.9')) as KubeObject,
    );
    const { outcome, message } = await judged(applyBench(installed.map(appliedClientSide)), 'NS-205');
    assert.deepEqual([outcome, /v3\.26\.4/.test(message)], ['ok', true]);
  });
});
