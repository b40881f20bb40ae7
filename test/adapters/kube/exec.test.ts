import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runExecPlugin } from '../../../src/adapters/kube/exec.ts';
import type { Connection } from '../../../src/adapters/kubeconfig/connection.ts';
import { createAuthority } from '../../control-plane/certificates.ts';
import { testFolder } from '../../support/folders.ts';
import { clusterTo, type Loopback, sendJson, serve } from '../../support/loopback-server.ts';

const VERSION = { gitVersion: 'v1.36.1', major: '1', minor: '36' };
const API = 'client.authentication.k8s.io/v1';
const ANSWER = `echo '{"apiVersion":"${API}","kind":"ExecCredential","status":{"token":"t"}}'`;

/** As a terminal does at Ctrl-C: SIGINT to the whole group. The run holds an action that a first one lets come to its end. */
const RUN = `
const { runExecPlugin } = await import(process.env.SRC + '/adapters/kube/exec.ts');
const { listenForInterrupts } = await import(process.env.SRC + '/cli/real-seams.ts');
const interrupts = listenForInterrupts(() => undefined);
const exec = { apiVersion: '${API}', command: process.env.PLUGIN, interactiveMode: process.env.MODE };
const connection = { cluster: {}, env: process.env };
const surroundings = { terminal: true, interruption: interrupts, closed: new AbortController().signal };
const run = () => runExecPlugin(exec, connection, surroundings);
const said = await (process.env.ACTS === 'yes' ? interrupts.finish(run) : run()).then(({ credential }) => credential.authorization, ({ code, message }) => code + ': ' + message);
process.stdout.write(said);
process.exit();
`;

describe('a credential plugin', function () {
  if (process.platform === 'win32') return;
  this.timeout(60_000);
  const folder = testFolder('plugin-');

  async function plugin(name: string, script: string): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
    return file;
  }

  async function lines(file: string): Promise<readonly string[]> {
    return (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  }

  async function until(what: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < 600; tries += 1) {
      if (await what()) return;
      await wait(25);
    }
    assert.fail('it did not come to that');
  }

  /** What a run says at whose terminal Ctrl-C is pressed as soon as the plugin has started, and how often that was. */
  async function pressed(mode: string, acts: boolean): Promise<{ said: string; starts: number }> {
    const log = join(folder, `log-${mode}-${acts}`);
    const command = await plugin(`slow-${mode}-${acts}`, `echo started >> ${log}\nsleep 2\n${ANSWER}`);
    const env = { ...process.env, SRC: join(import.meta.dirname, '../../../src'), PLUGIN: command, MODE: mode, ACTS: acts ? 'yes' : 'no' };
    const child = spawn(process.execPath, ['--input-type=module', '-e', RUN], {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const out: string[] = [];
    child.stdout.on('data', (chunk) => out.push(String(chunk)));
    const ended = new Promise((resolve) => child.once('close', resolve));
    await until(async () => (await lines(log)).length > 0);
    process.kill(-(child.pid ?? assert.fail()), 'SIGINT');
    await ended;
    return { said: out.join(''), starts: (await lines(log)).length };
  }

  it('that asks nobody is not reached by a Ctrl-C that lets the action come to its end', async () => {
    assert.deepEqual(await pressed('Never', true), { said: 'Bearer t', starts: 1 });
  });

  it('that may ask has the terminal, ends with Ctrl-C, and is asked once more for the action', async () => {
    assert.deepEqual(await pressed('IfAvailable', true), { said: 'Bearer t', starts: 2 });
  });

  it('that may ask is not asked once more where nothing is under way', async () => {
    assert.equal((await pressed('IfAvailable', false)).starts, 1);
  });

  /** Runs one that may ask and always fails at a terminal whose Ctrl-C is told only once somebody waits for it. */
  async function toldLate(name: string, andHard: boolean): Promise<number> {
    const log = join(folder, `log-${name}`);
    const command = await plugin(name, `echo started >> ${log}\nexit 1`);
    const [soft, hard] = [new AbortController(), new AbortController()];
    const listen = soft.signal.addEventListener.bind(soft.signal);
    soft.signal.addEventListener = (...wanted: Parameters<typeof listen>) => {
      listen(...wanted);
      if (andHard) hard.abort();
      setImmediate(() => soft.abort());
    };
    const interruption = { soft: soft.signal, hard: hard.signal, late: new AbortController().signal };
    const connection = { cluster: {}, env: process.env } as unknown as Connection;
    await assert.rejects(runExecPlugin({ apiVersion: API, command }, connection, { terminal: true, interruption }), { code: 'failed' });
    return (await lines(log)).length;
  }

  it('that may ask is asked once more as well where its end is known before the Ctrl-C', async () => {
    assert.equal(await toldLate('told-late', false), 2);
    assert.equal(await toldLate('told-late-twice', true), 1, 'nothing is under way');
  });

  describe('and the requests that wait for it', () => {
    const authority = createAuthority('here');
    let server: Loopback | undefined;
    afterEach(() => server?.close());

    async function waiting(name: string) {
      server = await serve((_, response) => sendJson(response, VERSION), authority.issue({ commonName: 'x', hosts: ['127.0.0.1'] }));
      const log = join(folder, `log-${name}`);
      const command = await plugin(name, `echo $$ >> ${log}\nsleep 30 & echo $! >> ${log}\nwait\n${ANSWER}`);
      const [soft, hard, late] = [new AbortController(), new AbortController(), new AbortController()];
      const trusted = { 'certificate-authority-data': Buffer.from(authority.certificate).toString('base64') };
      const exec = { apiVersion: API, command, interactiveMode: 'Never' };
      const interruption = { soft: soft.signal, hard: hard.signal, late: late.signal };
      const { cluster } = clusterTo(server.url, { user: { exec }, cluster: trusted }, { interruption });
      const asked = cluster.version();
      asked.catch(() => undefined);
      await until(async () => (await lines(log)).length === 2);
      const pids = (await lines(log)).map(Number);
      const areGone = () => until(async () => pids.every((pid) => !isAlive(pid)));
      return { cluster, asked, hard, late, pids, areGone };
    }

    it('are given up at once, and say so', async () => {
      const { asked, hard, cluster, pids } = await waiting('given-up');
      hard.abort();
      await assert.rejects(asked, { code: 'interrupted' });
      assert.ok(pids.every(isAlive), 'it was not waited for');
      await cluster.close();
    });

    it('end with it, and with what it started, once the time for last words is over', async () => {
      const { late, areGone, cluster } = await waiting('late');
      late.abort();
      await areGone();
      await cluster.close();
    });

    it('end with it when the connection is closed: nobody else would end it', async () => {
      const { cluster, areGone } = await waiting('closed');
      await cluster.close();
      await areGone();
    });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
