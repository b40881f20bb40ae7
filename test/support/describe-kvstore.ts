import assert from 'node:assert/strict';
import { assertWritesNothing, shared } from './installed-cluster.ts';
import { INFORMATION, type KvstoreCluster, kvstoreCluster } from './kvstore-cluster.ts';
import { manifestFile } from './releases.ts';
import { CALICO_TARGET } from './target.ts';
import { assertSucceeded, told, untilSaid } from './upgrade-process.ts';

export interface KvstoreCase {
  readonly release: string;
  readonly file: 'calico-etcd.yaml' | 'canal-etcd.yaml';
  readonly config: string;
  readonly agent: string;
}

const RUN = ['run', '--yes', '--skip', 'cli'] as const;

/** What is told of the same cluster before the upgrade and after it. */
interface Around {
  readonly first: (cluster: KvstoreCluster) => void;
  readonly last: (cluster: KvstoreCluster) => void;
}

/** Procedure D from one release: a run that is killed, its continuation, and nothing lost. */
export function describeKvstore({ release, file, config, agent }: KvstoreCase, around?: Around): void {
  describe(`procedure D with a real key-value store: ${file} of ${release}`, () => {
    const cluster = shared(() => kvstoreCluster(release, file));
    let secret: string;
    before(async () => {
      secret = await cluster.secret();
      assert.match(secret, /etcd-key/);
    });

    around?.first(cluster);

    it('is killed in the middle, run again, and ends at the target with endpoints, certificates and every edit', async () => {
      const child = cluster.start(...RUN, '-v=1');
      await untilSaid(child, new RegExp(`${agent} node-\\d+ (updating|new) `));
      child.kill('SIGKILL');
      const first = await child;
      assert.equal(first.signal, 'SIGKILL', `it was at its end before: ${first.stderr}`);
      const result = await cluster.upgrade(...RUN);
      assertSucceeded(result);
      assert.equal(await cluster.secret(), secret);
      const settings = await cluster.read(
        `cm -n kube-system ${config}`,
        '{.data.etcd_endpoints} {.data.etcd_ca} {.data.etcd_cert} {.data.etcd_key}',
      );
      assert.equal(settings, `${cluster.store.endpoint} /calico-secrets/etcd-ca /calico-secrets/etcd-cert /calico-secrets/etcd-key`);
      assert.equal(await cluster.store.get('/calico/ipam/v2/handle/kept'), 'yes');
      assert.match((await cluster.store.get(INFORMATION)) ?? '', /v3\.32\.1/);
      const key = Buffer.from(cluster.store.client.key).toString('base64');
      for (const said of [first.stdout, first.stderr, result.stdout, result.stderr]) assert.ok(!said.includes(key), 'a key was shown');
    });

    it('a second run writes nothing', async () => {
      await assertWritesNothing(cluster, () => cluster.upgrade(...RUN));
      assert.equal(await cluster.secret(), secret);
    });

    around?.last(cluster);
  });
}

/** Refusals that write nothing. */
export function describeRefusals(cluster: KvstoreCluster): void {
  async function refuses(id: string, ...args: readonly string[]): Promise<void> {
    const before = await cluster.versions();
    const secret = await cluster.secret();
    // Whoever asks beforehand is told the same.
    for (const command of [['preflight'], RUN]) {
      const result = await cluster.upgrade(...command, ...args);
      assert.notEqual(result.exitCode, 0, told(result));
      assert.match(result.stdout + result.stderr, new RegExp(`× ${id} `), told(result));
    }
    assert.deepEqual(await cluster.versions(), before);
    assert.equal(await cluster.secret(), secret);
  }

  it('refuses the release’s own file, which holds a placeholder and an empty Secret, and writes nothing', async () => {
    await refuses('NS-209', '--upgrade-file', manifestFile(CALICO_TARGET, 'calico-etcd.yaml'));
    await refuses('NS-211', '--upgrade-file', manifestFile(CALICO_TARGET, 'calico-etcd.yaml'));
  });

  it('says that a store out of reach was not checked, and refuses one that does not take the certificates', async () => {
    const away = await cluster.upgrade('plan', '--kvstore-endpoints', 'https://127.0.0.1:1');
    assert.match(away.stdout, /was not checked: it cannot be reached from here/, told(away));
    const { plane, store } = cluster;
    const patch = (cert: string, key: string) =>
      plane.kubectl([
        ...['patch', 'secret', '-n', 'kube-system', 'calico-etcd-secrets', '-p'],
        JSON.stringify({ stringData: { 'etcd-cert': cert, 'etcd-key': key } }),
      ]);
    await patch(store.stranger.certificate, store.stranger.key);
    await refuses('NS-212');
    await patch(store.client.certificate, store.client.key);
  });
}
