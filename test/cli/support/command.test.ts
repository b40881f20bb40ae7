import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import type { Scenario } from '../../../src/sandbox/scenario.ts';
import { emptyFolder } from '../../support/folders.ts';
import { sandboxCommand } from '../../support/sandbox-command.ts';
import { installedSandbox, sandboxReleases } from '../../support/sandbox-ports.ts';

/** Texts of the files in a bundle, by their paths in its one folder. */
function unpacked(file: string): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'netsvc-unpacked-'));
  try {
    assert.equal(spawnSync('tar', ['-xzf', file, '-C', folder]).status, 0);
    const root = join(folder, 'netsvc-upgrade-support');
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
    return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const SECRET = 'hunter2-geheim';
const LOG = `starting\npassword=${SECRET}\nAuthorization: Bearer ${SECRET}\ndial https://me:${SECRET}@etcd:2379\npanic: no route\n`;

/** One agent is crash-looping, and people put passwords where they do not belong. */
function withTrouble({ cluster }: Scenario): string {
  const [pod] = cluster.store.list(K.Pod).filter(({ metadata }) => metadata.name.startsWith('netsvc-node'));
  assert.ok(pod);
  const { status, spec } = pod as unknown as { readonly status: object; readonly spec: { readonly containers: readonly KubeObject[] } };
  const [first] = spec.containers;
  const container = { name: 'netsvc-node', ready: false, restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  const env = [{ name: 'ETCD_PASSWORD', value: SECRET }];
  const broken = {
    ...pod,
    spec: { ...spec, containers: [{ ...first, env }] },
    status: { ...status, conditions: [], containerStatuses: [container] },
  };
  cluster.store.update(K.Pod, broken as unknown as KubeObject);
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'etcd', namespace: 'kube-system' }, stringData: { a: SECRET } };
  cluster.store.insert(K.Secret, secret as unknown as KubeObject);
  const { raw } = cluster;
  Object.assign(cluster, { raw: async (path: string) => (path.includes('/log?') ? LOG : raw(path)) });
  return pod.metadata.name;
}

