import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export const PLUGIN_API = 'client.authentication.k8s.io/v1';

/** What a kuberc says, and whether the plugin may run. `FOLDER` stands for the folder of the plugins. */
export interface PluginCase {
  readonly what: string;
  /** Undefined: there is no file. */
  readonly kuberc?: string;
  /** As the kubeconfig names it. */
  readonly command: string;
  readonly runs: boolean;
  /** PATH; the folder of the plugins unless said. */
  readonly path?: string;
  /** kubectl warns of such a file and goes on; this program does not. */
  readonly stricter?: true;
}

const head = 'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n';
const listed = (...commands: readonly string[]) =>
  `${head}credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist:\n${commands.map((one) => `- command: ${one}\n`).join('')}`;

export const PLUGIN_CASES: readonly PluginCase[] = [
  { what: 'no file', command: 'login', runs: true },
  { what: 'a file that says nothing of plugins', kuberc: head, command: 'login', runs: true },
  { what: 'AllowAll', kuberc: `${head}credentialPluginPolicy: AllowAll\n`, command: 'login', runs: true },
  { what: 'an empty policy', kuberc: `${head}credentialPluginPolicy: ""\n`, command: 'login', runs: true },
  { what: 'DenyAll', kuberc: `${head}credentialPluginPolicy: DenyAll\n`, command: 'login', runs: false },
  { what: 'DenyAll, of a plugin with a path', kuberc: `${head}credentialPluginPolicy: DenyAll\n`, command: 'FOLDER/login', runs: false },
  { what: 'a policy of another name', kuberc: `${head}credentialPluginPolicy: denyall\n`, command: 'login', runs: false },
  { what: 'a list with its name', kuberc: listed('login'), command: 'login', runs: true },
  { what: 'a list with its path', kuberc: listed('FOLDER/login'), command: 'login', runs: true },
  { what: 'a list with its name, of a plugin with a path', kuberc: listed('login'), command: 'FOLDER/login', runs: true },
  { what: 'a list with its path, of a plugin with a path', kuberc: listed('other', 'FOLDER/login'), command: 'FOLDER/login', runs: true },
  { what: 'a list with another name', kuberc: listed('other'), command: 'login', runs: false },
  { what: 'a list with another path', kuberc: listed('/nowhere/login'), command: 'login', runs: false },
  { what: 'a list with the beginning of its name', kuberc: listed('log'), command: 'login', runs: false },
  {
    what: 'a list without entries',
    kuberc: `${head}credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: []\n`,
    command: 'login',
    runs: false,
  },
  { what: 'the policy Allowlist without a list', kuberc: `${head}credentialPluginPolicy: Allowlist\n`, command: 'login', runs: false },
  { what: 'a list with an empty entry', kuberc: `${listed('login')}- command: ""\n`, command: 'login', runs: false },
  {
    what: 'a list without the policy Allowlist',
    kuberc: `${head}credentialPluginAllowlist:\n- command: login\n`,
    command: 'login',
    runs: false,
  },
  { what: 'no YAML', kuberc: 'a: [', command: 'login', runs: false, stricter: true },
  { what: 'another kind', kuberc: 'apiVersion: v1\nkind: Config\n', command: 'login', runs: false, stricter: true },
  { what: 'no file, and a plugin of the current folder by an empty entry of PATH', command: 'here', runs: false, path: ':/bin' },
  { what: 'no file, and a plugin of the current folder by a dot in PATH', command: 'here', runs: false, path: './:/bin' },
  { what: 'no file, and a plugin in a folder of the current one', command: 'here', runs: false, path: 'sub:/bin' },
];

export interface PluginGround {
  /** Home, and the current folder of what runs the plugin. */
  readonly home: string;
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  /** It is there once the plugin ran. */
  readonly marker: string;
}

/** A home with the case's kuberc, plugins that leave a marker, and one in the current folder. */
export async function pluginGround(one: PluginCase): Promise<PluginGround> {
  const root = await mkdtemp(join(tmpdir(), 'kuberc-'));
  const [home, folder, marker] = [join(root, 'home'), join(root, 'plugins'), join(root, 'ran')];
  await Promise.all([mkdir(join(home, '.kube'), { recursive: true }), mkdir(join(home, 'sub'), { recursive: true }), mkdir(folder)]);
  const answer = JSON.stringify({ apiVersion: PLUGIN_API, kind: 'ExecCredential', status: { token: 't' } });
  const script = `#!/bin/sh\n: > '${marker}'\necho '${answer}'\n`;
  const files = [join(folder, 'login'), join(folder, 'other'), join(home, 'here'), join(home, 'sub', 'here')];
  await Promise.all(files.map((file) => writeFile(file, script, { mode: 0o755 })));
  const placed = (text: string) => text.replaceAll('FOLDER', folder);
  if (one.kuberc !== undefined) await writeFile(join(home, '.kube', 'kuberc'), placed(one.kuberc));
  const path = one.path ?? [folder, '/usr/bin', '/bin'].join(delimiter);
  return { home, command: placed(one.command), env: { HOME: home, PATH: path }, marker };
}
