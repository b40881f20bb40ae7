import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, normalize } from 'node:path';
import { Fault, messageOf } from '../../kernel/fault.ts';
import { isRecord, type JsonMap } from '../../kernel/json.ts';
import type { Environment } from '../kubeconfig/connection.ts';

/** Which file a program's name means, with the PATH of this environment; undefined if there is none. */
export type Find = (program: string) => Promise<string | undefined>;

const NEXT = 'allow it there (credentialPluginPolicy, credentialPluginAllowlist), or choose another user with --user or --context';

/** Throws Fault('usage') unless the user's kuberc lets this plugin run, whatever kubectl is installed. Unreadable: refused. */
export async function assertPluginAllowed(command: string, env: Environment, find: Find): Promise<void> {
  const file = kubercFile(env);
  const preference = file === undefined ? undefined : await readPreference(file, Boolean(env.KUBERC));
  if (file === undefined || preference === undefined) return;
  const { credentialPluginPolicy: policy, credentialPluginAllowlist: list } = preference;
  const refuse = (why: string) => new Fault('usage', `credential plugin ${command} is not allowed by ${file}: ${why}`, [NEXT]);
  switch (policy ?? '') {
    case '':
    case 'AllowAll':
      if (list !== undefined && list !== null) throw refuse('it has a credentialPluginAllowlist, and a policy that is not Allowlist');
      return;
    case 'DenyAll':
      throw refuse('credentialPluginPolicy is DenyAll');
    case 'Allowlist':
      if (!(await isListed(command, entriesOf(list, refuse), find))) throw refuse('it is not on its credentialPluginAllowlist');
      return;
    default:
      throw refuse(`credentialPluginPolicy ${JSON.stringify(policy)} is none of AllowAll, DenyAll and Allowlist`);
  }
}

/** As kubectl finds it; undefined where it is turned off. */
function kubercFile({ KUBERC, KUBECTL_KUBERC, HOME }: Environment): string | undefined {
  if (KUBERC === 'off' || /^(false|0|f)$/i.test(KUBECTL_KUBERC ?? '')) return undefined;
  return KUBERC || join(HOME || homedir(), '.kube', 'kuberc');
}

async function readPreference(file: string, isNamed: boolean): Promise<JsonMap | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (thrown) {
    if (!isNamed && (thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(file, messageOf(thrown));
  }
  // Few have the file: for everybody else the parser of YAML is not loaded.
  const { yamlDocuments } = await import('./yaml-documents.ts');
  const read = yamlDocuments(text);
  if (read.broken !== undefined) throw unreadable(file, read.broken);
  const found = read.documents.filter((one) => one !== null && one !== undefined);
  const wrong = found.find((one) => !isPreference(one));
  if (wrong !== undefined) throw unreadable(file, 'it is no Preference of kubectl.config.k8s.io');
  return found[0] as JsonMap | undefined;
}

function isPreference(value: unknown): value is JsonMap {
  return isRecord(value) && value.kind === 'Preference' && /^kubectl\.config\.k8s\.io\//.test(String(value.apiVersion));
}

function unreadable(file: string, why: string): Fault {
  return new Fault('usage', `the preferences of kubectl cannot be read, so no credential plugin is run: ${file}: ${why}`, [
    'correct the file; KUBERC names another, KUBERC=off none',
  ]);
}

/** Commands of the list; `name` is kubectl 1.35's word. Throws `refuse`'s error for an entry without a command, which is a slip. */
function entriesOf(list: unknown, refuse: (why: string) => Fault): readonly string[] {
  if (!Array.isArray(list) || list.length === 0) throw refuse('its credentialPluginAllowlist is missing or empty');
  return list.map((entry) => {
    const command: unknown = isRecord(entry) ? (entry.command ?? entry.name) : undefined;
    if (typeof command !== 'string' || command === '') throw refuse('an entry of its credentialPluginAllowlist names no command');
    return command;
  });
}

/** A full path is the plugin itself, or where it was found; a bare name is the same name, or is found at the same place. */
async function isListed(command: string, entries: readonly string[], find: Find): Promise<boolean> {
  const place = await find(command);
  const same = [normalize(command), ...(place === undefined ? [] : [place])];
  for (const entry of entries) {
    if (same.includes(entry)) return true;
    if (place !== undefined && !/[/\\]/.test(entry) && (await find(entry)) === place) return true;
  }
  return false;
}
