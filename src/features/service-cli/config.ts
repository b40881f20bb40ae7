import type { Action, Effect } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Datastore } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { type CliConfigForm, cliConfigFor, cliConfigText } from '../../kernel/profile.ts';
import { endpointsOf, endpointsProblem, type StoreSettings, secretKeyOf, unmountedPaths } from '../../kube/kvstore.ts';
import { attempt } from '../survey/index.ts';
import { readStoreSettings } from './cli-list.ts';

type Write = Extract<Effect, { type: 'write-cli-config' }>;

/** The configuration that the user wants written, or why it cannot be. */
export type WantedConfig = Write | { readonly missing: string };

/** The file that decides what the CLI talks to: the user's, else the usual one (cli notes 1.3). */
export function configFileOf({ options, profile }: Context): string {
  return options.cliConfig ?? profile.cli.configFile;
}

/** What `--cli-config` asks for; undefined without it, or if the file exists: the user's own is never overwritten. */
export async function wantedConfig(sources: Sources, context: Context, datastore: Datastore): Promise<WantedConfig | undefined> {
  const { cliConfig: to } = context.options;
  if (to === undefined || (await sources.files.exists(to))) return undefined;
  const form = context.profile.cli.config;
  if (form === undefined) return { missing: 'the profile does not say how it is written (cli.config)' };
  const folder = folderOf(to);
  if (!(await sources.files.isFolder(folder))) return { missing: `${folder} is not a folder: make it first` };
  if (!(await sources.files.writable(folder))) return { missing: `${folder} may not be written by this user` };
  return datastore === 'api' ? forApi(context, to) : forStore(sources, context, form, to);
}

function forApi({ kubeconfig, profile }: Context, to: string): WantedConfig {
  if (kubeconfig === undefined) {
    return {
      missing:
        'no single kubeconfig file leads to this cluster by itself: make one whose current context does, and name it alone with --kubeconfig',
    };
  }
  const content = cliConfigFor(profile, kubeconfig);
  if (content === undefined) return { missing: 'the profile has no word for the API datastore (datastore.api)' };
  return { type: 'write-cli-config', to, content };
}

async function forStore(sources: Sources, { profile }: Context, form: CliConfigForm, to: string): Promise<WantedConfig> {
  const { endpointsKey, kvstore, secret } = profile.datastore;
  const [type] = kvstore;
  if (type === undefined) return { missing: 'the profile has no word for the key-value datastore (datastore.kvstore)' };
  const read = await attempt(() => readStoreSettings(sources.cluster, profile));
  if ('unread' in read) return { missing: `the endpoints could not be read: ${read.unread}` };
  const settings = read.value;
  if (settings === undefined) return { missing: `no ConfigMap has ${endpointsKey}` };
  // Blanks are removed below; any other problem cannot be fixed here.
  const problem = endpointsProblem(endpointsOf(settings.endpoints).join(','));
  // What is no address may hold credentials: it is not repeated.
  if (problem !== undefined) return { missing: `${endpointsKey} of the cluster holds no endpoints that can be used` };
  const onHosts = await filesOnHosts(sources, profile, settings);
  if ('missing' in onHosts) return onHosts;
  // Each field names a file; with a key the file is written from this key of the Secret.
  const named = settings.paths.flatMap((path, index) => {
    const field = form.tlsFields[index];
    if (path === '' || field === undefined) return [];
    const key = onHosts.paths.includes(path) ? undefined : secretKeyOf(path);
    return [{ field, key, file: key === undefined ? path : `${to}.${key}` }];
  });
  const keys = named.flatMap(({ file, key }) => (key === undefined ? [] : [[file, key] as const]));
  const spec = {
    [form.datastoreField]: type,
    [form.endpointsField]: endpointsOf(settings.endpoints).join(','),
    ...Object.fromEntries(named.map(({ field, file }) => [field, file])),
  };
  const content = cliConfigText(form, spec);
  if (keys.length === 0) return { type: 'write-cli-config', to, content };
  if (secret === undefined) return { missing: 'the profile names no Secret with the certificates (datastore.secret)' };
  const { namespace } = settings.ref;
  const scope = namespace === undefined ? {} : { namespace };
  const ref = { apiVersion: 'v1', kind: 'Secret', name: secret, ...scope };
  const review = await attempt(() =>
    sources.cluster.reviewAccess([{ verb: 'get', group: '', resource: 'secrets', name: secret, ...scope }]),
  );
  if ('value' in review && review.value[0] === false)
    return { missing: `this user may not read ${refText(ref)}, which holds the certificates` };
  const files = Object.fromEntries(keys);
  return { type: 'write-cli-config', to, content, certificates: { secret: ref, files } };
}

/** What the cluster's own ConfigMap says. What is no address may hold credentials: it is not repeated. */
export async function installedEndpoints(cluster: Sources['cluster'], profile: Context['profile']): Promise<string | undefined> {
  const read = await attempt(() => readStoreSettings(cluster, profile));
  const endpoints = 'value' in read && read.value ? endpointsOf(read.value.endpoints).join(',') : '';
  return endpointsProblem(endpoints) === undefined ? endpoints : undefined;
}

/** Certificates that are files of the hosts: on one of them the CLI can use them where they are, elsewhere only the user can fetch them. */
async function filesOnHosts(
  { cluster, files }: Sources,
  { datastore: { secret } }: Context['profile'],
  { paths, ref }: StoreSettings,
): Promise<{ readonly paths: readonly string[] } | { readonly missing: string }> {
  if (secret === undefined) return { paths: [] };
  const scope = ref.namespace === undefined ? {} : { namespace: ref.namespace };
  const agents = await attempt(() => cluster.list(K.DaemonSet, scope));
  if ('unread' in agents) return { missing: `where the certificates lie could not be read: ${agents.unread}` };
  const onHosts = unmountedPaths(paths, agents.value, secret);
  for (const path of onHosts) {
    if (await files.exists(path)) continue;
    return {
      missing: `the certificates are files of the hosts, and this machine has no ${path}: run this on a host that has them, or copy them and write the file yourself`,
    };
  }
  return { paths: onHosts };
}

/** Writing it, or what the user has to do instead. */
export function configActions(wanted: WantedConfig | undefined, context: Context): readonly Action[] {
  if (wanted === undefined) return [];
  const file = configFileOf(context);
  const head = { ref: '§4.4/4', undo: 'partial' } as const;
  if ('missing' in wanted) {
    const instruction = `${file} is not written: ${wanted.missing}`;
    return [{ ...head, id: 'config', title: `write ${file}`, effect: { type: 'ask', instruction, awaited: true } }];
  }
  return [{ ...head, id: 'config', title: `write ${file}, by which ${context.profile.cli.program} reaches the datastore`, effect: wanted }];
}

/** Of an absolute path, of any system. */
export function folderOf(file: string): string {
  const cut = Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\'));
  return cut <= 0 ? file.slice(0, 1) : file.slice(0, cut);
}

export function fileNameOf(file: string): string {
  return file.slice(folderOf(file).length).replace(/^[/\\]/, '');
}
