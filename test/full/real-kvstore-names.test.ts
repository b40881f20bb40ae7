import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { storedManifests } from '../../src/adapters/stored-bases.ts';
import { readBehindCli } from '../../src/features/going-back/behind-cli.ts';
import { readUnread } from '../../src/features/going-back/unread.ts';
import type { Context } from '../../src/kernel/context.ts';
import type { Installation } from '../../src/kernel/installation.ts';
import type { Sources } from '../../src/kernel/ports.ts';
import { calico } from '../../src/profiles/calico.ts';
import { type KeyValueStore, startKeyValueStore } from '../control-plane/kvstore.ts';
import { contextOf, installation } from '../fixtures/facts.ts';
import { cliConfiguration } from '../support/kvstore-cluster.ts';
import { CLI_CONFIG, kvstoreSources } from '../support/kvstore-sources.ts';
import { describeWhere } from '../support/needs.ts';
import { realProgram } from '../support/real-service.ts';
import { information, standInState } from '../support/stand-in-cli-state.ts';

const [OLD, NEW] = ['v3.27.5', 'v3.32.1'];
const [old, target] = [realProgram('calicoctl', OLD), realProgram('calicoctl', NEW)];
const problem = [old, target].flatMap((one) => ('missing' in one ? [one.missing] : []))[0];
const INFORMATION = '/calico/resources/v3/projectcalico.org/clusterinformations/default';

const policy = (kind: string, name: string, namespace?: string) =>
  JSON.stringify({
    ...{ apiVersion: 'projectcalico.org/v3', kind, metadata: { name, ...(namespace ? { namespace } : {}) } },
    spec: { selector: 'all()', types: ['Ingress'] },
  });

/** What the service's own CLIs of two releases store, and what of it the old release would not find. */
describeWhere(problem, 'policies in a real key-value store, by the real CLIs', function () {
  this.timeout(120_000);
  const folder = mkdtempSync(join(tmpdir(), 'real-kvstore-'));
  const config = join(folder, 'calicoctl.cfg');
  let store: KeyValueStore;
  before(async () => {
    store = await startKeyValueStore();
    await writeFile(config, await cliConfiguration(folder, store));
    const said = information({ calicoVersion: NEW, clusterType: 'k8s', datastoreReady: true });
    await store.put(INFORMATION, JSON.stringify({ kind: 'ClusterInformation', apiVersion: 'projectcalico.org/v3', ...said }));
  });
  after(async () => {
    await store?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (program: string, args: readonly string[], input = '') =>
    execa(program, [...args.filter((one) => !one.startsWith('--config')), `--config=${config}`], { input, reject: false, timeout: 30_000 });
  const create = async (of: typeof old, text: string) => {
    assert.ok('program' in of);
    const { exitCode, stderr } = await run(of.program, ['create', '-f', '-', '--allow-version-mismatch'], text);
    assert.equal(exitCode, 0, stderr);
  };

  function seen() {
    assert.ok('program' in target);
    const { program } = target;
    const usual = kvstoreSources(standInState());
    const sources: Sources = {
      ...usual,
      files: { ...usual.files, exists: async (path) => path === CLI_CONFIG, readText: async () => readFileSync(config, 'utf8') },
      tools: {
        ...usual.tools,
        which: async (name) => (name === 'calicoctl' ? [program] : []),
        run: async ({ args, stdin }) => {
          const { exitCode, stdout, stderr } = await run(program, args, stdin);
          return { exitCode, stdout, stderr, durationMs: 1 };
        },
      },
    };
    const takesBack = { runId: 'r', from: OLD, to: NEW, wrote: ['apply'], startedAt: '2026-01-01T00:00:00Z' };
    const context: Context = { ...contextOf({ release: OLD }, calico), goal: { release: OLD, takesBack }, intent: { kind: 'rollback' } };
    const there: Installation = { ...installation, path: 'kvstore', datastore: 'kvstore', release: NEW };
    return [sources, context, there] as const;
  }

  async function read() {
    const { names } = await readBehindCli(...seen());
    assert.ok('value' in names && names.value, JSON.stringify(names));
    const text = ({ object: { kind, name }, detail }: { object: { kind: string; name: string }; detail: string }) =>
      `${kind}/${name}: ${detail}`;
    return [...names.value.unnameable, ...names.value.conflicts].map(text).toSorted();
  }

  it('are found where the old one stored them, and named where the new one did', async () => {
    await create(old, policy('GlobalNetworkPolicy', 'web'));
    await create(old, policy('NetworkPolicy', 'web', 'shop'));
    assert.deepEqual(await read(), []);
    await create(target, policy('GlobalNetworkPolicy', 'new'));
    await create(target, policy('NetworkPolicy', 'new', 'shop'));
    assert.deepEqual(await read(), [
      'GlobalNetworkPolicy/new: it is not stored as default.new',
      'NetworkPolicy/new: it is not stored as default.new',
    ]);
    await create(old, policy('GlobalNetworkPolicy', 'new'));
    assert.deepEqual(await read(), [
      `GlobalNetworkPolicy/new: stored twice, and ${OLD} finds default.new alone`,
      'NetworkPolicy/new: it is not stored as default.new',
    ]);
  });

  it('and every field are defined by the old release, but for what only the new one knows', async () => {
    const pool = (name: string, cidr: string, more: object) =>
      JSON.stringify({
        apiVersion: 'projectcalico.org/v3',
        kind: 'IPPool',
        metadata: { name },
        spec: { cidr, natOutgoing: true, ...more },
      });
    const settings = { apiVersion: 'projectcalico.org/v3', kind: 'FelixConfiguration', metadata: { name: 'default' } };
    await create(old, pool('usual', '10.0.0.0/16', { ipipMode: 'CrossSubnet' }));
    await create(old, JSON.stringify({ ...settings, spec: { bpfLogLevel: '', reportingInterval: '0s' } }));
    await create(target, pool('late', '10.1.0.0/16', { assignmentMode: 'Manual' }));
    const [sources, ...around] = seen();
    const unread = await readUnread({ ...sources, stored: storedManifests('calico') }, ...around);
    assert.ok('value' in unread, JSON.stringify(unread));
    assert.deepEqual(
      unread.value?.map(({ object: { kind, name }, detail }) => `${kind}/${name}: ${detail}`),
      ['IPPool/late: assignmentMode'],
    );
  });
});
