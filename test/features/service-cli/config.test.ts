import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { wantedConfig } from '../../../src/features/service-cli/config.ts';
import { findServiceCli } from '../../../src/features/service-cli/service-cli.ts';
import { cliStage } from '../../../src/features/service-cli/stage.ts';
import type { Context } from '../../../src/kernel/context.ts';
import type { Profile } from '../../../src/kernel/profile.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, object } from '../../fixtures/facts.ts';
import { type CliBench, cliBench, versionText } from '../../support/cli-bench.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const TO = '/home/me/calicoctl.cfg';
const CURRENT: CliBench = {
  folders: ['/home/me'],
  path: { calicoctl: ['/b/calicoctl'] },
  prints: { '/b/calicoctl': versionText(CALICO_TARGET) },
};
const asked = (profile: Profile = calico): Context => ({ ...contextOf({ cliConfig: TO }, profile), kubeconfig: '/home/me/.kube/config' });
const settings = (data: object) => object('v1', 'ConfigMap/kube-system/calico-config', { data });
const TLS = { etcd_ca: '/calico-secrets/etcd-ca', etcd_cert: '/calico-secrets/etcd-cert', etcd_key: '/calico-secrets/etcd-key' };

const forStore = (data: object, profile?: Profile) =>
  wantedConfig(cliBench({ ...CURRENT, objects: [settings(data)] }).sources, asked(profile), 'kvstore');

async function missing(wanted: ReturnType<typeof wantedConfig>): Promise<string> {
  const found = await wanted;
  assert.ok(found && 'missing' in found, JSON.stringify(found));
  return found.missing;
}

