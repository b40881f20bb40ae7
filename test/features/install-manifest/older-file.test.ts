import assert from 'node:assert/strict';
import type { Options } from '../../../src/kernel/context.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { type ApplyBench, applyBench, openApply, ownDocuments, upgrade } from '../../support/apply-bench.ts';
import { appliedClientSide, ownedBy } from '../../support/applying-cluster.ts';
import { NETSVC_TARGET, pattern } from '../../support/target.ts';

const IP = 'DaemonSet/kube-system/netsvc-node:spec.template.spec.containers[netsvc-node].env[IP].value';
const variable = (name: string, value: string) => JSON.stringify({ name, value });
const [AUTO, OLD, NOW] = ['autodetect', 'interface=eth0', 'interface=eth1'].map((value) => variable('IP', value)) as [
  string,
  string,
  string,
];

const [MTU, LEVEL, CNI] = ['\\"mtu\\": __CNI_MTU__', '\\"log_level\\": \\"info\\"', '\\"cniVersion\\": \\"0.3.1\\"'] as const;

/** The released documents with texts of their JSON replaced. */
async function release(...changes: readonly (readonly [from: string, to: string])[]): Promise<readonly KubeObject[]> {
  const released = await ownDocuments('v3.26.4');
  return changes.reduce((documents, [from, to]) => {
    const changed = documents.map((one) => JSON.parse(JSON.stringify(one).replaceAll(from, to)) as KubeObject);
    assert.notDeepEqual(changed, documents, from);
    return changed;
  }, released);
}

function bench(live: readonly KubeObject[], file: readonly KubeObject[], of: Partial<Options> = {}): ApplyBench {
  const made = applyBench(live, { options: { installedManifest: 'mine.yaml', ...of } });
  made.files.set('mine.yaml', file.map((one) => JSON.stringify(one)).join('\n---\n'));
  return made;
}

async function told(around: ApplyBench): Promise<readonly string[]> {
  const plan = (await openApply(around)).plan();
  const edits = 'skip' in plan ? [] : (plan.edits ?? []);
  return edits.map(({ outcome, ref, path, source }) => `${outcome} ${path.replace(/.*\.env/, 'env') || ref.kind} (${source.kind})`);
}

async function asked(around: ApplyBench): Promise<readonly string[]> {
  const found = (await openApply(around)).findings().find(({ id }) => id === 'NS-201');
  if (found?.outcome !== 'error') return [];
  assert.equal(found.exit, 'conflicts');
  return found.evidence.map(({ text, detail }) => `${text} ${detail}`);
}

async function agentsAfter(around: ApplyBench): Promise<string> {
  await upgrade(around);
  return JSON.stringify(around.around.object('DaemonSet', 'netsvc-node'));
}

const withPermission = (one: KubeObject): KubeObject =>
  one.kind === 'ClusterRole' && Array.isArray(one.rules)
    ? { ...one, rules: [...one.rules, { apiGroups: ['own.example'], resources: ['racks'], verbs: ['list'] }] }
    : one;

const ADDED = `${NOW},${variable('FELIX_X', '1')}`;

