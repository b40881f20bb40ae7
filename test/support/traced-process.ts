import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export interface Import {
  readonly importer: string;
  readonly specifier: string;
  readonly url: string;
}

export interface TracedRun {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly imports: readonly Import[];
}

/** Runs an entry of this project with the Node of the tests, in this environment and no other, and tells every module that it loads. */
export async function traced(entry: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<TracedRun> {
  const child = spawn(process.execPath, ['--import', join(root, 'test', 'bin', 'loaded-modules.ts'), join(root, entry), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const texts = ['', '', ''];
  for (const number of [1, 2, 3] as const) {
    const stream = child.stdio[number];
    assert.ok(stream && 'setEncoding' in stream);
    stream.setEncoding('utf8').on('data', (text: string) => {
      texts[number - 1] += text;
    });
  }
  const exit = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout = '', stderr = '', lines = ''] = texts;
  const imports = lines.split('\n').map((line) => {
    const [importer = '', specifier = '', url = ''] = line.split(' ');
    return { importer, specifier, url };
  });
  return { exit, stdout, stderr, imports };
}

/** A kubeconfig for a server that asks nobody who they are, as `kubectl config view -o json` prints it. */
export function openKubeconfig(url: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'one' },
    clusters: [{ name: 'one', cluster: { server: url } }],
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
    users: [{ name: 'one', user: {} }],
  });
}
