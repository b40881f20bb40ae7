import type { RequestOptions } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Fault } from '../kernel/fault.ts';
import { HIDDEN } from '../kernel/hidden.ts';
import { isPassingStatus, type Notifier } from '../kernel/ports.ts';
import { or } from '../kernel/step.ts';
import { proxyAgent } from './artifacts/https-fetch.ts';
import { headOf } from './bounded-body.ts';
import { isLoopback } from './kube/wire.ts';
import type { Environment } from './kubeconfig/connection.ts';
import { runUserProgram, userProgram } from './tools/user-program.ts';

/** Sends documents to what `--notify` names. `env` is what a program gets. */
export async function openNotifier(value: string, env: Environment): Promise<Notifier> {
  const target = await notifyTarget(value, env);
  const send: Notifier['send'] = (text, cut) =>
    'url' in target ? post(target.url, text, { env, cut }) : runHook(target.program, text, { env, cut });
  return { to: target.shown, send };
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
  return { program: await userProgram('notify', value, env), shown: value };
}

function addressOf(value: string): Target {
  if (!URL.canParse(value)) throw new Fault('usage', '--notify: the address cannot be read', ['write it as https://HOST/PATH']);
  const url = new URL(value);
  const shown = `${url.protocol}//${url.host}/${HIDDEN}`;
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return { url, shown };
  throw new Fault('usage', `--notify: ${shown} is not https`, [
    'write https://; http:// is for this machine alone (http://127.0.0.1:PORT/)',
    or('name a script that sends the document by other means'),
  ]);
}

interface SendOptions {
  readonly env: Environment;
  /** The command ends without it. */
  readonly cut: AbortSignal;
  /** For one attempt, from the name look-up to the head of the answer; 5 s unless said. */
  readonly limitMs?: number;
}

const LIMIT_MS = 5000;
const PAUSE_MS = 500;

/** The other side has said no: it would say so again. */
class Refused extends Error {}

/** Posts one JSON document, and once more where no answer came or the other side is busy. Rejects with why, which never holds the address. */
export async function post(url: URL, text: string, options: SendOptions): Promise<void> {
  try {
    await attempt(url, text, options);
  } catch (thrown) {
    if (thrown instanceof Refused || options.cut.aborted) throw thrown;
    await wait(PAUSE_MS, undefined, { signal: options.cut });
    await attempt(url, text, options);
  }
}

async function attempt(url: URL, text: string, options: SendOptions): Promise<void> {
  const status = await statusOf(url, text, options);
  if (status >= 200 && status < 300) return;
  const because = `the server answered ${status}${status >= 300 && status < 400 ? ', and redirects are not followed' : ''}`;
  throw isPassingStatus(status) ? new Error(because) : new Refused(because);
}

async function statusOf(url: URL, text: string, { env, cut, limitMs = LIMIT_MS }: SendOptions): Promise<number> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  const over = AbortSignal.any([cut, late.signal]);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  // No variable of the environment turns the check of the certificate off.
  const settings: RequestOptions = { method: 'POST', headers, agent: false };
  try {
    const proxied = await proxyAgent(url, { env });
    const answer = await headOf(url, { ...settings, ...proxied }, over, text);
    answer.destroy();
    return answer.statusCode ?? 0;
  } finally {
    clearTimeout(timer);
  }
}

/** A script may send a mail or ask a slow server. */
const HOOK_LIMIT_MS = 30_000;

/** Starts a program with one JSON document on its standard input, and waits for its end. Rejects with why it failed. */
async function runHook(program: string, text: string, { env, cut }: Pick<SendOptions, 'env' | 'cut'>): Promise<void> {
  const { because } = await runUserProgram({ program, env, stdin: text, signal: cut, limitMs: HOOK_LIMIT_MS });
  if (because !== undefined) throw new Error(because);
}
