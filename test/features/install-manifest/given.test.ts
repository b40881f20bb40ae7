import assert from 'node:assert/strict';
import type { Action } from '../../../src/kernel/action.ts';
import type { Options } from '../../../src/kernel/context.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { type CarriedEdits, readCarriedEdits } from '../../../src/manifest/carried-file.ts';
import { type ApplyBench, applyBench, openApply, ownDocuments, runRecord } from '../../support/apply-bench.ts';
import { appliedClientSide } from '../../support/applying-cluster.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

const FILE = 'netsvc-kvstore.yaml';
const [WRONG, RIGHT] = ['https://10.0.0.1:2379', 'https://10.0.0.9:2379'];

const textOf = (documents: readonly KubeObject[]) => documents.map((one) => JSON.stringify(one)).join('\n---\n');
const withStore = (documents: readonly KubeObject[], endpoints: string) =>
  documents.map((one) => JSON.parse(JSON.stringify(one).replace('http://<KVSTORE_IP>:<KVSTORE_PORT>', endpoints)) as KubeObject);

async function installed(options: Partial<Options>, files: Readonly<Record<string, string>> = {}): Promise<ApplyBench> {
  const documents = withStore(await ownDocuments('v3.26.4', FILE), WRONG);
  const bench = applyBench(documents.map(appliedClientSide), { options });
  for (const [name, text] of Object.entries(files)) bench.files.set(name, text);
  return bench;
}

async function planOf(bench: ApplyBench) {
  const plan = (await openApply(bench)).plan();
  return 'skip' in plan ? assert.fail(plan.skip) : plan;
}

const settingOf = (bench: ApplyBench) =>
  (bench.around.object('ConfigMap', 'netsvc-config')?.data as Readonly<Record<string, string>> | undefined)?.kvstore_endpoints;

function keep(bench: ApplyBench, content: unknown): CarriedEdits {
  const id = `r/apply/edits#${bench.kept.size + 1}`;
  bench.kept.set(id, JSON.parse(JSON.stringify(content)));
  bench.record = runRecord({ path: 'kvstore', kept: [...bench.kept.keys()] });
  return readCarriedEdits(bench.kept.get(id)) ?? assert.fail('nothing kept');
}

const withOptions = (bench: ApplyBench, options: Options): ApplyBench => Object.assign(bench, { context: { ...bench.context, options } });

/** What writes to the cluster: in key-value mode the bench's agents are never as ready as the document says, and are waited for. */
async function writesOf(bench: ApplyBench): Promise<readonly Action[]> {
  const plan = (await openApply(bench)).plan();
  const actions = 'skip' in plan ? [] : plan.actions;
  return actions.some(({ effect }) => effect.type === 'exec' || effect.type === 'patch-all') ? actions : [];
}

async function upgrade(bench: ApplyBench): Promise<void> {
  for (let round = 1; round <= 3; round += 1) for (const action of await writesOf(bench)) bench.around.perform(action);
}

/** A run that began with these flags and has applied its target; then the same cluster with other flags. */
async function begun(first: Partial<Options>, then: Partial<Options>, files: Readonly<Record<string, string>> = {}) {
  const bench = await installed(first, files);
  const { actions, keep: kept } = await planOf(bench);
  keep(bench, kept?.content);
  for (const action of actions) bench.around.perform(action);
  return withOptions(bench, { ...bench.context.options, ...then });
}