describe('report --support', () => {
  const folder = emptyFolder('netsvc-support-');
  let file: string;
  let scenario: Scenario;

  beforeEach(async () => {
    file = join(folder, 's.tgz');
    scenario = await installedSandbox({ nodes: 3 });
  });

  it('writes one file of all that can be read, for its owner alone, and changes nothing', async () => {
    const pod = withTrouble(scenario);
    const before = scenario.cluster.faults.writes;
    const bench = sandboxCommand(scenario);
    assert.equal(await bench.run('report', '--support', file), 0, bench.err());
    assert.equal(scenario.cluster.faults.writes, before);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['s.tgz']);
    const files = unpacked(file);
    for (const path of ['index.txt', 'lock.yaml', 'tool.yaml', 'profile.yaml', 'nodes.json', `pods/kube-system/${pod}.yaml`])
      assert.ok(files.has(path), path);
    assert.match(files.get(`logs/kube-system/${pod}/netsvc-node.previous.log`) ?? '', /^starting\n[\s\S]*panic: no route\n$/);
    assert.match(files.get('index.txt') ?? '', /^ {2}record\.json: .*no run of this program is recorded/m);
    assert.match(bench.out(), /^context .*\nno run of this program is recorded on this cluster\n/);
    assert.match(bench.out(), /s\.tgz: \d+ files, \d+ kB, readable by you alone\n/);
    assert.match(
      bench.out(),
      /Look through it before you send it[\s\S]*Nothing was changed[^\n]*\nNext: tar -xzOf \S+s\.tgz \S+index\.txt\n$/,
    );
  });

  it('holds no value of a Secret and nothing that looks like a credential', async () => {
    withTrouble(scenario);
    const bench = sandboxCommand(scenario);
    assert.equal(await bench.run('report', '--support', file), 0);
    const texts = [...unpacked(file).values(), bench.out(), bench.err()];
    assert.ok(texts.some((text) => text.includes('password=(hidden)\nAuthorization: Bearer (hidden)\ndial https://(hidden)@etcd:2379')));
    assert.deepEqual(
      texts.filter((text) => text.includes(SECRET)),
      [],
    );
  });

  it('holds the report in three forms and the record where a run is recorded', async () => {
    const bench = sandboxCommand(scenario);
    assert.equal(await bench.run('run', '--yes', '--manifest-url', sandboxReleases), 0, bench.err());
    assert.equal(await bench.run('report', '--support', file), 0);
    const files = unpacked(file);
    assert.match(bench.out(), /^context .*\nmanifest path, netsvc {3}v3\.26\.4 → v3\.32\.2 {3}3 nodes {3}cluster /m);
    assert.equal((JSON.parse(files.get('report.json') ?? '') as { readonly kind: string }).kind, 'RunReport');
    assert.match(files.get('report.md') ?? '', /^# Run report/);
    assert.match(files.get('report.html') ?? '', /^<!doctype html>/);
    assert.ok((JSON.parse(files.get('record.json') ?? '') as { readonly runId?: string }).runId);
  });

  it('says in its index what this account may not read, and goes on', async () => {
    withTrouble(scenario);
    const { list } = scenario.cluster;
    const refused = async (...[kind, options]: Parameters<typeof list>) => {
      if (kind.plural === 'events') throw new ApiFailure(403, 'Forbidden', 'events is forbidden: User "a" cannot list it');
      return list(kind, options);
    };
    Object.assign(scenario.cluster, { list: refused });
    const bench = sandboxCommand(scenario);
    assert.equal(await bench.run('report', '--support', file), 0);
    const files = unpacked(file);
    assert.match(files.get('index.txt') ?? '', /^ {2}events\/kube-system\.txt: .*may not read it: events is forbidden/m);
    assert.equal(files.has('events/kube-system.txt'), false);
    assert.match(bench.out(), /events\/kube-system\.txt: this account may not read it/);
  });

  it('refuses a file that exists, and a link that leads nowhere, before anything is asked', async () => {
    writeFileSync(file, 'mine');
    symlinkSync('/nowhere/at/all', join(folder, 'link'));
    for (const name of [file, join(folder, 'link')]) {
      const bench = sandboxCommand(scenario);
      Object.assign(bench.seams, { compose: () => assert.fail('the cluster was asked') });
      assert.equal(await bench.run('report', '--support', name), 64);
      assert.match(bench.err(), /--support \S+ exists already/);
    }
    assert.equal(readFileSync(file, 'utf8'), 'mine');
  });

  for (const [what, args, says] of [
    ['a folder', ['--support', '.'], /is a folder/],
    ['a place that is not there', ['--support', '/nowhere/s.tgz'], /there is no folder/],
    ['another form', ['--support', 'x.tgz', '-o', 'json'], /-o json has no place beside it/],
    ['a report file', ['--support', 'x.tgz', '--report-file', 'x.html'], /--report-file has no place beside it/],
    ['a run that there is not', ['nonesuch', '--support', 'x.tgz'], /there is no run nonesuch/],
  ] as const)
    it(`refuses ${what}`, async () => {
      const bench = sandboxCommand(scenario);
      assert.equal(await bench.run('report', ...args), 64);
      assert.match(bench.err(), says);
      assert.equal(existsSync('x.tgz'), false);
    });

  it('leaves no file where it is interrupted', async () => {
    withTrouble(scenario);
    const bench = sandboxCommand(scenario);
    const { list } = scenario.cluster;
    const interrupting = async (...[kind, options]: Parameters<typeof list>) => {
      if (kind.plural === 'events') bench.engine.soft.abort();
      return list(kind, options);
    };
    Object.assign(scenario.cluster, { list: interrupting });
    assert.equal(await bench.run('report', '--support', file), 130);
    assert.deepEqual(readdirSync(folder), []);
  });
});
