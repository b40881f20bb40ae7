import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { KubeconfigDocument } from './kube-connection.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Types of the fields that this program uses; kubectl refuses a file in which one of them is of another. */
const TYPES: Readonly<Record<'cluster' | 'user' | 'context', Readonly<Record<string, 'string' | 'boolean' | 'object' | 'texts'>>>> = {
  cluster: {
    server: 'string',
    'tls-server-name': 'string',
    'insecure-skip-tls-verify': 'boolean',
    'certificate-authority': 'string',
    'certificate-authority-data': 'string',
    'proxy-url': 'string',
    'disable-compression': 'boolean',
  },
  user: {
    'client-certificate': 'string',
    'client-certificate-data': 'string',
    'client-key': 'string',
    'client-key-data': 'string',
    token: 'string',
    tokenFile: 'string',
    username: 'string',
    password: 'string',
    as: 'string',
    'as-uid': 'string',
    'as-groups': 'texts',
    'as-user-extra': 'object',
  },
  context: { cluster: 'string', user: 'string', namespace: 'string' },
};

/**
 * One kubeconfig file as `kubectl config view` would print it, without starting kubectl. Undefined wherever kubectl might see it
 * otherwise, or refuse it: then kubectl is asked, and its own words are shown.
 */
export async function readPlain(file: string): Promise<KubeconfigDocument | undefined> {
  try {
    const parsed = parseDocument(await readFile(file, 'utf8'), { version: '1.1', uniqueKeys: true, logLevel: 'silent' });
    if (parsed.errors.length > 0 || parsed.warnings.length > 0) return undefined;
    const value: unknown = parsed.toJS({ maxAliasCount: 0 });
    return isPlain(value) ? (value as KubeconfigDocument) : undefined;
  } catch {
    return undefined;
  }
}

function isPlain(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { apiVersion = 'v1', kind = 'Config', 'current-context': current = '' } = value;
  if (apiVersion !== 'v1' || kind !== 'Config' || typeof current !== 'string') return false;
  return isList(value.clusters, 'cluster') && isList(value.users, 'user') && isList(value.contexts, 'context');
}

/** Entries with names of their own: of two alike kubectl takes neither in silence. */
function isList(list: unknown, field: keyof typeof TYPES): boolean {
  if (list === undefined || list === null) return true;
  if (!Array.isArray(list) || !list.every(isMap)) return false;
  const names = list.map(({ name }) => name);
  const plain = list.every((entry) => typeof entry.name === 'string' && isEntry(entry[field], field));
  return plain && new Set(names).size === names.length;
}

function isEntry(entry: unknown, field: keyof typeof TYPES): boolean {
  if (!isMap(entry)) return false;
  // kubectl fills in what a plugin's entry leaves out, by the plugin's version.
  if (entry.exec !== undefined || entry['auth-provider'] !== undefined) return false;
  return Object.entries(TYPES[field]).every(([name, type]) => entry[name] === undefined || isOf(entry[name], type));
}

function isOf(value: unknown, type: string): boolean {
  if (type === 'texts') return Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (type === 'object') return isMap(value);
  return typeof value === type;
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
