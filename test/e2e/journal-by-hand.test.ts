import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { playPolicyMigration } from '../control-plane/policy-migration.ts';
import { NEW_SERVER } from '../control-plane/service-objects.ts';
import { until } from '../control-plane/until.ts';
import { collectorStartsAnew } from '../support/collector-settles.ts';
import { shared } from '../support/installed-cluster.ts';
import { describeWhere, lacksProgram } from '../support/needs.ts';
import { bareGraph, JOURNAL, ownedPlane } from '../support/owned-cluster.ts';
import { GROUP } from '../support/owned-objects.ts';
import { stripWork } from '../support/perform-stage.ts';

const DEPENDENTS = 20;
const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'journal.md');

/** The commands of a part of the page, in order, but for the one with names to fill in. */
async function commandsOf(page: string, heading: string): Promise<readonly string[]> {
  const whole = await readFile(page, 'utf8');
  const [, text = ''] = whole.split(`\n## ${heading}\n`).map((part) => part.split('\n## ')[0] ?? '');
  const blocks = [...text.matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', body = '']) =>
    body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  return blocks.filter((block) => !block.includes('UID OF THE OBJECT'));
}

describeWhere(lacksProgram('jq'), 'the journal by hand: what the page says, on a real control plane', function () {
  this.timeout(280_000);
  const owned = shared(() => ownedPlane(DEPENDENTS, { maxMinutes: 10 }));
  let folder: string;
  let commands: readonly string[];
  before(async () => {
    folder = await mkdtemp(join(owned.plane.dir, 'by-hand-'));
    commands = await commandsOf(PAGE, 'Manual recovery with kubectl');
  });

  /** A shell with kubectl on the path. */
  const shell = async (script: string) => {
    const { kubectl, kubeconfig } = owned.around;
    const env = { PATH: `${dirname(kubectl)}:${process.env.PATH ?? ''}`, KUBECONFIG: kubeconfig };
    const result = await execa('sh', ['-e', '-c', script], { cwd: folder, env, reject: false });
    assert.equal(result.exitCode, 0, `${script}\n${result.stdout}\n${result.stderr}`);
    return result;
  };
  const entries = async () => (await readFile(join(folder, 'entries.jsonl'), 'utf8')).trim().split('\n').toSorted();
  const taken = async () => (await entries()).length;

  it('is fetched and checked with the commands of steps 1 to 3', async () => {
    assert.equal((await stripWork.perform(owned.around)).exit, 'done');
    assert.deepEqual(await owned.graph(), bareGraph(owned.first));
    owned.served.serve(NEW_SERVER);
    const migration = playPolicyMigration(owned.plane.api, { group: GROUP, agents: 'calico-node' });
    await until('policies have their new names', async () => migration.migrated.length >= 2, 60_000);
    await migration.stop();
    const [look = '', fetch = '', read = ''] = commands;
    const uids = (await shell(look)).stdout.match(/[0-9a-f]{8}-[0-9a-f-]{27}/g)?.slice(-2);
    assert.equal(uids?.[0], uids?.[1]);
    const sums = (await shell(fetch)).stdout.split('\n');
    assert.ok(
      sums.every((line) => line.endsWith('OK')),
      sums.join('\n'),
    );
    await shell(read);
    assert.equal(await taken(), DEPENDENTS);
  });

  it('is the same in the file that lies beside the backup', async () => {
    const fromCluster = await entries();
    const files = (await readdir(owned.around.home, { recursive: true })).filter((file) => /owner-references-[^/]+\.json$/.test(file));
    assert.equal(files.length, 1, files.join());
    await copyFile(join(owned.around.home, files[0] ?? ''), join(folder, 'owner-references-RUN.json'));
    await shell(commands[3] ?? '');
    assert.deepEqual(await entries(), fromCluster);
  });

  /** Step 4 changes nothing, step 5 does; what step 5 prints. */
  const putBack = async () => {
    const before = await owned.graph();
    assert.equal((await shell(commands[4] ?? '')).stderr, '');
    assert.equal((await readFile(join(folder, 'commands.sh'), 'utf8')).trim().split('\n').length, DEPENDENTS);
    assert.deepEqual(await owned.graph(), before);
    return (await shell('sh commands.sh')).stdout.trim().split('\n');
  };

  it('gives everything back with steps 4 and 5, at its place, with its flags and the new UID; the collector agrees', async () => {
    const lines = await putBack();
    assert.deepEqual([lines.length, lines.filter((line) => !line.endsWith(' patched'))], [DEPENDENTS, []]);
    const wanted = await owned.wanted();
    assert.deepEqual(await owned.graph(), wanted);
    await collectorStartsAnew(owned.plane);
    assert.deepEqual(await owned.graph(), wanted);
  });

  it('leaves what is back as it is, and names it', async () => {
    const wanted = await owned.graph();
    const lines = await putBack();
    assert.deepEqual([lines.length, lines.filter((line) => !line.startsWith('left: '))], [DEPENDENTS, []]);
    assert.deepEqual(await owned.graph(), wanted);
  });

  it('is deleted with the last command, the head last', async () => {
    await shell(commands[5] ?? '');
    await assert.rejects(owned.plane.api.get(JOURNAL), /404/);
    const { stdout } = await shell('kubectl -n kube-system get secrets -o name');
    assert.doesNotMatch(stdout, /netsvc-upgrade-owners/);
  });
});