describe('the configuration of the service’s CLI', () => {
  it('is written where the person says, also where no CLI is to be replaced', async () => {
    const plan = (await cliStage.open(cliBench(CURRENT).sources, asked())).plan();
    assert.ok('actions' in plan, JSON.stringify(plan));
    assert.deepEqual(
      plan.actions.map(({ id }) => id),
      ['config', 'configure', 'elsewhere'],
    );
    const [{ effect }, advice] = [plan.actions[0] ?? assert.fail(), plan.actions[1]?.effect];
    assert.ok(effect.type === 'write-cli-config');
    assert.equal(effect.to, TO);
    assert.deepEqual(parse(effect.content), {
      apiVersion: 'projectcalico.org/v3',
      kind: 'CalicoAPIConfig',
      metadata: null,
      spec: { datastoreType: 'kubernetes', kubeconfig: '/home/me/.kube/config' },
    });
    assert.match(
      String(advice?.type === 'ask' ? advice.instruction : ''),
      /^give each of its commands the file: calicoctl get nodes --config=\/home\/me\/calicoctl\.cfg$/,
    );
  });

  it('of a person is never written over, and one that is there is nothing to do', async () => {
    const { sources } = cliBench({ ...CURRENT, files: { [TO]: 'spec:\n  datastoreType: kubernetes\n' } });
    assert.equal(await wantedConfig(sources, asked(), 'api'), undefined);
    const plan = (await cliStage.open(sources, asked())).plan();
    assert.ok('skip' in plan, JSON.stringify(plan));
  });

  it('is not written unless it is asked for', async () => {
    assert.equal(await wantedConfig(cliBench(CURRENT).sources, contextOf(), 'api'), undefined);
  });

  it('is left to the person where no kubeconfig file leads here by itself', async () => {
    const plan = (await cliStage.open(cliBench(CURRENT).sources, contextOf({ cliConfig: TO }))).plan();
    assert.ok('actions' in plan);
    const [first] = plan.actions;
    assert.ok(first?.effect.type === 'ask' && first.effect.awaited);
    assert.match(
      String(first.effect.instruction),
      /calicoctl\.cfg is not written: no single kubeconfig file leads to this cluster by itself/,
    );
  });

  it('takes the endpoints from the cluster, and names a file of its own for each certificate', async () => {
    const wanted = await forStore({ etcd_endpoints: 'https://10.0.0.1:2379', ...TLS });
    assert.ok(wanted && 'to' in wanted, JSON.stringify(wanted));
    assert.deepEqual(parse(wanted.content).spec, {
      datastoreType: 'etcdv3',
      etcdEndpoints: 'https://10.0.0.1:2379',
      etcdCACertFile: `${TO}.etcd-ca`,
      etcdCertFile: `${TO}.etcd-cert`,
      etcdKeyFile: `${TO}.etcd-key`,
    });
    assert.deepEqual(wanted.certificates, {
      secret: { apiVersion: 'v1', kind: 'Secret', name: 'calico-etcd-secrets', namespace: 'kube-system' },
      files: { [`${TO}.etcd-ca`]: 'etcd-ca', [`${TO}.etcd-cert`]: 'etcd-cert', [`${TO}.etcd-key`]: 'etcd-key' },
    });
  });

  it('needs no certificates where the store has none', async () => {
    const wanted = await forStore({ etcd_endpoints: 'http://10.0.0.1:2379', etcd_ca: '', etcd_cert: '', etcd_key: '' });
    assert.ok(wanted && 'to' in wanted && wanted.certificates === undefined, JSON.stringify(wanted));
  });

  it('repeats no endpoints that are none: they may hold credentials', async () => {
    const said = await missing(forStore({ etcd_endpoints: 'https://me:secret@10.0.0.1:2379' }));
    assert.equal(said, 'etcd_endpoints of the cluster holds no endpoints that can be used');
  });

  it('says what it could not find out', async () => {
    assert.match(await missing(forStore({})), /no ConfigMap has etcd_endpoints/);
    const { sources } = cliBench({ ...CURRENT, cluster: { refuses: { configmaps: 403 } } });
    assert.match(await missing(wantedConfig(sources, asked(), 'kvstore')), /the endpoints could not be read: .*403/);
    const { config: _, ...cli } = calico.cli;
    assert.match(
      await missing(forStore({ etcd_endpoints: 'http://10.0.0.1:2379' }, { ...calico, cli })),
      /the profile does not say how it is written/,
    );
  });

  describe('of certificates that are files of the hosts', () => {
    const HOST = { etcd_ca: '/etc/etcd/ca.pem', etcd_cert: '/etc/etcd/cert.pem', etcd_key: '/etc/etcd/key.pem' };
    const spec = {
      template: {
        spec: {
          volumes: [{ name: 'pki', hostPath: { path: '/etc/etcd' } }],
          containers: [{ name: 'calico-node', volumeMounts: [{ name: 'pki', mountPath: '/etc/etcd' }] }],
        },
      },
    };
    const objects = [
      settings({ etcd_endpoints: 'https://10.0.0.1:2379', ...HOST }),
      object('apps/v1', 'DaemonSet/kube-system/calico-node', { spec }),
    ];

    it('names them where they are, on a host that has them', async () => {
      const files = Object.fromEntries(Object.values(HOST).map((path) => [path, 'PEM']));
      const wanted = await wantedConfig(cliBench({ ...CURRENT, objects, files }).sources, asked(), 'kvstore');
      assert.ok(wanted && 'content' in wanted, JSON.stringify(wanted));
      const { etcdCACertFile, etcdCertFile, etcdKeyFile } = parse(wanted.content).spec;
      assert.deepEqual([etcdCACertFile, etcdCertFile, etcdKeyFile], Object.values(HOST));
      assert.equal(wanted.certificates, undefined);
    });

    it('is left to the person on any other machine', async () =>
      assert.match(
        await missing(wantedConfig(cliBench({ ...CURRENT, objects }).sources, asked(), 'kvstore')),
        /files of the hosts, and this machine has no \/etc\/etcd\/ca\.pem: run this on a host/,
      ));
  });

  it('is left to the person where its folder is not there or may not be written, and where the certificates may not be read', async () => {
    const of = (bench: CliBench, datastore: 'api' | 'kvstore' = 'api') =>
      missing(wantedConfig(cliBench({ ...CURRENT, ...bench }).sources, asked(), datastore));
    assert.equal(await of({ folders: [] }), '/home/me is not a folder: make it first');
    assert.equal(await of({ writable: [] }), '/home/me may not be written by this user');
    const objects = [settings({ etcd_endpoints: 'https://10.0.0.1:2379', ...TLS })];
    assert.match(
      await of({ objects, cluster: { denies: ({ resource }) => resource === 'secrets' } }, 'kvstore'),
      /^this user may not read Secret\/kube-system\/calico-etcd-secrets, which holds/,
    );
  });

  it('is the one that the CLI is called with in key-value mode, and never on the API datastore: its kubeconfig may mean another cluster by then', async () => {
    const bench = (type: string): CliBench => ({
      ...CURRENT,
      files: { [TO]: `spec:\n  datastoreType: ${type}\n  etcdEndpoints: https://a:2379\n` },
      prints: { ...CURRENT.prints, '/b/calicoctl get': '{"spec":{"clusterGUID":"abc"}}' },
      objects: [settings({ etcd_endpoints: 'https://a:2379' })],
    });
    const called = (type: string, datastore: 'api' | 'kvstore') => findServiceCli(cliBench(bench(type)).sources, asked(), datastore);
    const inStore = await called('etcdv3', 'kvstore');
    assert.deepEqual('args' in inStore && [inStore.program, inStore.args, inStore.store?.guid], [
      '/b/calicoctl',
      [`--config=${TO}`],
      'abc',
    ]);
    assert.deepEqual(await called('kubernetes', 'api'), { program: '/b/calicoctl', args: [] });
  });
});
