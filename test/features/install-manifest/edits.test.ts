import assert from 'node:assert/strict';
import { readListRules } from '../../../src/features/install-manifest/edits.ts';
import type { Options } from '../../../src/kernel/context.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import type { StagePlan } from '../../../src/kernel/stage.ts';
import { type CarriedEdits, readCarriedEdits } from '../../../src/manifest/carried-file.ts';
import {
  type ApplyBench,
  applyBench,
  begin,
  installedClientSide,
  openApply,
  ownDocuments,
  runRecord,
  upgrade,
} from '../../support/apply-bench.ts';
import { appliedClientSide, ownedBy } from '../../support/applying-cluster.ts';
import { config, env } from '../../support/merge-cases.ts';
import { NETSVC_TARGET, pattern } from '../../support/target.ts';

const TEMPLATE = '/spec/template/spec/containers/0';
const NODE = 'spec.template.spec.containers[netsvc-node]';
const CNI_VERSION = 'ConfigMap/kube-system/netsvc-config:data.cni_network_config.cniVersion';

/** Documents of the installed release with one of them changed as text. */
async function editedFile(kind: string, from: string, to: string): Promise<readonly KubeObject[]> {
  const documents = await ownDocuments('v3.26.4');
  const edited = documents.map((one) => (one.kind === kind ? (JSON.parse(JSON.stringify(one).replaceAll(from, to)) as KubeObject) : one));
  assert.notDeepEqual(edited, documents);
  return edited;
}

const installedEdited = async (...change: Parameters<typeof editedFile>) => (await editedFile(...change)).map(appliedClientSide);

async function judged(bench: ApplyBench, id = 'NS-201') {
  return (await openApply(bench)).findings().find((one) => one.id === id) ?? assert.fail(`no ${id}`);
}

async function planOf(bench: ApplyBench): Promise<Exclude<StagePlan, { skip: string }>> {
  const plan = (await openApply(bench)).plan();
  return 'skip' in plan ? assert.fail(plan.skip) : plan;
}

/** Every edit, as `outcome path (source)`. */
async function traced(bench: ApplyBench): Promise<readonly string[]> {
  const { edits = [] } = await planOf(bench);
  return edits.map(({ outcome, path, source }) => `${outcome} ${path} (${source.manager ?? source.kind})`);
}

/** What the cluster has after the upgrade. */
async function upgraded(bench: ApplyBench, kind: string, name: string): Promise<string> {
  await upgrade(bench);
  return JSON.stringify(bench.around.object(kind, name));
}

const by = (manager: string, fieldsV1: object) => ({ manager, operation: 'Update', apiVersion: 'apps/v1', fieldsV1: fieldsV1 as never });
const containerField = (field: string) => ({
  'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"netsvc-node"}': { [field]: {} } } } } },
});

