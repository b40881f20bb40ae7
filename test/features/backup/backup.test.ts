import assert from 'node:assert/strict';
import { backupStage } from '../../../src/features/backup/stage.ts';
import { storeBackup } from '../../../src/features/backup/store.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { Profile } from '../../../src/kernel/profile.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { applyBench, installedClientSide } from '../../support/apply-bench.ts';
import { configMap } from '../../support/calico-objects.ts';

const CERTIFICATES = { etcd_ca: '/calico-secrets/etcd-ca', etcd_cert: '/calico-secrets/etcd-cert', etcd_key: '/calico-secrets/etcd-key' };
const SNAPSHOT = 'ETCDCTL_API=3 etcdctl snapshot save store.db';
const TLS = '--cacert=/calico-secrets/etcd-ca --cert=/calico-secrets/etcd-cert --key=/calico-secrets/etcd-key';

async function planOf(file: string, edit = (object: KubeObject): KubeObject => object) {
  const { sources, context } = applyBench((await installedClientSide('v3.26.4', file)).map(edit));
  const plan = (await backupStage.open(sources, context)).plan();
  assert.ok('actions' in plan);
  const { effect } = plan.actions[0] ?? {};
  assert.ok(effect?.type === 'backup');
  return { notes: plan.notes ?? [], restore: effect.files.find(({ name }) => name === 'RESTORE.md')?.content ?? '' };
}

/** As it is installed: the release's own file holds a placeholder. */
function withEndpoints(object: KubeObject): KubeObject {
  const data = object.data as Readonly<Record<string, string>> | undefined;
  return data?.kvstore_endpoints === undefined ? object : { ...object, data: { ...data, kvstore_endpoints: 'http://10.0.0.9:2379' } };
}

describe('backup of a key-value installation', () => {
  it('says in the plan and in RESTORE.md that the data of the service is not in it, and where it is', async () => {
    const { notes, restore } = await planOf('netsvc-kvstore.yaml', withEndpoints);
    assert.match(notes.join(), /in the key-value store, and not in this backup; take a snapshot of it with its own tools first/);
    assert.match(
      restore,
      /0 custom resources[\s\S]*## The data of the service is not in this folder[\s\S]*## To put custom resources back/,
    );
    assert.match(restore, /Take a snapshot with the store's own tools \(installed: http:\/\/10\.0\.0\.9:2379\)/);
    assert.match(restore, /^ {4}netsvcctl get KIND -o yaml > KIND\.yaml$/m);
  });

  it('says nothing of the kind with the API datastore', async () => {
    const { notes, restore } = await planOf('netsvc.yaml');
    assert.deepEqual(notes, []);
    assert.doesNotMatch(restore, /The data of the service/);
  });
});

describe('backup of kinds that the target no longer acts on', () => {
  const removed = { group: 'policy.example.io', plural: 'clusterrules', kind: 'ClusterRule', since: 'v3.32.0', replacement: 'OtherRule' };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'clusterrules.policy.example.io' },
    spec: { group: removed.group, scope: 'Cluster', names: { kind: removed.kind, plural: removed.plural }, versions: [] },
  };
  const rule = { apiVersion: 'policy.example.io/v1', kind: 'ClusterRule', metadata: { name: 'deny-all' }, spec: { order: 1 } };

  async function filesWith(profile: Profile): Promise<readonly string[]> {
    const { sources, context } = applyBench([...(await installedClientSide('v3.26.4')), definition, rule], { profile });
    const plan = (await backupStage.open(sources, context)).plan();
    const effect = 'actions' in plan ? plan.actions[0]?.effect : undefined;
    assert.ok(effect?.type === 'backup');
    return effect.files.filter(({ content }) => /ClusterRule/.test(content ?? '')).map(({ name }) => name);
  }

  it('has their objects and their CRD, foreign though the group is', async () => {
    assert.deepEqual(await filesWith({ ...netsvc, removedKinds: [removed] }), [
      'crds/CustomResourceDefinition_clusterrules.policy.example.io.yaml',
      'custom-resources/ClusterRule.policy.example.io.yaml',
      'uids.tsv',
    ]);
  });

  it('leaves other foreign kinds to their owners', async () => {
    assert.deepEqual(await filesWith(netsvc), []);
  });
});

describe('what is to be saved of a key-value store', () => {
  const of = (data: Readonly<Record<string, string>>, profile: Profile = calico) => storeBackup([configMap(data)], profile);

  it('is a snapshot of one installed endpoint, with the certificates by their paths', () => {
    const { note, section } = of({ etcd_endpoints: 'https://10.0.0.1:2379,https://10.0.0.2:2379', ...CERTIFICATES });
    const command = `${SNAPSHOT} --endpoints=https://10.0.0.1:2379 ${TLS}`;
    assert.ok(note.includes(`take a snapshot of it first: ${command} (`), note);
    assert.ok(section.includes(`\n    ${command}\n`), section);
    assert.match(section, /installed: https:\/\/10\.0\.0\.1:2379, https:\/\/10\.0\.0\.2:2379/);
    assert.match(section, /from the Secret kube-system\/calico-etcd-secrets/);
  });

  it('is a file per kind, of all namespaces where a kind has them', () => {
    const { section } = of({ etcd_endpoints: 'http://10.0.0.1:2379' });
    assert.match(section, /^ {4}for kind in bgpconfigurations .*; do calicoctl get \$kind -o yaml > \$kind\.yaml; done$/m);
    assert.match(section, /^ {4}for kind in networkpolicies .*; do calicoctl get \$kind --all-namespaces -o yaml > \$kind\.yaml; done$/m);
  });

  it('has no flags of certificates where none are set', () => {
    assert.match(of({ etcd_endpoints: 'http://10.0.0.1:2379', etcd_ca: '' }).note, /--endpoints=http:\/\/10\.0\.0\.1:2379 \(/);
  });

  it('never holds a key, or credentials in an address', () => {
    const pem = '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----';
    const { note, section } = of({ etcd_endpoints: 'https://me:secret@10.0.0.1:2379', ...CERTIFICATES, etcd_key: pem });
    assert.doesNotMatch(note + section, /MIIE|PRIVATE|secret@/);
    assert.ok(note.includes('--endpoints=ENDPOINT') && note.includes('--key=FILE'), note);
  });

  it('is told without the endpoints where no ConfigMap names them', () => {
    assert.match(of({}).note, /--endpoints=ENDPOINT \(/);
    assert.match(of({}, netsvc).section, /with the store's own tools\./);
  });
});
