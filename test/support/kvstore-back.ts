import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { storedManifests } from '../../src/adapters/stored-bases.ts';
import { documentsText } from '../../src/manifest/manifest.ts';
import { writeYaml } from '../../src/manifest/yaml-rules.ts';
import { differences } from './end-state.ts';
import { readObjects } from './former-state.ts';
import { opened } from './installed-cluster.ts';
import { kvstoreCluster } from './kvstore-cluster.ts';
import { realProgram } from './real-service.ts';
import { installStandIn } from './stand-in-cli.ts';
import { CALICO_TARGET } from './target.ts';
import { assertSucceeded, told } from './upgrade-process.ts';

const FILE = 'calico-etcd.yaml';
const ROOT = '/calico/resources/v3/projectcalico.org/';
const RUN = ['run', '--yes', '--skip', 'cli', '--accept', 'NS-301'] as const;
const KEY = `${ROOT}globalnetworkpolicies/`;
const POLICY = {
  ...{ apiVersion: 'projectcalico.org/v3', kind: 'GlobalNetworkPolicy' },
  ...{ metadata: { name: 'web' }, spec: { selector: 'app == "web"', types: ['Ingress'] } },
};
const NETWORKS = {
  ...{ apiVersion: 'projectcalico.org/v3', kind: 'GlobalNetworkSet' },
  ...{ metadata: { name: 'blocked', labels: { role: 'blocked' } }, spec: { nets: ['192.0.2.0/24'] } },
};

/** The manifest that the program carries, of a release whose file tests do not have. */
async function manifestOf(source: string): Promise<string> {
  const documents = await storedManifests('calico').documentsOf(source, FILE);
  assert.ok(documents, `the program does not carry ${FILE} of ${source}`);
  return documentsText(documents.map((object) => ({ object, text: writeYaml(object), line: 1 })));
}

/** The service's own CLIs of both releases, or neither. */
function realOnes(source: string) {
  const [old, target] = [realProgram('calicoctl', source), realProgram('calicoctl', CALICO_TARGET)];
  return 'program' in old && 'program' in target ? { old: old.program, target: target.program } : undefined;
}

interface StoredPolicy {
  readonly metadata: { readonly name: string };
  readonly spec: unknown;
}

/** That release with a user's objects in the store, on its way there and back. */
export function sweptStore(source: string) {
  return opened(async (endBy) => {
    const real = realOnes(source);
    const text = await manifestOf(source);
    const cluster = await kvstoreCluster(source, FILE, { text, ...(real ? { cli: real.target } : {}) });
    endBy(cluster.stop);
    const { store, plane, bin, config } = cluster;
    // Beside the new one: it is what the cluster is used with in the end.
    const old = join(bin, 'kubectl-calico');
    if (real) await symlink(real.old, old);
    else installStandIn(old, { client: source, generation: 'old' }, { etcd: true });
    const cli = async (program: string, args: readonly string[], input = '') => {
      const { exitCode, stdout, stderr } = await execa(program, [...args, `--config=${config}`], { input, reject: false, timeout: 60_000 });
      assert.equal(exitCode, 0, `${program} ${args.join(' ')}: ${stdout}${stderr}`);
      return stdout;
    };
    const create = (program: string, object: object) =>
      cli(program, ['create', '-f', '-', '--allow-version-mismatch'], JSON.stringify(object));
    const put = (key: string, object: object) => store.put(key, JSON.stringify(object));
    if (real) {
      await create(real.old, POLICY);
      await create(real.old, NETWORKS);
    } else {
      await put(`${KEY}default.web`, { ...POLICY, metadata: { name: 'default.web' } });
      await put(`${ROOT}globalnetworksets/blocked`, NETWORKS);
    }
    const stored = async (): Promise<Readonly<Record<string, unknown>>> =>
      Object.fromEntries(
        [...(await store.list('/calico/'))]
          .filter(([key]) => !key.includes('/clusterinformations/'))
          .map(([key, value]) => [key, asStored(value)]),
      );
    const state = async () => ({ ...(await readObjects(plane.api)), ...(await stored()) });
    const before = await state();
    assert.ok(`${KEY}default.web` in before, Object.keys(before).join());
    return {
      stop: cluster.stop,
      programs: real ? `the real CLIs of ${source} and ${CALICO_TARGET}` : 'a stand-in for the CLIs',
      forward: async () => assertSucceeded(await cluster.upgrade(...RUN)),
      /** As the new controllers do, and a client of the new release writes another one. */
      async rename() {
        const text = (await store.get(`${KEY}default.web`)) ?? assert.fail();
        const policy = JSON.parse(text) as StoredPolicy;
        await put(`${KEY}web`, { ...policy, metadata: { ...policy.metadata, name: 'web' } });
        await store.remove(`${KEY}default.web`);
      },
      /** Nothing is written before it has been put back. */
      async refused() {
        const versions = await cluster.versions();
        const result = await cluster.rollback();
        assert.equal(result.exitCode, 3, told(result));
        assert.match(result.stdout + result.stderr, /× NS-762 .*GlobalNetworkPolicy\/web/, told(result));
        assert.equal(await cluster.versions(), versions);
      },
      /** As the page of that check says. */
      async putBack() {
        if (real) {
          await create(real.old, POLICY);
          await cli(real.target, ['delete', 'globalnetworkpolicy', 'web', '--allow-version-mismatch']);
          return;
        }
        await put(`${KEY}default.web`, { ...POLICY, metadata: { name: 'default.web' } });
        await store.remove(`${KEY}web`);
      },
      /** Everything is as before the upgrade, the old CLI finds what is its, and the next rollback writes nothing. */
      async back() {
        assertSucceeded(await cluster.rollback());
        assert.deepEqual(differences(before, await state()), []);
        if (real)
          assert.match(
            await cli(real.old, ['get', 'globalnetworkpolicy', 'web', '-o', 'yaml', '--allow-version-mismatch']),
            /app == "web"/,
          );
        const again = await cluster.rollback();
        assertSucceeded(again);
        assert.match(again.stdout, /Nothing was changed by this command/);
        assert.deepEqual(differences(before, await state()), []);
      },
    };
  });
}

/** Without what tells only when it was stored. */
function asStored(value: string): unknown {
  if (!value.startsWith('{')) return value;
  const {
    metadata: { name, namespace, labels, annotations } = {},
    spec,
    kind,
  } = JSON.parse(value) as {
    readonly kind?: string;
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly spec?: unknown;
  };
  return { kind, name, namespace, labels, annotations, spec };
}
