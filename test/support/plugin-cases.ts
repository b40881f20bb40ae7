import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export const PLUGIN_API = 'client.authentication.k8s.io/v1';

/** What a kuberc says, and whether the plugin may run. `FOLDER` stands for the folder of the plugins. */
interface PluginCase {
  readonly what: string;
  readonly runs: boolean;
  /** Undefined: there is no file. */
  readonly kuberc: string | undefined;
  /** As the kubeconfig names it. */
  readonly command: string;
  /** PATH; the folder of the plugins unless said. */
  readonly path?: string;
  /** kubectl warns of such a file and goes on; this program does not. */
  readonly stricter?: true;
}

const head = 'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n';
const policy = (value: string) => `${head}credentialPluginPolicy: ${value}\n`;
/** A list of plugins that may run. */
export const listed = (...commands: readonly string[]) =>
  `${policy('Allowlist')}credentialPluginAllowlist:\n${commands.map((one) => `- command: ${one}\n`).join('')}`;

type Where = Pick<PluginCase, 'path' | 'stricter'>;
const runs = (what: string, kuberc?: string, command = 'login'): PluginCase => ({ what, kuberc, command, runs: true });
const fails = (what: string, kuberc?: string, command = 'login', where: Where = {}): PluginCase => {
  return { what, kuberc, command, runs: false, ...where };
};

export const PLUGIN_CASES: readonly PluginCase[] = [
  runs('no file'),
  runs('a file that says nothing of plugins', head),
  runs('AllowAll', policy('AllowAll')),
  runs('an empty policy', policy('""')),
  fails('DenyAll', policy('DenyAll')),
  fails('DenyAll, of a plugin with a path', policy('DenyAll'), 'FOLDER/login'),
  fails('a policy of another name', policy('denyall')),
  runs('a list with its name', listed('login')),
  runs('a list with its path', listed('FOLDER/login')),
  runs('a list with its name, of a plugin with a path', listed('login'), 'FOLDER/login'),
  runs('a list with its path, of a plugin with a path', listed('other', 'FOLDER/login'), 'FOLDER/login'),
  fails('a list with another name', listed('other')),
  fails('a list with another path', listed('/nowhere/login')),
  fails('a list with the beginning of its name', listed('log')),
  fails('a list without entries', `${policy('Allowlist')}credentialPluginAllowlist: []\n`),
  fails('the policy Allowlist without a list', policy('Allowlist')),
  fails('a list with an empty entry', listed('login', '""')),
  fails('a list without the policy Allowlist', `${head}credentialPluginAllowlist:\n- command: login\n`),
  fails('no YAML', 'a: [', 'login', { stricter: true }),
  fails('another kind', 'apiVersion: v1\nkind: Config\n', 'login', { stricter: true }),
  fails('no file, and a plugin of the current folder by an empty entry of PATH', undefined, 'here', { path: ':/bin' }),
  fails('no file, and a plugin of the current folder by a dot in PATH', undefined, 'here', { path: './:/bin' }),
  fails('no file, and a plugin in a folder of the current one', undefined, 'here', { path: 'sub:/bin' }),
];

/** A home with the case's kuberc, which is the current folder too; plugins leave a marker where they ran. */
export async function pluginGround({ kuberc, command = 'login', path }: Partial<PluginCase>) {
  const root = await mkdtemp(join(tmpdir(), 'kuberc-'));
  const [home, folder, marker] = [join(root, 'home'), join(root, 'plugins'), join(root, 'ran')];
  await Promise.all([mkdir(join(home, '.kube'), { recursive: true }), mkdir(join(home, 'sub'), { recursive: true }), mkdir(folder)]);
  const answer = JSON.stringify({ apiVersion: PLUGIN_API, kind: 'ExecCredential', status: { token: 't' } });
  const script = `#!/bin/sh\n: > '${marker}'\necho '${answer}'\n`;
  const files = [join(folder, 'login'), join(folder, 'other'), join(home, 'here'), join(home, 'sub', 'here')];
  await Promise.all(files.map((file) => writeFile(file, script, { mode: 0o755 })));
  const placed = (text: string) => text.replaceAll('FOLDER', folder);
  if (kuberc !== undefined) await writeFile(join(home, '.kube', 'kuberc'), placed(kuberc));
  const env = { HOME: home, PATH: path ?? [folder, '/usr/bin', '/bin'].join(delimiter) };
  return { home, command: placed(command), env, marker };
}
