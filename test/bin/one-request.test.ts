import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { testFolder } from '../support/folders.ts';
import { putKubectl } from '../support/stand-in-kubectl.ts';
import { type Import, openKubeconfig, type TracedRun, traced } from '../support/traced-process.ts';

const root = join(import.meta.dirname, '..', '..');
const sources = `${pathToFileURL(join(root, 'src')).href}/`;
const sorted = (texts: readonly string[]) => [...new Set(texts)].filter((text) => !text.startsWith('node:')).sort();

/** Ends of paths that exist; everything else is 404. */
const OBJECTS: Readonly<Record<string, unknown>> = {
  '/api/v1/namespaces/kube-system': { kind: 'Namespace', metadata: { name: 'kube-system', uid: 'u-1' } },
};

interface Ran extends TracedRun {
  readonly requests: readonly string[];
}

/** What the shortest commands load and ask: exact, so that what makes them slow cannot come back unseen. */
describe('a command that asks the cluster little', function () {
  this.timeout(30_000);
  const folder = testFolder('netsvc-one-request-');
  let server: Server;
  const asked: string[] = [];
  let connections = 0;
  let kubectl: ReturnType<typeof putKubectl>;
  /** Changes of the environment, for one test. */
  let more: Readonly<Record<string, string>> = {};

  before(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const isList = /\/secrets\?/.test(request.url ?? '');
      const found = isList ? { kind: 'SecretList', apiVersion: 'v1', metadata: {}, items: [] } : OBJECTS[request.url ?? ''];
      response.writeHead(found ? 200 : 404, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(found ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }));
    });
    server.on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(join(folder, 'config'), openKubeconfig(url));
    kubectl = putKubectl(folder);
  });
  after(async () => {
    await new Promise((resolve) => server.close(resolve));
  });

  /** From the sources, so that modules have their names; without another program than kubectl on PATH, so that none can be started. */
  const run = (...args: readonly string[]) => runFrom('src/cli/main.ts', args);

  async function runFrom(entry: string, args: readonly string[]): Promise<Ran> {
    asked.length = 0;
    connections = 0;
    const env = { PATH: folder, HOME: folder, XDG_STATE_HOME: folder, KUBECONFIG: join(folder, 'config'), ...more };
    const ran = await traced(entry, args, env);
    return { ...ran, requests: [...asked] };
  }

  it('does without a work folder where that cannot be written, says so, and leaves nothing behind', async () => {
    const temporary = join(folder, 'temporary');
    mkdirSync(temporary);
    // A file in the way refuses the superuser as well.
    more = { XDG_STATE_HOME: join(folder, 'config'), TMPDIR: temporary };
    const ran = await run('status', '-o', 'json').finally(() => {
      more = {};
    });
    assert.equal(ran.exit, 0, ran.stderr);
    assert.equal(JSON.parse(ran.stdout).kind, 'Status');
    assert.match(ran.stderr, /^Warning: the work folder \S+ cannot be written: .*does without it/);
    assert.deepEqual(
      readdirSync(temporary).filter((name) => name.startsWith('netsvc-upgrade')),
      [],
    );
  });

  /** What our own files import from npm. */
  const packages = (imports: readonly Import[]) =>
    sorted(imports.flatMap(({ importer, specifier }) => (importer.startsWith(sources) && /^[@a-z]/.test(specifier) ? [specifier] : [])));
  /** Files of the rooms of which such a command needs next to nothing. */
  const rooms = (imports: readonly Import[]) =>
    sorted(imports.flatMap(({ url }) => /\/src\/((?:features|engine|manifest|sandbox|report)\/.*)$/.exec(url)?.[1] ?? []));

  const REQUESTS = [
    'GET /api/v1/namespaces/kube-system',
    'GET /api/v1/namespaces/kube-system/secrets/netsvc-upgrade-run',
    'GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/netsvc-upgrade',
  ];

  /** The names of all parts in the whole cluster: none here, so no head is asked for, and none elsewhere. */
  const JOURNAL = ['GET /api/v1/secrets?fieldSelector=type%3Dnetsvc-upgrade%2Fstate&limit=500'];

  const PACKAGES = ['@oclif/core/command', '@oclif/core/run'];
  const ROOMS = ['report/colour.ts', 'report/columns.ts'];

  it('status sends four requests on one connection, starts kubectl for the kubeconfig alone, and loads neither stages nor screens', async () => {
    const before = kubectl.started().length;
    const ran = await run('status', '--profile', 'netsvc');
    assert.deepEqual([ran.exit, ran.stderr], [0, '']);
    assert.deepEqual(kubectl.started().slice(before), ['config view --raw -o json']);
    assert.deepEqual([...ran.requests].sort(), [...REQUESTS, ...JOURNAL].sort());
    assert.equal(connections, 1);
    assert.deepEqual(packages(ran.imports), PACKAGES);
    assert.deepEqual(rooms(ran.imports), ROOMS);
  });

  for (const command of ['status', 'unlock'])
    it(`${command} as it is shipped is three files, none of them oclif's`, async () => {
      const ran = await runFrom('dist/cli/main.js', [command]);
      assert.deepEqual([ran.exit, ran.stderr], [0, '']);
      assert.deepEqual(
        sorted(ran.imports.flatMap(({ url }) => (url === '' ? [] : [url]))).map((url) => url.replace(/^.*\/|-\w{8}(?=\.js$)/g, '')),
        ['cluster.js', 'core.js', 'main.js'],
      );
      assert.deepEqual(
        ran.imports.flatMap(({ url }) =>
          url.startsWith('file:') && /flagUsages|class Parser\b/.test(readFileSync(new URL(url), 'utf8')) ? [url] : [],
        ),
        [],
      );
      // Imported, each would load all that it exports: streams, watchers, web cryptography, worker threads.
      assert.deepEqual(
        ran.imports.flatMap(({ specifier }) => (specifier.startsWith('node:') ? [specifier] : [])),
        [],
      );
      assert.deepEqual(readdirSync(join(folder, 'netsvc-upgrade', 'u-1')), [], 'credentials were written for no program');
    });

  it('unlock as it is shipped has Node load none of its large modules that it can do without', async () => {
    const [preload, list] = [join(folder, 'preload.cjs'), join(folder, 'loaded')];
    writeFileSync(preload, `process.on('exit', () => require('fs').writeFileSync('${list}', process.moduleLoadList.join('\\n')));`);
    const env = { PATH: folder, HOME: folder, XDG_STATE_HOME: folder, KUBECONFIG: join(folder, 'config') };
    const child = spawn(process.execPath, ['--require', preload, join(root, 'dist/cli/main.js'), 'unlock'], { env, stdio: 'ignore' });
    assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0);
    const loaded = new Set(readFileSync(list, 'utf8').split('\n'));
    assert.ok(loaded.has('NativeModule http'), 'it asked the cluster');
    const large = [
      'fs/promises',
      'internal/fs/streams',
      'internal/crypto/webcrypto',
      'worker_threads',
      'perf_hooks',
      'timers/promises',
      'zlib',
    ];
    assert.deepEqual(
      large.filter((name) => loaded.has(`NativeModule ${name}`)),
      [],
    );
  });

  it('the file that every command begins with is small: what it imports is read and compiled each time', () => {
    const { length } = readFileSync(join(root, 'dist', 'cli', 'main.js'));
    assert.ok(length < 16_000, `${length} bytes`);
  });

  it('the table of a run, which status shows, is shipped without oclif', () => {
    const shippedTo = join(root, 'dist', 'cli');
    const seen = new Set<string>();
    const add = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = readFileSync(join(shippedTo, file), 'utf8');
      for (const [, path = ''] of text.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) add(path);
    };
    const table = readdirSync(shippedTo).find((file) => /^table-\w{8}\.js$/.test(file));
    assert.ok(table, 'the table is loaded by import() no more');
    add(table);
    assert.ok(seen.has('core.js'), [...seen].join());
    assert.ok(!seen.has('oclif.js'), [...seen].join());
  });

  /** Shipped files by their names, and how many of them have none of their own. */
  const shipped = (imports: readonly Import[]) => {
    const files = imports.flatMap(({ url }) => (url.startsWith('file:') ? [url.replace(/^.*\/|-\w{8}(?=\.js$)/g, '')] : []));
    return {
      named: sorted(files.filter((file) => file !== 'chunk.js')),
      chunks: new Set(imports.map(({ url }) => url).filter((url) => /\/chunk-\w+\.js$/.test(url))).size,
    };
  };

  for (const [command, named, most] of [
    [['explain', 'NS-001'], ['main.js'], 0],
    [['completion', 'bash'], ['completion-scripts.js', 'core.js', 'main.js', 'oclif.js'], 2],
    [['preflight', '--bogus'], ['core.js', 'fault-end.js', 'main.js', 'oclif.js', 'stages.js'], 18],
  ] as const)
    it(`${command.join(' ')} as it is shipped loads nothing of clusters`, async () => {
      const ran = await runFrom('dist/cli/main.js', command);
      assert.deepEqual(ran.requests, []);
      const { named: found, chunks } = shipped(ran.imports);
      assert.deepEqual(found, named);
      assert.ok(chunks <= most, `${chunks} files without a name of their own`);
    });

  it('unlock of a free lock sends three requests on one connection, and loads no more', async () => {
    const ran = await run('unlock');
    assert.deepEqual([ran.exit, ran.stderr], [0, '']);
    assert.deepEqual([...ran.requests].sort(), [...REQUESTS].sort());
    assert.equal(connections, 1);
    assert.deepEqual(packages(ran.imports), PACKAGES);
    assert.deepEqual(rooms(ran.imports), ROOMS);
  });
});
