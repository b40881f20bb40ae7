import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { comparable } from '../../src/manifest/prepare.ts';
import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { findKind } from '../../src/sandbox/store.ts';
import { emptyFolder } from '../support/folders.ts';
import { ACCESS, kvstoreScenario } from '../support/kvstore-sandbox.ts';
import { ownerSandbox, renaming } from '../support/owner-sandbox.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

const AGENT = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'netsvc-node', namespace: 'kube-system' };
const CONFIG = { apiVersion: 'v1', kind: 'ConfigMap', name: 'netsvc-config', namespace: 'kube-system' };

interface Git {
  readonly git?: { readonly directory: string; readonly files: readonly string[]; readonly leftOut: readonly string[] };
}

describe('plan --for-git', function () {
  this.timeout(120_000);
  const around = emptyFolder('plan-for-git-');
  let folder = '';
  beforeEach(() => {
    folder = join(around, 'git');
  });

  const files = () =>
    readdirSync(folder, { recursive: true })
      .map(String)
      .filter((path) => statSync(join(folder, path)).isFile())
      .toSorted();
  const written = (): readonly KubeObject[] =>
    files().flatMap((path) => parseManifest(readFileSync(join(folder, path), 'utf8'), path).documents.map(({ object }) => object));

  /** Objects that the API server would change by an apply of the files, as a sync does it. */
  function drift({ cluster }: Scenario, objects: readonly KubeObject[]): readonly string[] {
    return objects.flatMap((object) => {
      const kind = findKind(cluster.kinds(), object.apiVersion, object.kind) ?? assert.fail(`no kind ${object.kind}`);
      const live = cluster.store.get(kind, object.metadata.name, object.metadata.namespace) ?? assert.fail(object.metadata.name);
      const applied = cluster.registry.apply(kind, object, { manager: 'kubectl', dryRun: true });
      return JSON.stringify(comparable(live)) === JSON.stringify(comparable(applied)) ? [] : [`${object.kind}/${object.metadata.name}`];
    });
  }

  const CASES: Readonly<Record<string, readonly [() => Promise<Scenario>, Profile]>> = {
    'a manifest with the edits of a person': [edited, netsvc],
    'a manifest for a key-value store': [() => kvstoreScenario('v3.27.5'), calico],
  };
  for (const [title, [open, profile]] of Object.entries(CASES))
    it(`writes what a sync after the upgrade changes nothing by: ${title}`, async () => {
      const scenario = await open();
      const planned = sandboxCommand(scenario, profile);
      assert.equal(await planned.run('plan', '--for-git', folder), 0, planned.err() + planned.out());
      assert.equal(scenario.cluster.faults.writes, 0);
      const objects = written();
      assert.ok(objects.length >= 10, `${objects.length} objects`);
      const applied = sandboxCommand(scenario, profile);
      assert.equal(await applied.run('apply', '--yes'), 0, applied.out() + applied.err());
      assert.deepEqual(drift(scenario, objects), []);
      const again = sandboxCommand(scenario, profile);
      assert.equal(await again.run('plan', '--for-git', folder), 0, again.err() + again.out());
      assert.match(again.out(), /\nCommit these files in place of the old ones, resume the sync\.\n(?:Secrets .*\n)?No changes: /);
    });

  it('keeps what a person changed, and would differ from the cluster without it', async () => {
    const scenario = await edited();
    assert.equal(await sandboxCommand(scenario).run('plan', '--for-git', folder), 0);
    const agent = written().find(({ kind }) => kind === 'DaemonSet') ?? assert.fail();
    assert.match(JSON.stringify(agent), /"name":"OWN","value":"mine"/);
    assert.deepEqual(drift(scenario, [agent]), ['DaemonSet/netsvc-node']);
  });

  it('tells the folder, what to do with it, and that the cluster is as it was', async () => {
    const bench = sandboxCommand(await edited());
    await bench.run('plan', '--for-git', folder);
    const lines = bench.out().trimEnd().split('\n').slice(-4);
    assert.match(lines[0] ?? '', /^\d+ files for Git in .*git: what Git should hold after the upgrade\.$/);
    assert.ok(lines[0]?.startsWith(`${files().length} files`));
    assert.equal(lines[1], 'Pause the sync, upgrade, commit these files in place of the old ones, resume the sync.');
    assert.equal(lines[2], 'Nothing was changed in the cluster: this is a plan.');
    assert.match(lines[3] ?? '', /^Next: /);
  });

  it('leaves Secrets out, by name, and writes no value of one', async () => {
    const bench = sandboxCommand(await kvstoreScenario('v3.27.5'), calico);
    assert.equal(await bench.run('plan', '--for-git', folder, '-o', 'json'), 0, bench.err());
    const { git } = JSON.parse(bench.out()) as Git;
    assert.deepEqual(git?.leftOut, ['Secret/kube-system/calico-etcd-secrets']);
    assert.equal(git?.directory, folder);
    assert.deepEqual(
      [...(git?.files ?? [])],
      files().map((path) => path.replaceAll('\\', '/')),
    );
    assert.deepEqual(
      written().filter(({ kind }) => kind === 'Secret'),
      [],
    );
    const text = files()
      .map((path) => readFileSync(join(folder, path), 'utf8'))
      .join('\n');
    for (const value of [ACCESS.ca, ACCESS.certificate, ACCESS.key])
      for (const unseen of [value.split('\n')[1] ?? '', btoa(value).slice(0, 24)]) assert.equal(text.includes(unseen), false, unseen);
  });

  it('writes nothing where a person has to decide first', async () => {
    const scenario = await edited();
    const { registry, store } = scenario.cluster;
    const config = store.get(K.ConfigMap, CONFIG.name, CONFIG.namespace) as { data?: Readonly<Record<string, string>> } | undefined;
    const value = config?.data?.cni_network_config?.replace('"cniVersion": "0.3.1"', '"cniVersion": "0.4.0"');
    assert.match(value ?? '', /0\.4\.0/);
    registry.jsonPatch(K.ConfigMap, CONFIG, [{ op: 'replace', path: '/data/cni_network_config', value }], { manager: 'kubectl-edit' });
    const bench = sandboxCommand(scenario);
    assert.equal(await bench.run('plan', '--for-git', folder), 8, bench.out());
    assert.equal(existsSync(folder), false);
    assert.match(bench.out(), /No files for Git were written: decide first what NS-201 asks\./);
    const json = sandboxCommand(scenario);
    assert.equal(await json.run('plan', '--for-git', folder, '-o', 'json'), 8);
    assert.equal((JSON.parse(json.out()) as Git).git, undefined);
  });

  it('stops at a file that is there with another content', async () => {
    writeFileSync(join(around, 'mine.yaml'), 'mine');
    const bench = sandboxCommand(await edited());
    assert.equal(await bench.run('plan', '--for-git', around), 64);
    assert.match(bench.err(), /mine\.yaml, which is not what would be written there/);
    assert.deepEqual(readdirSync(around), ['mine.yaml']);
  });

  for (const flags of [
    ['--skip', 'apply'],
    ['--from', 'verify'],
    ['-o', 'images'],
  ])
    it(`is refused where the target is not merged: ${flags.join(' ')}`, async () => {
      const bench = sandboxCommand(await edited());
      assert.equal(await bench.run('plan', '--for-git', folder, ...flags), 64);
      assert.match(bench.err(), /--for-git/);
      assert.equal(existsSync(folder), false);
    });

  it('has each policy that will be renamed, as a person gives it to the API, whatever else stops a run', async () => {
    const { scenario } = await ownerSandbox();
    const bench = sandboxCommand(scenario, renaming);
    assert.equal(await bench.run('plan', '--for-git', folder, '--skip', 'ownerrefs-strip'), 3, bench.err() + bench.out());
    const policies = written().filter(({ kind }) => kind.endsWith('NetworkPolicy'));
    assert.deepEqual(policies, [
      { apiVersion: 'netsvc.io/v3', kind: 'GlobalNetworkPolicy', metadata: { name: 'web' }, spec: { selector: 'all()' } },
      { apiVersion: 'netsvc.io/v3', kind: 'NetworkPolicy', metadata: { name: 'db', namespace: 'default' }, spec: { selector: 'all()' } },
    ]);
    assert.ok(existsSync(join(folder, 'default', 'networkpolicy.netsvc.io-db.yaml')));
  });
});

/** A variable of a person, and a setting of the ConfigMap. */
async function edited(): Promise<Scenario> {
  const scenario = await installedSandbox({ cli: false });
  const { registry, faults } = scenario.cluster;
  registry.jsonPatch(K.ConfigMap, CONFIG, [{ op: 'replace', path: '/data/veth_mtu', value: '1400' }], { manager: 'kubectl-edit' });
  const path = '/spec/template/spec/containers/0/env/-';
  registry.jsonPatch(K.DaemonSet, AGENT, [{ op: 'add', path, value: { name: 'OWN', value: 'mine' } }], { manager: 'kubectl-set' });
  await scenario.clock.sleep(60_000);
  faults.writes = 0;
  return scenario;
}