describe('edits made in the file that was applied', () => {
  it('are carried into the target and stay so', async () => {
    const bench = applyBench(await installedEdited('DaemonSet', '"autodetect"', '"can-reach=10.0.0.1"'));
    assert.deepEqual(await traced(bench), [`kept ${NODE}.env[IP].value (last-applied)`]);
    assert.match((await judged(bench)).message, /1 change of yours: 1 carried, compared with v3\.26\.4/);
    assert.match(
      await upgraded(bench, 'DaemonSet', 'netsvc-node'),
      pattern`can-reach=10\.0\.0\.1.*netsvc/node:${NETSVC_TARGET}|${NETSVC_TARGET}.*can-reach`,
    );
  });

  it('are in upgrade.yaml with the comments of the release', async () => {
    const bench = applyBench(await installedEdited('DaemonSet', '"autodetect"', '"can-reach=10.0.0.1"'));
    const { actions } = await planOf(bench);
    const saved = actions.find(({ id }) => id === 'save')?.effect;
    assert.ok(saved?.type === 'write');
    assert.match(saved.content, /can-reach=10\.0\.0\.1/);
    assert.match(saved.content, /# What the network plugin itself may do/);
  });

  it('count as one whole variable where the person added one, and as a removal where one was taken out', async () => {
    const [ip, mine] = ['{"name":"IP","value":"autodetect"}', '{"name":"MY","value":"1"}'];
    const added = applyBench(await installedEdited('DaemonSet', ip, `${ip},${mine}`));
    assert.match(await upgraded(added, 'DaemonSet', 'netsvc-node'), /"MY"/);
    const removed = applyBench(await installedEdited('DaemonSet', `${ip},`, ''));
    assert.doesNotMatch(await upgraded(removed, 'DaemonSet', 'netsvc-node'), /"IP"/);
  });

  it('are none if only the release tags differ, and reach every image if the registry does', async () => {
    assert.deepEqual(await traced(applyBench(await installedEdited('DaemonSet', ':v3.26.4', ':v3.26.3'))), []);
    const mirror = applyBench(await installedEdited('Deployment', 'registry.netsvc.io/netsvc/', 'mirror.example/netsvc/'));
    const image = pattern`mirror\.example/netsvc/kube-controllers:${NETSVC_TARGET}`;
    assert.match(await upgraded(mirror, 'Deployment', 'netsvc-kube-controllers'), image);
  });

  it('are obsolete if their container is gone in the target', async () => {
    const bench = applyBench(await installedEdited('DaemonSet', '"netsvc-node","-mount"', '"netsvc-node","-mount","-v"'));
    assert.match((await judged(bench)).message, /1 without a place in the target/);
  });

  it('say since which release their place is gone, as far as the releases at hand tell', async () => {
    const bench = applyBench(await installedEdited('DaemonSet', '"netsvc-node","-mount"', '"netsvc-node","-mount","-v"'));
    const { edits = [] } = await planOf(bench);
    assert.deepEqual(
      edits.map(({ dropped }) => dropped),
      [{ since: NETSVC_TARGET, lastIn: 'v3.26.4' }],
    );
    const between = await ownDocuments(NETSVC_TARGET);
    const stored = {
      releasesOf: async () => ['v3.26.4', 'v3.30.0', 'v3.33.0'],
      documentsOf: async (one: string) => (one === 'v3.30.0' ? between : undefined),
    };
    const told = await planOf({ ...bench, sources: { ...bench.sources, stored } });
    assert.deepEqual(
      told.edits?.map(({ dropped }) => dropped),
      [{ since: 'v3.30.0', lastIn: 'v3.26.4' }],
    );
    assert.match(told.edits?.[0]?.note ?? '', /v3\.26\.4 still had it, v3\.30\.0 has not/);
    assert.deepEqual((await readCarriedEdits(told.keep?.content))?.edits, told.edits);
  });

  it('of CRDs and service accounts are not carried: the target brings them whole, and edited CRDs are named', async () => {
    const documents = (await ownDocuments('v3.26.4')).map((one) => {
      const labels = { mine: 'yes' };
      return one.kind === 'CustomResourceDefinition' || one.kind === 'ServiceAccount'
        ? { ...one, metadata: { ...one.metadata, labels } }
        : one;
    });
    const { edits = [] } = await planOf(applyBench(documents.map(appliedClientSide)));
    assert.deepEqual(new Set(edits.map(({ outcome }) => outcome)), new Set(['target']));
    const named = edits.filter(({ ref }) => ref.kind === 'CustomResourceDefinition').map(({ ref, note }) => [ref.name, note]);
    assert.equal(named.length, documents.filter(({ kind }) => kind === 'CustomResourceDefinition').length);
    assert.match(String(named[0]), /Compared with v3\.26\.4: metadata\.labels/);
  });
});

describe('edits made in the cluster', () => {
  it('are carried, with the manager that made them', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    const owner = by('kubectl-edit', containerField('f:resources'));
    bench.around.edit('DaemonSet', 'netsvc-node', [{ op: 'replace', path: `${TEMPLATE}/resources/requests/cpu`, value: '500m' }], owner);
    assert.deepEqual(await traced(bench), [`kept ${NODE}.resources.requests.cpu (kubectl-edit)`]);
    assert.match(await upgraded(bench, 'DaemonSet', 'netsvc-node'), /"cpu":"500m"/);
  });

  it('are found without a trace of who made them: a variable removed live stays away', async () => {
    const installed = await installedClientSide('v3.26.4');
    const bench = applyBench(installed);
    const agents = bench.around.object('DaemonSet', 'netsvc-node') as unknown as {
      spec: { template: { spec: { containers: [{ env: { name: string }[] }] } } };
    };
    const index = agents.spec.template.spec.containers[0].env.findIndex(({ name }) => name === 'NETSVC_LOG_SEVERITY');
    bench.around.edit('DaemonSet', 'netsvc-node', [{ op: 'remove', path: `${TEMPLATE}/env/${index}` }]);
    assert.doesNotMatch(await upgraded(bench, 'DaemonSet', 'netsvc-node'), /NETSVC_LOG_SEVERITY/);
  });

  it('keep the order of variables by which one reads another, in the file too', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    const agents = bench.around.object('DaemonSet', 'netsvc-node') as unknown as {
      spec: { template: { spec: { containers: [{ env: { name: string }[] }] } } };
    };
    const { env } = agents.spec.template.spec.containers[0];
    const name = 'NETSVC_LOG_SEVERITY';
    const [ip, read] = ['IP', name].map((one) => env.findIndex((variable) => variable.name === one)) as [number, number];
    assert.ok(ip < read);
    bench.around.edit('DaemonSet', 'netsvc-node', [
      { op: 'remove', path: `${TEMPLATE}/env/${read}` },
      { op: 'add', path: `${TEMPLATE}/env/0`, value: env[read] },
      { op: 'replace', path: `${TEMPLATE}/env/${ip + 1}/value`, value: `own-$(${name})` },
    ]);
    const { actions, notes = [] } = await planOf(bench);
    assert.match(notes.join('\n'), new RegExp(`env: ${name} is put before IP`));
    const saved = actions.find(({ id }) => id === 'save')?.effect;
    const text = saved?.type === 'write' ? saved.content : assert.fail('nothing saved');
    const stands = text.lastIndexOf(`name: ${name}`, text.indexOf(`own-$(${name})`));
    assert.ok(stands > text.indexOf('kind: DaemonSet'), text);
    const after = await upgraded(bench, 'DaemonSet', 'netsvc-node');
    assert.match(after, /\{"name":"NETSVC_LOG_SEVERITY","value":"info"\},\{"name":"IP","value":"own-/);
  });

  it('are found on objects that nobody applied: created ones are compared with the release itself', async () => {
    const created = (await ownDocuments('v3.26.4')).map((one) => ownedBy('kubectl-create', one));
    const bench = applyBench(created);
    assert.deepEqual(await traced(bench), []);
    bench.around.edit('Deployment', 'netsvc-kube-controllers', [{ op: 'replace', path: '/spec/replicas', value: 2 }], by('kubectl', {}));
    assert.deepEqual(await traced(bench), ['kept spec.replicas (kubectl-create)']);
    assert.match(await upgraded(bench, 'Deployment', 'netsvc-kube-controllers'), /"replicas":2/);
  });

  it('are not what a controller wrote where the target says nothing: that stays in the cluster, out of the file', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    const owner = by('istiod', { 'f:metadata': { 'f:annotations': { 'f:sidecar.istio.io/rev': {} } } });
    const path = '/metadata/annotations/sidecar.istio.io~1rev';
    bench.around.edit('DaemonSet', 'netsvc-node', [{ op: 'add', path, value: 'canary' }], owner);
    assert.deepEqual(await traced(bench), ['left metadata.annotations[sidecar.istio.io/rev] (istiod)']);
    assert.match((await judged(bench)).message, /nothing of yours differs from the release; 1 field of controllers left to them/);
    const { actions } = await planOf(bench);
    const saved = actions.find(({ id }) => id === 'save')?.effect;
    assert.doesNotMatch(saved?.type === 'write' ? saved.content : assert.fail('nothing saved'), /sidecar\.istio\.io/);
    assert.match(await upgraded(bench, 'DaemonSet', 'netsvc-node'), /"sidecar\.istio\.io\/rev":"canary"/);
  });

  it('count an object that the person did away with: it stays away', async () => {
    const installed = (await installedClientSide('v3.26.4')).filter(({ kind }) => kind !== 'PodDisruptionBudget');
    const bench = applyBench(installed);
    assert.equal(await upgraded(bench, 'PodDisruptionBudget', 'netsvc-kube-controllers'), undefined);
  });
});

