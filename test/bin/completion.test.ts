import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { COMPLETION_SCRIPTS, type Shell } from '../../src/cli/completion-scripts.ts';
import { testFolder } from '../support/folders.ts';
import { describeWhere, itWhere, lacksProgram } from '../support/needs.ts';

const root = join(import.meta.dirname, '..', '..');
const list = (...names: string[]) => ({ kind: 'PartialObjectMetadataList', items: names.map((name) => ({ metadata: { name } })) });

/** Paths of the API server, in the words of its answers; one path is never answered. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/api/v1/nodes': list('node-01', 'node-02', 'other'),
  '/api/v1/namespaces': list('default', 'kube-system'),
};

describe('completion', function () {
  this.timeout(30_000);
  const folder = testFolder('netsvc-complete-');
  let server: Server;
  let silent = false;
  const asked: string[] = [];

  before(async () => {
    symlinkSync(join(root, 'bin', 'kubectl-netsvc_upgrade'), join(folder, 'kubectl-netsvc_upgrade'));
    symlinkSync(join(root, 'bin', 'kubectl_complete-netsvc_upgrade'), join(folder, 'kubectl_complete-netsvc_upgrade'));
    server = createServer((request, response) => {
      asked.push(`${request.url} ${request.headers.accept?.includes('PartialObjectMetadataList')}`);
      if (silent) return;
      const found = ANSWERS[(request.url ?? '').replace(/\?.*/, '')];
      response.writeHead(found ? 200 : 403, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(found ?? { kind: 'Status', code: 403 }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cluster = (name: string, address: string) => ({ name, cluster: { server: address } });
    const context = (name: string, to: string) => ({ name, context: { cluster: to, user: 'anna' } });
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'prod',
      clusters: [cluster('east', url), cluster('nowhere', 'http://127.0.0.1:9')],
      contexts: [context('prod', 'east'), context('prod:eu', 'east'), context('dead', 'nowhere')],
      users: [{ name: 'anna', user: { token: 'geheim' } }],
    };
    writeFileSync(join(folder, 'config'), JSON.stringify(config));
  });
  beforeEach(() => {
    silent = false;
    asked.length = 0;
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Asynchronous: the server answers in this process. */
  async function call(program: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const path = [folder, process.env.PATH].join(delimiter);
    const env = {
      PATH: path,
      HOME: folder,
      XDG_CACHE_HOME: folder,
      KUBECONFIG: join(folder, 'config'),
      ...more,
    };
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        texts[name] += text;
      });
    }
    const exit = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { exit, ...texts };
  }

  const direct = async (...words: string[]) => (await call(join(folder, 'kubectl-netsvc_upgrade'), ['__complete', ...words])).stdout;

  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['commands', ['pref'], 'preflight\tFind out what is installed and whether it can be upgraded; changes nothing\n:36\n'],
    ['flags', ['run', '--plan'], '--plan-file\trefuse to run (exit 7) unless the plan is still this one\n:4\n'],
    ['values of flags', ['apply', '--dry-run', 's'], 'server\n:36\n'],
    ['ids of checks with their titles', ['explain', 'NS-10'], ''],
    ['ids of checks to accept', ['run', '--accept=NS-701'], '--accept=NS-701\tno owner references left to remove\n:36\n'],
    ['profiles', ['run', '--profile', ''], 'netsvc\ncalico\n:36\n'],
    ['contexts', ['status', '--context', ''], 'dead\nprod\nprod:eu\n:4\n'],
    ['contexts after =', ['status', '--context=prod:'], '--context=prod:eu\n:4\n'],
    ['clusters', ['status', '--cluster', 'e'], 'east\n:4\n'],
    ['users', ['status', '--user', ''], 'anna\n:4\n'],
    ['namespaces', ['alp', '-n', 'kube'], 'kube-system\n:4\n'],
    ['names of nodes', ['hep', '--accept', 'NS-712=node'], 'NS-712=node-01\nNS-712=node-02\n:4\n'],
    ['names of nodes of the cluster that is named', ['hep', '--context', 'dead', '--accept=NS-712='], ':4\n'],
    ['nothing in a kubeconfig that is not there', ['status', '--kubeconfig', 'none', '--context', ''], ':4\n'],
  ];
  for (const [title, words, wanted] of cases) {
    it(`offers ${title}`, async () => {
      const stdout = await direct(...words);
      if (wanted === '') assert.match(stdout, /^NS-101\tinstallation found\nNS-102\t(.+\n)+:4\n$/);
      else assert.equal(stdout, wanted);
    });
  }

  it('offers nothing when the API server does not answer in time, and says nothing', async () => {
    silent = true;
    const answer = await call(join(folder, 'kubectl-netsvc_upgrade'), ['__complete', 'alp', '-n', '']);
    assert.deepEqual(answer, { exit: 0, stdout: ':4\n', stderr: '' });
  });

  describeWhere(lacksProgram('kubectl'), 'through kubectl itself', () => {
    for (const [title, words, wanted] of [
      ['a command', ['pref'], /^preflight\tFind out/],
      ['the id of a check', ['explain', 'NS-105'], /^NS-105\tinstalled release supported/],
      ['a flag', ['run', '--plan'], /^--plan-file\t/],
      ['a value', ['run', '-o', 'j'], /^json\n:36\n/],
      ['a context', ['status', '--context', 'dead'], /^dead\n:4\n/],
      ['a namespace', ['alp', '-n', 'kube'], /^kube-system\n:4\n/],
      ['a node', ['hep', '--accept', 'NS-711=node-01'], /^NS-711=node-01\n:4\n/],
    ] as const) {
      it(`completes ${title}`, async () => {
        assert.match((await call('kubectl', ['__complete', 'netsvc-upgrade', ...words])).stdout, wanted);
      });
    }
  });

  const offersInZsh = join(import.meta.dirname, 'zsh-offers.zsh');

  /** How each shell is asked for what it would offer after a line. */
  const ASK: Readonly<Record<Shell, (script: string, line: string) => string>> = {
    bash: (script, line) =>
      `source '${script}'\nCOMP_LINE='${line}' COMP_POINT=${line.length}\n_netsvc_upgrade\nprintf '%s\\n' "\${COMPREPLY[@]}"\n`,
    zsh: (script, line) => `zsh -f '${offersInZsh}' '${script}' '${line}'\n`,
    fish: (script, line) => `source '${script}'\ncomplete -C '${line}'\n`,
  };

  describe('without kubectl', () => {
    for (const shell of Object.keys(COMPLETION_SCRIPTS) as Shell[]) {
      itWhere(lacksProgram(shell), `works in ${shell}`, async () => {
        const script = join(folder, `completion.${shell}`);
        writeFileSync(script, COMPLETION_SCRIPTS[shell]);
        const offered = async (line: string) => {
          const { stdout, stderr } = await call(shell, ['-c', ASK[shell](script, line)]);
          assert.equal(stderr, '');
          return stdout
            .split('\n')
            .map((one) => one.replace(/\t.*/, ''))
            .filter((one) => one !== '');
        };
        const behind = (text: string, cut: string) => (shell === 'bash' ? text.slice(cut.length) : text);
        assert.deepEqual(await offered('kubectl-netsvc_upgrade pref'), ['preflight']);
        assert.deepEqual(await offered('kubectl-netsvc_upgrade status --context '), ['dead', 'prod', 'prod:eu']);
        assert.deepEqual(await offered('kubectl-netsvc_upgrade status --context=prod:'), [behind('--context=prod:eu', '--context=prod:')]);
        assert.deepEqual(await offered('kubectl-netsvc_upgrade hep --accept=NS-712=other'), [
          behind('--accept=NS-712=other', '--accept=NS-712='),
        ]);
        assert.ok((await offered('kubectl-netsvc_upgrade run --kubeconfig con')).includes('config'));
      });
    }
  });
});
