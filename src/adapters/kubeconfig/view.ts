import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { command } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';
import type { ConnectionFlags, Environment, KubeconfigDocument } from './connection.ts';
import { clearly, readPlain, scalar, Unclear } from './plain.ts';
import { byName, data, readDocument, text } from './read.ts';

/** Where kubectl looks for its configuration, in its order of precedence. */
export function kubeconfigFiles(flags: ConnectionFlags, env: Environment): readonly string[] {
  if (flags.kubeconfig) return [resolve(flags.kubeconfig)];
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  return listed.length > 0 ? listed.map((file) => resolve(file)) : [join(env.HOME ?? homedir(), '.kube', 'config')];
}

/**
 * The configuration as kubectl merges it. No --minify or --flatten: `--cluster` and `--user` may name entries outside the context, and
 * another context's broken certificate must not matter. Throws Fault('usage') if kubectl is missing or cannot read a file.
 */
export async function viewKubeconfig(
  files: readonly string[],
  flags: ConnectionFlags,
  env: Environment,
  kubectl: string,
): Promise<KubeconfigDocument> {
  const only = flags.kubeconfig;
  if (only && !(await isFile(only)))
    throw new Fault('usage', `kubeconfig file ${only} does not exist`, [
      'name an existing file with --kubeconfig',
      command`see what is there: ls -l ${dirname(only)}`,
    ]);
  const [first] = await existing(files);
  if (first === undefined) return {};
  return (await readAlone(files)) ?? runView(only ? [`--kubeconfig=${only}`] : [], files.join(delimiter), env, kubectl);
}

/** What kubectl would print, without its start-up. Only for files that cannot be read in two ways and name nothing twice. */
export async function readAlone(files: readonly string[]): Promise<KubeconfigDocument | undefined> {
  const documents: KubeconfigDocument[] = [];
  for (const file of await existing(files)) {
    // A pipe (`--kubeconfig <(…)`) can be read only once: by kubectl.
    if (!(await stat(file)).isFile()) return undefined;
    const text = await readFile(file, 'utf8').catch(() => '');
    const document = readOwnForm(text) ?? readDocument(readPlain(text));
    if (document === undefined) return undefined;
    documents.push(document);
  }
  return documents.length > 1 ? merged(documents) : documents[0];
}

/** Every entry of every file, and the first current context. An entry in two files is left to kubectl. */
function merged(documents: readonly KubeconfigDocument[]): KubeconfigDocument | undefined {
  return clearly(() => ({
    clusters: byName(documents.flatMap((one) => one.clusters ?? [])),
    users: byName(documents.flatMap((one) => one.users ?? [])),
    contexts: byName(documents.flatMap((one) => one.contexts ?? [])),
    'current-context': documents.find((one) => one['current-context'])?.['current-context'] ?? '',
  }));
}

/** Folder of the file that an entry came from, as kubectl prints relative paths unchanged. The first file with the name wins. */
export async function originFolder(
  list: 'clusters' | 'users',
  name: string,
  files: readonly string[],
  env: Environment,
  kubectl: string,
): Promise<string> {
  const found = await existing(files);
  if (found.length > 1) {
    for (const file of found) {
      const document = (await readAlone([file])) ?? (await runView([`--kubeconfig=${file}`], file, env, kubectl));
      if (document[list]?.some((entry) => entry.name === name)) return dirname(file);
    }
  }
  return dirname(found[0] ?? resolve('.'));
}

async function runView(flags: readonly string[], source: string, env: Environment, kubectl: string): Promise<KubeconfigDocument> {
  const { execa } = await import('execa');
  const result = await execa(kubectl, ['config', 'view', '--raw', '-o', 'json', ...flags], {
    // The user's own defaults (kuberc) may name another file for this very command.
    env: { ...env, KUBERC: 'off' },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  });
  if (result.code === 'ENOENT' || result.code === 'EACCES')
    throw new Fault('usage', `kubectl cannot be started: ${kubectl} (${result.code})`, ['install kubectl and put it on PATH']);
  if (result.exitCode !== 0) {
    const said = result.stderr.trim().replace(/^error: /, '') || result.shortMessage;
    throw new Fault('usage', `kubectl cannot read ${source}: ${said}`, [
      'repair the file, or name another one with --kubeconfig',
      'see what kubectl says of it: kubectl config view',
    ]);
  }
  return JSON.parse(result.stdout) as KubeconfigDocument;
}

async function existing(files: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(files.map(async (file) => ({ file, is: await isFile(file) })));
  return found.flatMap(({ file, is }) => (is ? [file] : []));
}

async function isFile(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined))?.isDirectory() === false;
}

/** Parts of a file as kubectl writes them: its keys are sorted. */
const FORM = {
  start: /apiVersion: v1\nclusters:\n/y,
  cluster: /- cluster:\n(?: {4}certificate-authority-data: (\S+)\n)? {4}server: (\S+)\n {2}name: (\S+)\n/y,
  contexts: /contexts:\n/y,
  context: /- context:\n {4}cluster: (\S+)\n(?: {4}namespace: (\S+)\n)? {4}user: (\S+)\n {2}name: (\S+)\n/y,
  middle: /current-context: (\S+)\nkind: Config\n(?:preferences: \{\}\n)?users:\n/y,
  user: /- name: (\S+)\n {2}user:\n(?: {4}client-certificate-data: (\S+)\n)?(?: {4}client-key-data: (\S+)\n)?(?: {4}token: (\S+)\n)?/y,
};

/**
 * A file's content as `readDocument` gives it, from a text that kubectl wrote and that holds certificates and tokens alone; undefined for any other. With hundreds
 * of contexts this is several times quicker than line by line.
 */
export function readOwnForm(content: string): KubeconfigDocument | undefined {
  const written = content.endsWith('\n') ? content : `${content}\n`;
  let at = 0;
  const next = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const found = form.exec(written);
    if (found) at = form.lastIndex;
    return found;
  };
  const all = <Entry>(form: RegExp, entry: (found: RegExpExecArray) => Entry): readonly Entry[] => {
    const read: Entry[] = [];
    for (let found = next(form); found; found = next(form)) read.push(entry(found));
    return read;
  };
  const word = (name: string, value: string | undefined, read = text) => (value === undefined ? {} : { [name]: read(scalar(value)) });
  const textOf = (value: string | undefined): string => text(scalar(value ?? ''));
  return clearly(() => {
    if (!next(FORM.start)) return undefined;
    const clusters = all(FORM.cluster, ([, authority, server, name]) => ({
      name: textOf(name),
      cluster: { ...word('certificate-authority-data', authority, data), server: textOf(server) },
    }));
    if (!next(FORM.contexts)) return undefined;
    const contexts = all(FORM.context, ([, cluster, namespace, user, name]) => ({
      name: textOf(name),
      context: { cluster: textOf(cluster), ...word('namespace', namespace), user: textOf(user) },
    }));
    const current = next(FORM.middle)?.[1];
    const users = all(FORM.user, ([, name, certificate, key, token]) => {
      // Nothing, or something else than these: kubectl knows what it means.
      if (certificate === undefined && key === undefined && token === undefined) throw new Unclear();
      const user = {
        ...word('client-certificate-data', certificate, data),
        ...word('client-key-data', key, data),
        ...word('token', token),
      };
      return { name: textOf(name), user };
    });
    if (current === undefined || at < written.length) return undefined;
    return { clusters: byName(clusters), users: byName(users), contexts: byName(contexts), 'current-context': textOf(current) };
  });
}