describe('a file of --installed-manifest that is older than what was applied last', () => {
  it('takes back nothing in silence: another value is asked about, with both named', async () => {
    const around = bench((await release([AUTO, NOW])).map(appliedClientSide), await release([AUTO, OLD]));
    const [question = '', ...more] = await asked(around);
    assert.ok(question.startsWith(`${IP} was: autodetect, yours: interface=eth0, the target's: autodetect; `), question);
    assert.match(question, /the cluster has "interface=eth1"/);
    assert.deepEqual(more, []);
  });

  it('is followed where the person says so', async () => {
    const around = bench((await release([AUTO, NOW])).map(appliedClientSide), await release([AUTO, OLD]), {
      resolutions: { [IP]: 'mine' },
    });
    assert.deepEqual(await asked(around), []);
    assert.match(await agentsAfter(around), /interface=eth0/);
  });

  it('does not take away what was added since, and leaves what both say', async () => {
    const around = bench((await release([AUTO, ADDED])).map(appliedClientSide), await release([AUTO, NOW]));
    assert.deepEqual(await asked(around), []);
    assert.deepEqual(await told(around), ['kept env[IP].value (file)', 'kept env[FELIX_X] (last-applied)']);
    assert.match(await agentsAfter(around), /interface=eth1.*FELIX_X|FELIX_X.*interface=eth1/);
  });

  it('does not count against what was set in the cluster after the last apply', async () => {
    const file = await release([AUTO, OLD]);
    const around = bench(file.map(appliedClientSide), file);
    const agents = JSON.parse(JSON.stringify(around.around.object('DaemonSet', 'netsvc-node'))) as {
      spec: { template: { spec: { containers: [{ env: { name: string }[] }] } } };
    };
    const index = agents.spec.template.spec.containers[0].env.findIndex(({ name }) => name === 'IP');
    const path = `/spec/template/spec/containers/0/env/${index}/value`;
    around.around.edit('DaemonSet', 'netsvc-node', [{ op: 'replace', path, value: 'interface=eth1' }]);
    assert.deepEqual(await told(around), ['kept env[IP].value (live)']);
  });

  it('says nothing of an older tag of a release', async () => {
    const around = bench((await release()).map(appliedClientSide), await release([':v3.26.4', ':v3.26.1']));
    assert.deepEqual([await told(around), await asked(around)], [[], []]);
  });

  it('is asked about member by member within a text of JSON', async () => {
    const text = (mtu: string, level: string) => [[MTU, `\\"mtu\\": ${mtu}`] as const, [LEVEL, `\\"log_level\\": \\"${level}\\"`] as const];
    const around = bench((await release(...text('1400', 'warn'))).map(appliedClientSide), await release(...text('1300', 'warn')));
    const questions = await asked(around);
    assert.equal(questions.length, 1, questions.join('\n'));
    assert.match(questions[0] ?? '', /cni_network_config\.plugins\[netsvc\]\.mtu was: .* yours: 1300, .*the cluster has 1400/);
  });

  it('asks once for all images of a registry that the cluster has left', async () => {
    const [from, to] = ['registry.netsvc.io/netsvc/', 'mirror.example/netsvc/'];
    const around = bench((await release()).map(appliedClientSide), await release([from, to]));
    const [question = '', ...more] = await asked(around);
    assert.match(
      question,
      pattern`^images:mirror\.example/netsvc .*yours: mirror\.example/netsvc/[\w-]+:${NETSVC_TARGET}, .*the cluster has "registry\.netsvc\.io`,
    );
    assert.deepEqual(more, []);
    const kept = bench((await release()).map(appliedClientSide), await release([from, to]), {
      resolutions: { 'images:mirror.example/netsvc': 'mine' },
    });
    assert.doesNotMatch(await agentsAfter(kept), pattern`registry\.netsvc\.io/netsvc/[\w-]+:${NETSVC_TARGET}`);
  });

  it('asks about permissions that it has and the cluster has not', async () => {
    const around = bench((await release()).map(appliedClientSide), (await release()).map(withPermission));
    assert.match(
      (await asked(around))[0] ?? '',
      /^ClusterRole\/[\w-]+:rules\[own\.example\/racks\] was: .*Your file allows it, and the cluster does not/,
    );
  });

  it('gives way to the target where that has what the file has', async () => {
    const around = bench((await release()).map(appliedClientSide), await release([CNI, '\\"cniVersion\\": \\"1.0.0\\"']));
    assert.deepEqual([await told(around), await asked(around)], [['already data.cni_network_config.cniVersion (file)'], []]);
  });

  it('and the target, that have the same, do not outvote another value of the cluster', async () => {
    const version = (one: string) => release([CNI, `\\"cniVersion\\": \\"${one}\\"`]);
    const around = bench((await version('0.4.0')).map(appliedClientSide), await version('1.0.0'));
    assert.match((await asked(around))[0] ?? '', /cniVersion was: 0\.3\.1, yours: 0\.4\.0, the target's: 1\.0\.0/);
  });
});

describe('a file of --installed-manifest whose edits the cluster does not have', () => {
  for (const [how, installed] of [
    ['an unedited apply', appliedClientSide],
    ['an object that nobody noted', (one: KubeObject) => ownedBy('kubectl-create', one)],
  ] as const) {
    it(`is asked about after ${how}`, async () => {
      const around = bench((await release()).map(installed), await release([AUTO, OLD]));
      const [question = ''] = await asked(around);
      assert.match(question, /yours: interface=eth0,.*the cluster has "autodetect"/);
    });
  }
});

describe('an object of the release that was deleted in the cluster and that --installed-manifest still has', () => {
  const without = async (kind: string) => (await release()).filter((one) => one.kind !== kind).map(appliedClientSide);

  it('stays away, and is told', async () => {
    const around = bench(await without('PodDisruptionBudget'), await release());
    assert.deepEqual(await told(around), ['kept PodDisruptionBudget (file)']);
    await upgrade(around);
    assert.equal(around.around.object('PodDisruptionBudget', 'netsvc-kube-controllers'), undefined);
  });

  it('comes back with the edits of the file where the target cannot do without it', async () => {
    const around = bench(await without('ClusterRole'), (await release()).map(withPermission));
    const edits = await told(around);
    assert.ok(edits.includes('target ClusterRole (file)') && edits.includes('kept rules[own.example/racks] (file)'), edits.join('\n'));
    await upgrade(around);
    assert.match(JSON.stringify(around.around.object('ClusterRole', 'netsvc-node')), /own\.example/);
  });
});
