import { type ExecFileException, execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { command } from '../../kernel/argv.ts';
import { localCommand } from '../../kernel/command.ts';
import { Fault } from '../../kernel/fault.ts';
import { look, text } from '../../kernel/step.ts';
import { programFile } from '../tools/files-of.ts';
import type { ConnectionFlags, Environment, KubeconfigDocument } from './connection.ts';

/** Bytes of kubeconfigs, more than anybody has. */
const LARGEST = 2 ** 26;

/** Where kubectl looks for its configuration, in its order of precedence. */
export function kubeconfigFiles(flags: ConnectionFlags, env: Environment): readonly string[] {
  if (flags.kubeconfig) return [resolve(flags.kubeconfig)];
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  return listed.length > 0 ? listed.map((file) => resolve(file)) : [join(env.HOME ?? homedir(), '.kube', 'config')];
}

/** What kubectl says of its files: it merges them, and its refusals count. */
export interface KubeconfigView {
  readonly document: KubeconfigDocument;
  /** Folder of the file that an entry came from, for kubectl prints relative paths unchanged. The first file with the name wins. */
  originFolder(list: 'clusters' | 'users', name: string): Promise<string>;
}

/**
 * Starts kubectl once, and never for a user without files. No --minify or --flatten: `--cluster` and `--user` may name entries outside the
 * context, and another context's broken certificate must not matter. Throws Fault('usage') if kubectl is missing or cannot read a file.
 */
export async function viewKubeconfig(flags: ConnectionFlags, env: Environment, kubectl: string): Promise<KubeconfigView> {
  const only = flags.kubeconfig;
  if (only && !(await isFile(only)))
    throw new Fault('usage', `kubeconfig file ${only} does not exist`, [
      'name an existing file with --kubeconfig',
      look(text`see what is there: ${localCommand`ls -l ${dirname(only)}`}`),
    ]);
  const files = kubeconfigFiles(flags, env);
  const found = await existing(files);
  const document = found.length === 0 ? {} : await runView(only ? [`--kubeconfig=${only}`] : [], files.join(delimiter), env, kubectl);
  const viewed = new Map<string, Promise<KubeconfigDocument>>();
  const alone = (file: string): Promise<KubeconfigDocument> => {
    const known = viewed.get(file) ?? runView([`--kubeconfig=${file}`], file, env, kubectl);
    viewed.set(file, known);
    return known;
  };
  return {
    document,
    async originFolder(list, name) {
      if (found.length > 1)
        for (const file of found) if ((await alone(file))[list]?.some((entry) => entry.name === name)) return dirname(file);
      return dirname(found[0] ?? resolve('.'));
    },
  };
}

/**
 * The user's own defaults (kuberc) may name another file for this very command. It lives for some 40 ms, of which collecting garbage, and that
 * on all processors, would be 10.
 */
const OF_VIEW = { KUBERC: 'off', GOGC: 'off', GOMAXPROCS: '1' };

async function runView(flags: readonly string[], source: string, env: Environment, kubectl: string): Promise<KubeconfigDocument> {
  const options = { env: { ...env, ...OF_VIEW }, maxBuffer: LARGEST, windowsHide: true };
  try {
    const file = await programFile(kubectl, env);
    if (file === undefined) throw notStarted(kubectl, 'ENOENT');
    const asked = promisify(execFile)(file, ['config', 'view', '--raw', '-o', 'json', ...flags], options);
    // Whoever names /dev/stdin would wait for ever.
    asked.child.stdin?.end();
    return JSON.parse((await asked).stdout) as KubeconfigDocument;
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    const { code, stderr = '', message } = thrown as ExecFileException;
    if (code === 'ENOENT' || code === 'EACCES') throw notStarted(kubectl, code);
    const said = stderr.trim().replace(/^error: /, '') || message;
    throw new Fault('usage', `kubectl cannot read ${source}: ${said}`, [
      'repair the file, or name another one with --kubeconfig',
      look(text`see what kubectl says of it: ${command`kubectl config view`}`),
    ]);
  }
}

function notStarted(kubectl: string, code: string): Fault {
  return new Fault('usage', `kubectl cannot be started: ${kubectl} (${code})`, [
    'install kubectl and put it on PATH',
    look(text`see what it is for: ${command`kubectl netsvc-upgrade explain NS-003`}`),
  ]);
}

async function existing(files: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(files.map(async (file) => ({ file, is: await isFile(file) })));
  return found.flatMap(({ file, is }) => (is ? [file] : []));
}

async function isFile(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined))?.isDirectory() === false;
}
