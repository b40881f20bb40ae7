import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { localMachine } from '../../../src/adapters/machine.ts';
import { backupEffects, backupFiles } from '../../../src/features/backup/effects.ts';
import { backupStage } from '../../../src/features/backup/stage.ts';
import type { InstallPath } from '../../../src/kernel/installation.ts';
import { type Kind, type KubeObject, refOf, refText } from '../../../src/kernel/object.ts';
import type { ListOptions } from '../../../src/kernel/ports.ts';
import type { Profile } from '../../../src/kernel/profile.ts';
import { UNDO } from '../../../src/kernel/undo.ts';
import { LAST_APPLIED } from '../../../src/kube/managed-fields.ts';
import { manifestText, parseManifest } from '../../../src/manifest/manifest.ts';
import { restorable } from '../../../src/manifest/prepare.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { applyBench, installedClientSide, ownDocuments } from '../../support/apply-bench.ts';
import { testFolder } from '../../support/folders.ts';
import { objectOf } from '../../support/inventory.ts';
import { unheld } from '../../support/operated-bench.ts';
import { commandsUnder } from '../../support/way-back.ts';

const RELEASE = 'v3.26.4';
const VALUE = 'geheim-und-lang';
const CODED = Buffer.from(VALUE).toString('base64');
const SECRET = objectOf('v1', 'Secret', 'netsvc-own', {
  metadata: { namespace: 'kube-system', annotations: { [LAST_APPLIED]: JSON.stringify({ stringData: { key: VALUE } }) } },
  data: { key: CODED },
});
const RESOURCES = [
  objectOf('crd.netsvc.io/v1', 'NetworkPolicy', 'default.db', { metadata: { namespace: 'shop' }, spec: { selector: 'all()' } }),
  objectOf('crd.netsvc.io/v1', 'NetworkPolicy', 'default.web', { metadata: { namespace: 'shop' }, spec: { order: 1.5 } }),
  objectOf('crd.netsvc.io/v1', 'ClusterInformation', 'default', { spec: { netsvcVersion: RELEASE } }),
  ...['10-0-0-0-26', '10-0-0-64-26'].map((name) =>
    objectOf('crd.netsvc.io/v1', 'IPAMBlock', name, {
      spec: { affinity: 'host:no', allocations: [null, 0], attributes: [{ handle_id: 'h\n"' }] },
    }),
  ),
];

/** The release of these tests defines no such kind. */
const BLOCKS = objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'ipamblocks.crd.netsvc.io', {
  spec: {
    group: 'crd.netsvc.io',
    names: { kind: 'IPAMBlock', plural: 'ipamblocks' },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true }],
  },
});

/** Names that differ only in a sign that no file name may have everywhere. */
const ROLES = ['own:reader', 'own-reader'].map((name) => objectOf('rbac.authorization.k8s.io/v1', 'ClusterRole', name, { rules: [] }));

/** A backup of our own release with custom resources and a person's Secret. */
async function planned(withSecrets: boolean, more: readonly KubeObject[] = []) {
  const installed = [...(await installedClientSide(RELEASE)), BLOCKS, ...RESOURCES, ...more, ...ROLES, SECRET];
  const bench = applyBench(installed, { options: { withSecrets, installedManifest: '/own.yaml' } });
  bench.files.set('/own.yaml', manifestText([...(await ownDocuments(RELEASE)), ...ROLES, SECRET]));
  const plan = (await backupStage.open(bench.sources, bench.context)).plan();
  assert.ok('actions' in plan);
  const { effect } = plan.actions[0] ?? {};
  assert.ok(effect?.type === 'backup');
  return { installed, files: effect.files };
}