describe('edits that meet a change of the release', () => {
  const bench = async (options: Partial<Options> = {}) =>
    applyBench(await installedEdited('ConfigMap', '\\"cniVersion\\": \\"0.3.1\\"', '\\"cniVersion\\": \\"0.4.0\\"'), { options });

  it('stop the upgrade with exit 8, by the name that --resolve takes, with all three values', async () => {
    const { outcome, exit, evidence, next } = await judged(await bench());
    assert.deepEqual([outcome, exit, evidence.map(({ text }) => text)], ['error', 'conflicts', [CNI_VERSION]]);
    assert.match(evidence[0]?.detail ?? '', /was: 0\.3\.1, yours: 0\.4\.0, the target's: 1\.0\.0/);
    assert.equal(String(next), 'kubectl netsvc-upgrade plan -o wide', 'nothing is decided for the user');
  });

  for (const [side, version] of [
    ['mine', '0.4.0'],
    ['theirs', '1.0.0'],
  ] as const) {
    it(`end as the person decides: ${side}`, async () => {
      const decided = await bench({ resolutions: { [CNI_VERSION]: side } });
      assert.equal((await judged(decided)).outcome, 'ok');
      const config = await upgraded(decided, 'ConfigMap', 'netsvc-config');
      assert.ok(config.includes(`\\"cniVersion\\": \\"${version}\\"`), config);
    });
  }

  it('take the target’s value if that is accepted by name', async () => {
    const accepted = await bench({ accept: [{ check: 'NS-201', subject: CNI_VERSION }] });
    assert.equal((await judged(accepted)).outcome, 'accepted');
  });

  it('are not decided by a --resolve that names nothing', async () => {
    await assert.rejects(openApply(await bench({ resolutions: { 'ConfigMap/x:data.y': 'mine' } })), {
      code: 'usage',
      suggestions: [`to be decided: ${CNI_VERSION}`],
    });
  });
});

describe('when edits are told', () => {
  const edited = () => installedEdited('DaemonSet', '"autodetect"', '"first-found"');

  async function keptOf(bench: ApplyBench): Promise<CarriedEdits> {
    const { keep } = await planOf(bench);
    return readCarriedEdits(JSON.parse(JSON.stringify(keep?.content))) ?? assert.fail('nothing kept');
  }

  it('they are told again after a run that stopped before it wrote', async () => {
    const bench = applyBench(await edited());
    bench.record = runRecord({});
    assert.deepEqual(await traced(bench), [`kept ${NODE}.env[IP].value (last-applied)`]);
  });

  it('a run that goes on uses what was kept before the first write: the cluster no longer tells it', async () => {
    const kept = await keptOf(applyBench(await edited()));
    const bench = applyBench(await ownDocuments(NETSVC_TARGET).then((all) => all.map(appliedClientSide)));
    begin(bench, kept);
    assert.deepEqual(await traced(bench), [`kept ${NODE}.env[IP].value (last-applied)`]);
    assert.match(await upgraded(bench, 'DaemonSet', 'netsvc-node'), /"first-found"/);
  });

  it('a run that goes on does not take other decisions', async () => {
    const kept = await keptOf(applyBench(await edited()));
    const bench = applyBench(await edited(), { options: { resolutions: { [CNI_VERSION]: 'mine' } } });
    begin(bench, kept);
    await assert.rejects(openApply(bench), { code: 'usage', message: /has begun to write/ });
  });

  it('what an earlier, finished run carried does not hide a later edit', async () => {
    const bench = applyBench(await edited());
    await upgrade(bench);
    begin(bench, await keptOf(applyBench(await edited())), { finishedAt: '2026-01-01T12:00:00Z' });
    assert.match(JSON.stringify((await openApply(bench)).plan()), /everything equals .*, and is rolled out/);
    bench.around.edit('DaemonSet', 'netsvc-node', [{ op: 'replace', path: `${TEMPLATE}/resources/requests/cpu`, value: '700m' }]);
    assert.match(await upgraded(bench, 'DaemonSet', 'netsvc-node'), /"700m"/);
  });

  it("they are not told if the target is the person's own file", async () => {
    const bench = applyBench(await edited(), { options: { upgradeFile: 'mine.yaml' } });
    bench.files.set('mine.yaml', (await ownDocuments(NETSVC_TARGET)).map((one) => JSON.stringify(one)).join('\n---\n'));
    assert.deepEqual(await traced(bench), []);
    const said = async (of: ApplyBench) => ((await planOf(of)).notes ?? []).some((one) => /^rollback will refuse/.test(String(one)));
    assert.deepEqual([await said(bench), await said(applyBench(await edited()))], [true, false]);
  });

  it('a neighbour’s manifest is named, and none of its rows is an edit: each is a question', async () => {
    const installed = (await edited()).map((one) => JSON.parse(JSON.stringify(one).replaceAll('v3.26.4', 'v3.26.9')) as KubeObject);
    const bench = applyBench(installed);
    const base = await judged(bench, 'NS-207');
    assert.deepEqual([base.outcome, base.exit], ['error', 'conflicts']);
    assert.match(base.message, /^the manifest of v3\.26\.9 is not at hand: what differs from v3\.26\.4 \(\d+ differences?\) may be yours/);
    assert.equal((await judged(bench, 'NS-205')).outcome, 'not-applicable');
    const rows = await judged(bench, 'NS-201');
    assert.deepEqual([rows.outcome, rows.exit], ['error', 'conflicts']);
    assert.match(rows.message, /^\d+ differences? to decide: each may be yours or the release's own \(NS-207\)/);
    const note = (await planOf(bench)).notes?.find((one) => String(one).startsWith('base:')) ?? '';
    assert.match(String(note), /need not be the one that was installed/);
    assert.doesNotMatch(String(note), /your changes/);
    assert.ok(rows.evidence.length > 0 && rows.evidence.every(({ detail }) => detail?.includes('which need not be what was installed')));
    assert.deepEqual(
      (await traced(bench)).filter((row) => row.startsWith('kept')),
      [],
    );
  });

  it('a --base file of another release is no base: NS-207 names both', async () => {
    const bench = applyBench((await ownDocuments('v3.26.4')).map(appliedClientSide), { options: { base: 'old.yaml' } });
    const text = (await ownDocuments('v3.26.4')).map((one) => JSON.stringify(one)).join('\n---\n');
    bench.files.set('old.yaml', text.replaceAll('v3.26.4', 'v3.25.1').replaceAll('"autodetect"', '"first-found"'));
    const { outcome, exit, message } = await judged(bench, 'NS-207');
    assert.deepEqual([outcome, exit], ['error', 'conflicts']);
    assert.match(
      message,
      /^--base is of v3\.25\.1; the images say v3\.26\.4, and the text is nearer to v3\.26\.4 \(0 differences instead of 1\)$/,
    );
    bench.files.set('old.yaml', text);
    assert.equal((await judged(bench, 'NS-207')).outcome, 'ok');
  });

  it('a target of the person’s own is compared with no base', async () => {
    const bench = applyBench((await ownDocuments('v3.26.4')).map(appliedClientSide), { options: { upgradeFile: 'mine.yaml' } });
    bench.files.set('mine.yaml', (await ownDocuments(NETSVC_TARGET)).map((one) => JSON.stringify(one)).join('\n---\n'));
    assert.deepEqual(
      [(await judged(bench, 'NS-205')).outcome, (await judged(bench, 'NS-207')).outcome],
      ['not-applicable', 'not-applicable'],
    );
  });

  it('the plan names the base, also where nothing was edited, and where a run goes on', async () => {
    const notesOf = async (bench: ApplyBench) => {
      const plan = (await openApply(bench)).plan();
      return 'skip' in plan ? [] : (plan.notes ?? []);
    };
    const note = 'base: the manifest of v3.26.4; your changes are what you have changed since';
    const bench = applyBench((await ownDocuments('v3.26.4')).map(appliedClientSide));
    assert.equal((await notesOf(bench))[0], note);
    begin(bench, await keptOf(applyBench(await edited())));
    assert.equal((await notesOf(bench))[0], note);
  });

  it('the person’s own file tells, where the cluster says the same', async () => {
    const mine = await editedFile('DaemonSet', '"autodetect"', '"interface=eth1"');
    const bench = applyBench(mine.map(appliedClientSide), { options: { installedManifest: 'mine.yaml' } });
    bench.files.set('mine.yaml', mine.map((one) => JSON.stringify(one)).join('\n---\n'));
    assert.deepEqual(await traced(bench), [`kept ${NODE}.env[IP].value (file)`]);
  });
});

const SCHEMA = {
  components: {
    schemas: {
      agents: {
        'x-kubernetes-group-version-kind': [{ group: 'apps', version: 'v1', kind: 'DaemonSet' }],
        properties: {
          spec: { properties: { parts: { items: {}, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'] } } },
        },
      },
    },
  },
};

/** Who asks for what, and what the server says. */
function asked(answer: () => Promise<string>) {
  const paths: string[] = [];
  const raw = (path: string) => {
    paths.push(path);
    return answer();
  };
  return { paths, cluster: { raw } };
}

const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [] } };

describe('the server’s rules for lists', () => {
  it('are asked for once for each group and version, and only for objects that have lists', async () => {
    const { paths, cluster } = asked(async () => JSON.stringify(SCHEMA));
    const other = { ...env({ A: '1' }), metadata: { name: 'other' } };
    const rules = await readListRules(cluster, [env({ A: '1' }), other, config({ a: '1' }), service]);
    assert.deepEqual(paths, ['/openapi/v3/apis/apps/v1', '/openapi/v3/api/v1']);
    assert.deepEqual([...rules.keys()], ['apps/v1 DaemonSet']);
    assert.deepEqual(rules.get('apps/v1 DaemonSet')?.get('spec.parts'), { keys: ['id'], defaults: {} });
  });

  it('are not asked for where nothing with a list is merged', async () => {
    const { paths, cluster } = asked(() => assert.fail('asked'));
    await readListRules(cluster, [config({ a: '1' })]);
    assert.deepEqual(paths, []);
  });

  for (const [title, answer] of [
    ['may not be read', () => Promise.reject(new ApiFailure(403, 'Forbidden', 'no'))],
    ['are not served', () => Promise.reject(new ApiFailure(404, 'NotFound', 'no'))],
    ['are no JSON', () => Promise.resolve('<html>')],
  ] as const)
    it(`are those of the table if they ${title}`, async () => {
      assert.equal((await readListRules(asked(answer).cluster, [env({ A: '1' })])).size, 0);
    });

  it('do not hide a defect of ours', async () => {
    await assert.rejects(readListRules(asked(() => Promise.reject(new TypeError('ours'))).cluster, [env({ A: '1' })]), TypeError);
  });
});
