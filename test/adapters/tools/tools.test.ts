import assert from 'node:assert/strict';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathCandidates } from '../../../src/adapters/tools/files-of.ts';
import { openTools } from '../../../src/adapters/tools/tools.ts';
import type { Trace } from '../../../src/adapters/trace.ts';
import { testFolder } from '../../support/folders.ts';

describe('programs', () => {
  const folder = testFolder('tools with space-');

  async function program(name: string, script: string): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
    return file;
  }

  const tools = (env: Record<string, string> = {}, trace?: Trace, cut?: AbortSignal) =>
    openTools({
      trace,
      cut,
      kubeconfigPath: '/private/kubeconfig',
      env: { PATH: `${folder}:/usr/bin:/bin`, ...env },
      programs: { kubectl: 'kubectl', helm: 'helm', netsvcctl: 'calicoctl' },
      cliEnvironment: ['DATASTORE_TYPE', 'ETCD_ENDPOINTS'],
      requestTimeout: '30s',
    });

  it('pins kubectl to the private kubeconfig, by flag and by environment', async () => {
    await program('kubectl', 'printf "%s\\n" "$KUBECONFIG" "$@"');
    const { stdout, exitCode } = await tools({ KUBECONFIG: '/somebody/elses' }).run({
      tool: 'kubectl',
      args: ['get', '-l', 'a b; rm x'],
    });
    assert.equal(exitCode, 0);
    assert.equal(stdout, '/private/kubeconfig\n--kubeconfig=/private/kubeconfig\n--request-timeout=30s\nget\n-l\na b; rm x\n');
  });

  it("gives the service's CLI one datastore and nothing that leads elsewhere", async () => {
    await program('calicoctl', 'env | grep -E "DATASTORE|ETCD|KUBECONFIG|MINE" | sort; echo "$@"');
    const stray = { ETCD_ENDPOINTS: 'http://x', CALICO_ETCD_ENDPOINTS: 'http://y', CALICO_DATASTORE_TYPE: 'etcdv3', MINE: '1' };
    const { stdout } = await tools(stray).run({ tool: 'netsvcctl', args: ['version'] });
    assert.equal(stdout, 'DATASTORE_TYPE=kubernetes\nKUBECONFIG=/private/kubeconfig\nMINE=1\nversion\n');
  });

  it('sends helm to no other cluster, user or namespace, and to other releases only by its own command', async () => {
    const file = await program('helm', 'env | grep -E "HELM|KUBECONFIG" | sort; echo "$@"');
    const stray = {
      HELM_KUBEAPISERVER: 'https://x',
      HELM_KUBECONTEXT: 'y',
      HELM_NAMESPACE: 'z',
      HELM_DRIVER: 'sql',
      HELM_CACHE_HOME: '/c',
    };
    const run = { tool: 'helm', args: ['version'], env: { HELM_DRIVER: 'configmap' } } as const;
    const { stdout } = await tools(stray).run(run);
    await rm(file);
    const kept = 'HELM_CACHE_HOME=/c\nHELM_DRIVER=configmap\nKUBECONFIG=/private/kubeconfig\n';
    assert.equal(stdout, `${kept}--kubeconfig=/private/kubeconfig version\n`);
  });

  it('gives a program without use for the cluster no way to it: no kubeconfig, not the user’s, not the pod’s', async () => {
    const file = await program('helm', 'cat "$KUBECONFIG"; env | grep -E "HELM|KUBE" | sort; echo "$@"');
    const stray = {
      KUBECONFIG: '/mine',
      HELM_KUBECONTEXT: 'y',
      HELM_KUBETOKEN: 't',
      KUBERNETES_SERVICE_HOST: '10.0.0.1',
      KUBERNETES_PORT: 'x',
    };
    const { stdout } = await tools(stray).run({ tool: 'helm', args: ['template'], withoutCluster: true });
    await rm(file);
    assert.equal(stdout, 'KUBECONFIG=/dev/null\n--kubeconfig=/dev/null template\n');
  });

  it('reports exit code and streams, line by line as well', async () => {
    const file = await program('two', 'echo out; echo err >&2; exit 3');
    const lines: string[] = [];
    const result = await tools().run(
      { tool: 'kubectl', args: [] },
      { program: file, onLine: (line, stream) => lines.push(`${stream} ${line}`) },
    );
    assert.deepEqual([result.exitCode, result.stdout, result.stderr, result.problem], [3, 'out\n', 'err\n', undefined]);
    assert.deepEqual(lines.sort(), ['stderr err', 'stdout out']);
  });

  it('tells a person who wants to see it what was run, and how it ended', async () => {
    await program('kubectl', 'exit 3');
    const lines: string[] = [];
    await tools({}, { level: 1, say: (line) => lines.push(line.replace(/\d+ milliseconds/, '… milliseconds')) }).run({
      tool: 'kubectl',
      args: ['get', '-l', 'a b'],
    });
    assert.deepEqual(lines, ["kubectl --kubeconfig=/private/kubeconfig --request-timeout=30s get -l 'a b': exit 3 in … milliseconds"]);
  });

  it('hands over standard input', async () => {
    const file = await program('reads', 'cat');
    assert.equal((await tools().run({ tool: 'kubectl', args: [], stdin: 'kind: A' }, { program: file })).stdout, 'kind: A');
  });

  it('tells a program that is missing, takes too long, or is stopped', async () => {
    const slow = await program('slow', 'sleep 30');
    assert.equal((await tools().run({ tool: 'helm', args: [] })).problem, 'not-found');
    assert.equal((await tools().run({ tool: 'kubectl', args: [] }, { program: slow, timeoutMs: 50 })).problem, 'timed-out');
    const abort = new AbortController();
    const running = tools().run({ tool: 'kubectl', args: [] }, { program: slow, signal: abort.signal });
    abort.abort();
    assert.equal((await running).problem, 'cancelled');
  });

  it('ends a program that only looks at Ctrl-C, and takes it for no answer', async () => {
    const slow = await program('slow', 'sleep 30');
    const cut = new AbortController();
    const running = tools({}, undefined, cut.signal).run({ tool: 'kubectl', args: [] }, { program: slow });
    setTimeout(() => cut.abort(), 50);
    await assert.rejects(running, { code: 'interrupted' });
  });

  it('starts no program of the current folder, whatever PATH says of it, but the file that it finds, by its whole path', async () => {
    const [here, elsewhere] = [join(folder, 'current'), join(folder, 'proper')];
    for (const [place, says] of [
      [here, 'the current folder'],
      [elsewhere, 'PATH'],
    ] as const) {
      await mkdir(place, { recursive: true });
      await writeFile(join(place, 'kubectl'), `#!/bin/sh\necho ${says} "$0"\n`, { mode: 0o755 });
    }
    const before = process.cwd();
    process.chdir(here);
    try {
      const asked = (PATH: string) => tools({ PATH }).run({ tool: 'kubectl', args: [] });
      assert.equal((await asked(`.::${elsewhere}:/usr/bin:/bin`)).stdout, `PATH ${join(elsewhere, 'kubectl')}\n`);
      assert.equal((await asked('.::/nowhere')).problem, 'not-found');
    } finally {
      process.chdir(before);
    }
  });

  it('finds every executable of a name on PATH once', async () => {
    const other = join(folder, 'other');
    await mkdir(other);
    const first = await program('found', 'true');
    await symlink(first, join(other, 'found'));
    await writeFile(join(other, 'plain'), '');
    const both = openTools({
      kubeconfigPath: 'k',
      env: { PATH: `${other}:${folder}` },
      programs: { kubectl: 'k', helm: 'h', netsvcctl: 'n' },
      cliEnvironment: [],
    });
    assert.deepEqual(await both.which('found'), [join(other, 'found')]);
    assert.deepEqual(await both.which('plain'), []);
    assert.deepEqual(await both.which('nowhere'), []);
  });
});

describe('pathCandidates', () => {
  const cases: [string, Parameters<typeof pathCandidates>, readonly string[]][] = [
    ['posix', ['kubectl', { path: '/a:/b/::', pathExt: '', platform: 'linux' }], ['/a/kubectl', '/b/kubectl']],
    [
      'windows',
      ['calicoctl', { path: 'C:\\bin;"C:\\Program Files"', pathExt: '.EXE;.CMD', platform: 'win32' }],
      ['C:\\bin\\calicoctl.exe', 'C:\\bin\\calicoctl.cmd', 'C:\\Program Files\\calicoctl.exe', 'C:\\Program Files\\calicoctl.cmd'],
    ],
    ['windows with a suffix', ['a.exe', { path: 'C:\\bin', pathExt: '.EXE', platform: 'win32' }], ['C:\\bin\\a.exe']],
    ['an empty PATH', ['a', { path: '', pathExt: '', platform: 'linux' }], []],
  ];
  for (const [title, [name, around], expected] of cases) it(title, () => assert.deepEqual(pathCandidates(name, around), expected));
});