/** The same, as it is written. */
async function backUp(folder: string, withSecrets: boolean): Promise<readonly KubeObject[]> {
  const { installed, files } = await planned(withSecrets);
  await localMachine().writeFolder(folder, files);
  return installed;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
const text = (folder: string, file: string) => readFile(join(folder, file), 'utf8');

describe('the files of a backup', () => {
  const home = testFolder('backup-');
  const [bare, whole] = [() => join(home, 'bare'), () => join(home, 'whole')];
  let installed: readonly KubeObject[] = [];
  before(async () => {
    installed = await backUp(whole(), true);
    await backUp(bare(), false);
  });

  it('are made of definitions of this service alone: those of others are not kept while they are read', async () => {
    const bench = applyBench(await installedClientSide(RELEASE));
    const kept: string[] = [];
    const list = async (kind: Kind, options: ListOptions = {}) => {
      if (kind.plural !== 'customresourcedefinitions' || !options.keep) return bench.sources.cluster.list(kind, options);
      const definition = (name: string) => objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', name, { spec: { names: {} } });
      kept.push(...['pools.crd.netsvc.io', 'widgets.example.com'].map((name) => JSON.stringify(options.keep?.(definition(name)).spec)));
      return [];
    };
    await backupStage.open({ ...bench.sources, cluster: { ...bench.sources.cluster, list } }, bench.context);
    assert.deepEqual(kept, ['{"names":{}}', undefined]);
  });

  it('are whole where there are thousands of a kind, which are packed until they are written', async () => {
    const blocks = Array.from({ length: 1500 }, (_, index) =>
      objectOf('crd.netsvc.io/v1', 'IPAMBlock', `10-1-${index}-0-26`, { spec: { affinity: `host:nö-${index}` } }),
    );
    const { files } = await planned(false, blocks);
    const name = 'custom-resources/IPAMBlock.crd.netsvc.io.yaml';
    assert.equal(files.find((file) => file.name === name)?.content, undefined);
    const folder = join(home, 'fleet');
    await localMachine().writeFolder(folder, files);
    const read = parseManifest(await text(folder, name), name).documents.map(({ object }) => object);
    assert.deepEqual(
      read.map(({ metadata, spec }) => [metadata.name, spec]),
      [...RESOURCES.filter(({ kind }) => kind === 'IPAMBlock'), ...blocks].map(({ metadata, spec }) => [metadata.name, spec]),
    );
    assert.equal((await text(folder, 'uids.tsv')).split('\n').filter((line) => line.startsWith('IPAMBlock\t')).length, 1502);
    const sum = createHash('sha256')
      .update(await readFile(join(folder, name)))
      .digest('hex');
    assert.ok((await text(folder, 'SHA256SUMS')).includes(`${sum}  ${name}\n`));
  });

  it('hold no value of a Secret, coded or not, unless they were asked for; the text says that they are left out', async () => {
    for (const file of await filesIn(bare())) {
      const content = await text(bare(), file);
      assert.ok(!content.includes(VALUE) && !content.includes(CODED), file);
      assert.doesNotMatch(file, /secret/i);
    }
    assert.match(await text(bare(), 'RESTORE.md'), /Secrets were left out \(1 seen\); take them with `--with-secrets`/);
  });

  it('hold Secrets in files of their own that only their owner reads, and nowhere else', async () => {
    const file = 'secrets/Secret_kube-system_netsvc-own.yaml';
    assert.match(await text(whole(), file), new RegExp(CODED));
    assert.deepEqual(
      [await modeOf(join(whole(), file)), await modeOf(join(whole(), 'secrets')), await modeOf(whole())],
      [0o600, 0o700, 0o700],
    );
    for (const other of await filesIn(whole())) {
      const content = await text(whole(), other);
      assert.equal(content.includes(VALUE) || content.includes(CODED), other === file, other);
    }
    assert.match(await text(whole(), 'RESTORE.md'), /`secrets\/` holds 1 Secret in clear text/);
    // Read later, on another machine: kubectl may lead to another cluster by then.
    assert.match(
      await text(whole(), 'RESTORE.md'),
      /`kubectl get namespace kube-system -o jsonpath=\{\.metadata\.uid\}` must print `\S+`\. If it does not, kubectl talks to another cluster/,
    );
  });

  it('are one per kind of custom resource, one per other object, the old UIDs, the way back and the sums', async () => {
    const files = await filesIn(whole());
    const folders = [...new Set(files.map((file) => file.split('/')[0] ?? ''))].sort();
    assert.deepEqual(folders, ['RESTORE.md', 'SHA256SUMS', 'crds', 'custom-resources', 'objects', 'secrets', 'uids.tsv']);
    assert.deepEqual(files.filter((file) => file.startsWith('custom-resources/')).sort(), [
      'custom-resources/ClusterInformation.crd.netsvc.io.yaml',
      'custom-resources/IPAMBlock.crd.netsvc.io.yaml',
      'custom-resources/NetworkPolicy.crd.netsvc.io.yaml',
    ]);
    assert.ok(files.includes('crds/CustomResourceDefinition_networkpolicies.crd.netsvc.io.yaml'), files.join('\n'));
    assert.ok(files.includes('objects/ClusterRole_own%3areader.yaml'), files.join('\n'));
    assert.ok(files.includes('objects/DaemonSet_kube-system_netsvc-node.yaml'), files.join('\n'));
  });

  it('read back, are every object that was there, as it can be put back', async () => {
    const files = (await filesIn(whole())).filter((file) => file.endsWith('.yaml'));
    const texts = await Promise.all(files.map((file) => text(whole(), file)));
    const written = texts.flatMap((content, index) => parseManifest(content, files[index] ?? '').documents.map(({ object }) => object));
    const names = (objects: readonly KubeObject[]) => objects.map((one) => refText(refOf(one))).sort();
    assert.deepEqual(names(written), names(installed));
    for (const { metadata, ...rest } of written)
      assert.ok(!('managedFields' in metadata || 'uid' in metadata || 'status' in rest), metadata.name);
    for (const one of RESOURCES) {
      assert.deepEqual(
        written.find(({ kind, metadata }) => kind === one.kind && metadata.name === one.metadata.name),
        one,
      );
    }
  });

  it('have what agents write in one line for each object: there are as many of them as pods', async () => {
    const lines = (await text(whole(), 'custom-resources/IPAMBlock.crd.netsvc.io.yaml')).trimEnd().split('\n');
    assert.deepEqual([lines.length, lines[0], lines[2]], [4, '---', '---']);
  });

  it('have the UIDs of custom resources in a table', async () => {
    const lines = (await text(whole(), 'uids.tsv')).trimEnd().split('\n');
    assert.deepEqual(lines.sort(), [
      'ClusterInformation\t\tdefault\tuid-ClusterInformation/default',
      'IPAMBlock\t\t10-0-0-0-26\tuid-IPAMBlock/10-0-0-0-26',
      'IPAMBlock\t\t10-0-0-64-26\tuid-IPAMBlock/10-0-0-64-26',
      'NetworkPolicy\tshop\tdefault.db\tuid-NetworkPolicy/default.db',
      'NetworkPolicy\tshop\tdefault.web\tuid-NetworkPolicy/default.web',
    ]);
  });

  it('have right sums, each of them', async () => {
    const files = (await filesIn(whole())).filter((file) => file !== 'SHA256SUMS');
    const sums = await Promise.all(
      files.map(
        async (file) =>
          `${createHash('sha256')
            .update(await text(whole(), file))
            .digest('hex')}  ${file}`,
      ),
    );
    assert.deepEqual((await text(whole(), 'SHA256SUMS')).trimEnd().split('\n').sort(), sums.sort());
  });

  for (const path of ['operator', 'chart'] as const)
    it(`tell how far the old release can be restored on the path ${path}, and of no file to apply`, () => {
      const nothing = { definitions: [], customResources: [], packed: [], objects: [], secrets: [] };
      const files = backupFiles(nothing, contextOf(), { path, withSecrets: false, store: undefined });
      const restore = `${files.find(({ name }) => name === 'RESTORE.md')?.content}`;
      for (const row of UNDO.filter(({ paths }) => paths.includes(path))) assert.ok(restore.includes(row.because), row.reached);
      assert.match(restore, /Once the new CRDs are there, from v3\.29 or older, undone by: nothing/);
      assert.deepEqual(commandsUnder(restore, 'To go back to the old release'), []);
    });

  it('tell of a rollback what it leaves, and of no command to go back with: they are in the backup of the upgrade', () => {
    const nothing = { definitions: [], customResources: [], packed: [], objects: [], secrets: [] };
    const upgrade = { runId: 'r', from: RELEASE, to: 'v3.32.1', wrote: ['apply'], startedAt: '2026-01-01T00:00:00Z' };
    const restoreOf = (backup: string | undefined, path: InstallPath = 'manifest') => {
      const takesBack = { ...upgrade, ...(backup === undefined ? {} : { backup }) };
      const context = { ...contextOf({ release: RELEASE }), goal: { release: RELEASE, takesBack } };
      const files = backupFiles(nothing, context, { path, withSecrets: false, store: undefined });
      return `${files.find(({ name }) => name === 'RESTORE.md')?.content}`;
    };
    const restore = restoreOf('/home/anna/backup-1');
    assert.match(restore, /, before the rollback to v3\.26\.4\. It holds what v3\.32\.1 was\.$/m);
    assert.doesNotMatch(restore, /before the upgrade to v3\.26\.4/);
    assert.deepEqual(commandsUnder(restore, 'To go back to the old release'), []);
    assert.match(restore, /`kubectl netsvc-upgrade rollback`[\s\S]* `\/home\/anna\/backup-1`/);
    assert.match(restoreOf(undefined), /the backup that was taken before the upgrade\.$/m);
    assert.doesNotMatch(restoreOf('/home/anna/backup-1', 'operator'), /use the backup/);
  });

  it('promise no rollback of an upgrade that is given a finished file', () => {
    const nothing = { definitions: [], customResources: [], packed: [], objects: [], secrets: [] };
    const restoreOf = (flags: Parameters<typeof contextOf>[0], path: InstallPath) => {
      const files = backupFiles(nothing, contextOf(flags), { path, withSecrets: false, store: undefined });
      return `${files.find(({ name }) => name === 'RESTORE.md')?.content}`;
    };
    const promised = /undone by: `kubectl netsvc-upgrade rollback`/;
    assert.match(restoreOf({}, 'manifest'), promised);
    assert.doesNotMatch(restoreOf({ upgradeFile: 'f' }, 'manifest'), promised);
    assert.match(restoreOf({ upgradeFile: 'f' }, 'manifest'), /undone by: the files of the backup.*A rollback refuses/);
    assert.match(restoreOf({ upgradeFile: 'f' }, 'chart'), promised, 'the chart release has what was yours');
  });

  it('tell how a hold of Typha is removed, where the operator can be kept from it', () => {
    const nothing = { definitions: [], customResources: [], packed: [], objects: [], secrets: [] };
    const restoreOf = (profile: Profile) => {
      const files = backupFiles(nothing, contextOf({}, profile), { path: 'operator', withSecrets: false, store: undefined });
      return `${files.find(({ name }) => name === 'RESTORE.md')?.content}`;
    };
    assert.match(restoreOf(calico), /`unsupported\.operator\.tigera\.io\/ignore`[\s\S]* `kubectl netsvc-upgrade apply --undo`/);
    assert.doesNotMatch(restoreOf(unheld), /apply --undo/);
  });

  it('tell the way back in commands that name only what is in the folder', async () => {
    const restore = await text(whole(), 'RESTORE.md');
    for (const heading of ['To put custom resources', 'To put one other object', 'To put a CRD', 'To go back to the old release']) {
      assert.match(commandsUnder(restore, heading)[0] ?? '', /^kubectl apply --server-side --force-conflicts -f \S+$/, heading);
    }
    const named = [...restore.matchAll(/(?:`| )([\w-]+)\/|`([\w-]+\.tsv|SHA\w+)`/g)].map(([, folder, file]) => folder ?? file);
    assert.ok(named.length > 5, restore);
    const there = (await filesIn(whole())).map((file) => file.split('/')[0]);
    assert.deepEqual(
      [...new Set(named)].filter((name) => !there.includes(name)),
      [],
    );
  });
});

describe('an object that can be put back', () => {
  const kept = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'a',
      namespace: 'b',
      labels: { one: '1' },
      annotations: { [LAST_APPLIED]: '{}', note: 'x' },
      finalizers: ['example.com/wait'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }],
    },
    spec: { clusterIP: '10.0.0.1' },
  };
  const byServer = {
    uid: 'u',
    resourceVersion: '7',
    generation: 2,
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: '2026-01-02T00:00:00Z',
    deletionGracePeriodSeconds: 30,
    selfLink: '/api/v1/namespaces/b/services/a',
    managedFields: [{ manager: 'kubectl', operation: 'Apply' }],
  };

  for (const [field, value] of Object.entries(byServer)) {
    it(`is without metadata.${field}, which a server refuses or ignores`, () => {
      assert.deepEqual(restorable({ ...kept, metadata: { ...kept.metadata, [field]: value } }), kept);
    });
  }

  it('is without its status', () => assert.deepEqual(restorable({ ...kept, status: { loadBalancer: {} } }), kept));

  it('is else what it was', () => assert.deepEqual(restorable(kept), kept));
});

describe('a saved plan with a backup', () => {
  it('holds also where an object more lies in the cluster by then', () => {
    const of = (...names: readonly string[]) =>
      backupEffects.backup.digest({ type: 'backup', folder: 'f', files: names.map((name) => ({ name, content: '' })) });
    assert.deepEqual(of('a.yaml', 'b.yaml'), of('a.yaml'));
  });
});
