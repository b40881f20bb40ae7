import { setTimeout as wait } from 'node:timers/promises';
import { Fault } from '../../kernel/fault.ts';
import { type Interruption, interrupted } from '../../kernel/interruption.ts';
import { parsedJson } from '../../kernel/json.ts';
import type { Connection, ExecEntry } from '../kubeconfig/connection.ts';
import { programFile } from '../tools/files-of.ts';
import { endGroup, GROUPED } from '../tools/run-program.ts';
import { assertPluginAllowed, type Find } from './plugin-policy.ts';

/** What proves who we are, for one request. */
export interface Credential {
  readonly authorization?: string;
  /** PEM. */
  readonly certificate?: string;
  readonly key?: string;
}

export interface Obtained {
  readonly credential: Credential;
  /** Milliseconds since the epoch; infinite: until the server refuses it. */
  readonly expiresAt: number;
}

/** Where a plugin runs. */
export interface ExecSurroundings {
  /** The user is at the terminal: plugins may ask. */
  readonly terminal: boolean;
  /** Ctrl-C. */
  readonly interruption?: Pick<Interruption, 'soft' | 'hard' | 'late'> | undefined;
  /** Nobody waits for a credential any more. */
  readonly closed?: AbortSignal | undefined;
}

interface ExecAnswer {
  readonly apiVersion?: string;
  readonly status?: {
    readonly token?: string;
    readonly clientCertificateData?: string;
    readonly clientKeyData?: string;
    readonly expirationTimestamp?: string;
  };
}

/** Between asking a plugin to end and killing it: within the time that an interrupted command has left. */
const GRACE_MS = 500;

/** Ctrl-C reaches a plugin and us at once, but its end may be seen here first: a failed plugin waits this long for the signal. */
const SIGNAL_MS = 250;

const CLUSTER_CONFIG = 'client.authentication.k8s.io/exec';

/**
 * Runs a credential plugin as kubectl does, if the user's kuberc allows it (`plugin-policy.ts`), with KUBERNETES_EXEC_INFO, our stderr, and
 * standard input only where it may ask. Throws Fault('usage') if it may not run, Fault('failed') if it cannot start, fails or prints
 * something else.
 */
export async function runExecPlugin(exec: ExecEntry, connection: Connection, surroundings: ExecSurroundings): Promise<Obtained> {
  const { interruption } = surroundings;
  const isStopping = () => interruption?.soft.aborted === true && !interruption.hard.aborted;
  const wasStopping = isStopping();
  const { command } = exec;
  const find: Find = (program) => programFile(program, connection.env);
  await assertPluginAllowed(command, connection.env, find);
  const file = await find(command);
  if (file === undefined) throw cannotStart(exec, 'ENOENT');
  const first = await started(exec, file, connection, surroundings);
  // One that may ask shares the terminal, so Ctrl-C ends it too; an action that may finish needs it again.
  const mayBeCut = first.exitCode !== 0 && !wasStopping;
  if (interruption && mayBeCut && mayAsk(exec, surroundings.terminal))
    await wait(SIGNAL_MS, undefined, { signal: interruption.soft }).catch(() => undefined);
  const result = mayBeCut && isStopping() ? await started(exec, file, connection, surroundings) : first;
  if (result.isCanceled) throw interrupted();
  if (result.code === 'ENOENT' || result.code === 'EACCES') throw cannotStart(exec, result.code);
  if (result.exitCode !== 0)
    throw new Fault('failed', `credential plugin ${exec.command} failed: ${result.shortMessage}`, [
      'log in again with the tool of your provider',
    ]);
  return readAnswer(result.stdout, exec);
}

function cannotStart({ command, installHint }: ExecEntry, code: string): Fault {
  return new Fault('failed', `credential plugin ${command} cannot be started (${code})`, [
    installHint?.trim() || 'install it, and check that it is executable and in a folder of PATH (relative and empty ones are not searched)',
  ]);
}

async function started(exec: ExecEntry, file: string, connection: Connection, surroundings: ExecSurroundings) {
  const interactive = mayAsk(exec, surroundings.terminal);
  const { execa } = await import('execa');
  const extra = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value]));
  const end = AbortSignal.any([surroundings.interruption?.late, surroundings.closed].filter((signal) => signal !== undefined));
  // A group of its own has no terminal to ask at; without one, Ctrl-C would end what an action still needs.
  const detached = GROUPED && !interactive;
  const child = execa(file, [...(exec.args ?? [])], {
    env: { ...connection.env, ...extra, KUBERNETES_EXEC_INFO: JSON.stringify(execInfo(exec, connection, interactive)) },
    extendEnv: false,
    reject: false,
    stdin: interactive ? 'inherit' : 'ignore',
    stderr: 'inherit',
    detached,
    cancelSignal: end,
    forceKillAfterDelay: GRACE_MS,
  });
  const endAll = () => endGroup(child.pid, 'SIGTERM');
  if (detached) end.addEventListener('abort', endAll, { once: true });
  return child.finally(() => end.removeEventListener('abort', endAll));
}

function mayAsk(exec: ExecEntry, terminal: boolean): boolean {
  const mode = exec.interactiveMode ?? 'IfAvailable';
  if (mode === 'Always' && !terminal)
    throw new Fault('failed', `credential plugin ${exec.command} needs a terminal (interactiveMode: Always)`, [
      'run this on a terminal, or use a credential that does not ask',
    ]);
  return mode !== 'Never' && terminal;
}

function execInfo(exec: ExecEntry, connection: Connection, interactive: boolean): unknown {
  const { extensions, ...cluster } = connection.cluster;
  const config = extensions?.find((one) => one.name === CLUSTER_CONFIG)?.extension;
  const spec = exec.provideClusterInfo
    ? { cluster: { ...cluster, ...(config === undefined ? {} : { config }) }, interactive }
    : { interactive };
  return { apiVersion: exec.apiVersion, kind: 'ExecCredential', spec };
}

function readAnswer(stdout: string, exec: ExecEntry): Obtained {
  const answer = parsedJson(stdout) as ExecAnswer | null | undefined;
  if (!answer) throw new Fault('failed', `credential plugin ${exec.command} printed no JSON`, ['run it yourself and read what it prints']);
  if (answer.apiVersion !== exec.apiVersion)
    throw new Fault(
      'failed',
      `credential plugin ${exec.command} speaks ${answer.apiVersion ?? 'no version'}, the kubeconfig says ${exec.apiVersion}`,
      ['update the plugin, or the apiVersion in the kubeconfig'],
    );
  const { token, clientCertificateData: certificate, clientKeyData: key, expirationTimestamp } = answer.status ?? {};
  if (!token && !(certificate && key))
    throw new Fault('failed', `credential plugin ${exec.command} returned neither a token nor a certificate with its key`, [
      'log in again',
    ]);
  const expiresAt = expirationTimestamp ? Date.parse(expirationTimestamp) : Number.NaN;
  const credential = { ...(token ? { authorization: `Bearer ${token}` } : {}), ...(certificate && key ? { certificate, key } : {}) };
  return { credential, expiresAt: Number.isNaN(expiresAt) ? Number.POSITIVE_INFINITY : expiresAt };
}