describe('--kvstore-endpoints in a run that goes on', () => {
  it('count more than those that it began with, and are kept anew', async () => {
    const bench = await begun({}, { kvstoreEndpoints: RIGHT });
    assert.equal(settingOf(bench), WRONG);
    const plan = await planOf(bench);
    assert.equal(plan.keep?.anew, true);
    assert.ok(
      plan.notes?.some((note) => String(note).includes('the ones given now') && String(note).endsWith(WRONG)),
      plan.notes?.join('\n'),
    );
    const again = keep(bench, plan.keep?.content);
    await upgrade(bench);
    assert.equal(settingOf(bench), RIGHT);
    assert.ok(JSON.stringify(again.files).includes(RIGHT) && !JSON.stringify(again.files).includes(WRONG));
    // From then on the flag is needed no more.
    const { kvstoreEndpoints: _, ...options } = bench.context.options;
    assert.deepEqual(await writesOf(withOptions(bench, options)), [], 'the endpoints of before are not brought back');
  });

  it('are in the table of edits, and not those that are installed', async () => {
    for (const bench of [await installed({ kvstoreEndpoints: RIGHT }), await begun({}, { kvstoreEndpoints: RIGHT })]) {
      const edit = (await planOf(bench)).edits?.find(({ path }) => path === 'data.kvstore_endpoints');
      assert.deepEqual([edit?.mine, edit?.note], [RIGHT, `Given with --kvstore-endpoints; installed: ${WRONG}.`]);
    }
  });

  it('change nothing where they are the same', async () => {
    const bench = await begun({ kvstoreEndpoints: RIGHT }, {});
    assert.equal(settingOf(bench), RIGHT);
    assert.equal((await planOf(bench)).keep?.anew, undefined);
    await upgrade(bench);
    assert.equal(settingOf(bench), RIGHT);
  });
});

describe('--kvstore-endpoints on a finished upgrade', () => {
  it('is an edit like any other', async () => {
    const bench = await begun({}, { kvstoreEndpoints: RIGHT });
    bench.record = bench.record && { ...bench.record, finishedAt: '2026-01-01T11:40:00Z', outcome: 'done' };
    for (const action of (await planOf(bench)).actions) bench.around.perform(action);
    assert.equal(settingOf(bench), RIGHT);
  });
});

describe('--kvstore-endpoints beside --upgrade-file', () => {
  const bench = async (endpoints: string) =>
    installed(
      { upgradeFile: 'mine.yaml', kvstoreEndpoints: endpoints },
      { 'mine.yaml': textOf(withStore(await ownDocuments(NETSVC_TARGET, FILE), RIGHT)) },
    );

  it('is refused where the file has others', async () => {
    await assert.rejects(openApply(await bench(WRONG)), {
      code: 'usage',
      message: `--kvstore-endpoints ${WRONG}: mine.yaml is applied as it is, and has ${RIGHT}`,
    });
  });

  it('passes where the file has the same', async () => {
    await openApply(await bench(RIGHT));
  });
});

describe('--installed-manifest for endpoints that an unedited manifest has taken away', () => {
  const ENDPOINTS = 'ConfigMap/kube-system/netsvc-config:data.kvstore_endpoints';
  const bench = async (options: Partial<Options> = {}) => {
    const made = applyBench((await ownDocuments('v3.26.4', FILE)).map(appliedClientSide), {
      options: { ...options, installedManifest: 'mine.yaml' },
    });
    made.files.set('mine.yaml', textOf(withStore(await ownDocuments('v3.26.4', FILE), RIGHT)));
    return made;
  };

  it('asks, since the cluster has others, and brings them back where the person says so', async () => {
    const found = (await openApply(await bench())).findings().find(({ id }) => id === 'NS-201');
    assert.deepEqual(
      found?.evidence.map(({ text }) => text),
      [ENDPOINTS],
    );
    const decided = await bench({ resolutions: { [ENDPOINTS]: 'mine' } });
    for (const action of (await planOf(decided)).actions) decided.around.perform(action);
    assert.equal(settingOf(decided), RIGHT);
  });
});

describe('files by which edits are told, in a run that goes on', () => {
  const files = async () => ({
    'base.yaml': textOf(await ownDocuments('v3.26.4', FILE)),
    'mine.yaml': textOf(withStore(await ownDocuments('v3.26.4', FILE), WRONG)),
  });
  for (const [flag, file, options] of [
    ['--base', 'base.yaml', { base: 'base.yaml' }],
    ['--installed-manifest', 'mine.yaml', { installedManifest: 'mine.yaml' }],
  ] as const) {
    it(`${flag} is refused where it comes too late`, async () => {
      await assert.rejects(openApply(await begun({}, options, await files())), {
        code: 'usage',
        message: `${flag} ${file}: this run has begun to write with changes told without it`,
      });
    });

    it(`${flag} is refused where its file is another by now, and passes where it is the same`, async () => {
      const bench = await begun(options, options, await files());
      await openApply(bench);
      bench.files.set(file, `${bench.files.get(file)}\n`);
      await assert.rejects(openApply(bench), { code: 'usage', message: /by another content of it/ });
    });
  }
});
