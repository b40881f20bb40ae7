import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Fault } from '../../kernel/fault.ts';
import { HIDDEN } from '../../kernel/hidden.ts';
import type { Notifier } from '../../kernel/ports.ts';
import { isLoopback } from '../kube/wire.ts';
import type { Environment } from '../kubeconfig/connection.ts';

/** Sends documents to what `--notify` names. `env` is what a program gets. */
export async function openNotifier(value: string, env: Environment): Promise<Notifier> {
  const target = await notifyTarget(value, env);
  if ('url' in target) {
    const { post } = await import('./post.ts');
    return { to: target.shown, send: (text, cut) => post(target.url, text, { env, cut }) };
  }
  const { runHook } = await import('./run-hook.ts');
  return { to: target.shown, send: (text, cut) => runHook(target.program, text, { env, cut }) };
}

/** Where notifications go. `shown`: as a screen may have it, for the path of a webhook's address is its credential. */
type Target = { readonly shown: string } & ({ readonly url: URL } | { readonly program: string });

/** What `--notify` names. Throws Fault('usage'), without repeating an address. */
export async function notifyTarget(value: string, env: Environment): Promise<Target> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return addressOf(value);
  if (/\s/.test(value))
    throw new Fault('usage', '--notify: a command has no arguments and no spaces, for it is not given to a shell', [
      'write a script that calls the program with its arguments, and name the script: --notify ./notify.sh',
    ]);
  if (!(await isProgram(value, env)))
    throw new Fault('usage', `--notify: ${value} is no program that can be started`, [
      'name a file that may be executed (chmod +x), or a program in PATH',
    ]);
  return { program: value, shown: value };
}

function addressOf(value: string): Target {
  if (!URL.canParse(value)) throw new Fault('usage', '--notify: the address cannot be read', ['write it as https://HOST/PATH']);
  const url = new URL(value);
  const shown = `${url.protocol}//${url.host}/${HIDDEN}`;
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return { url, shown };
  throw new Fault('usage', `--notify: ${shown} is not https`, [
    'write https://; http:// is for this machine alone (http://127.0.0.1:PORT/)',
    'or name a script that sends the document by other means',
  ]);
}

async function isProgram(name: string, env: Environment): Promise<boolean> {
  const folders = /[/\\]/.test(name) ? [undefined] : (env.PATH ?? '').split(delimiter);
  const found = await Promise.all(folders.map((folder) => isExecutable(folder === undefined ? name : join(folder, name))));
  return found.includes(true);
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
