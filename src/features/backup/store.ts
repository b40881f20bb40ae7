import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { quoteArgument } from '../../kernel/quoting.ts';
import { endpointsOf, endpointsProblem, type StoreSettings, storeSettings } from '../../kube/kvstore.ts';

/** What the user has to save beside the backup where the service's data is in a key-value store: Kubernetes has none of it. */
export interface StoreBackup {
  /** For the plan, in one line. */
  readonly note: string;
  /** For `RESTORE.md`. */
  readonly section: string;
}

/** By the live objects: their ConfigMap names the endpoints and the paths of the certificates. */
export function storeBackup(live: readonly KubeObject[], profile: Profile): StoreBackup {
  const { endpointsKey, tlsKeys } = profile.datastore;
  const settings = storeSettings(live, endpointsKey, tlsKeys);
  const command = snapshotCommand(settings, profile);
  const first = command === undefined ? 'take a snapshot of it with its own tools first' : `take a snapshot of it first: ${command}`;
  return {
    note: `the data of the service is in the key-value store, and not in this backup; ${first} (see RESTORE.md)`,
    section: sectionOf(settings, command, profile),
  };
}

/** The store's own command, of one member: a snapshot of several is refused. */
function snapshotCommand(settings: StoreSettings | undefined, { datastore }: Profile): string | undefined {
  const { snapshot } = datastore;
  if (!snapshot) return undefined;
  const flags = (settings?.paths ?? []).flatMap((path, index) => {
    const flag = snapshot.tlsFlags[index];
    return path === '' || flag === undefined ? [] : `${flag}=${pathOf(path)}`;
  });
  const [endpoint = 'ENDPOINT'] = installedEndpoints(settings);
  return [snapshot.command, `${snapshot.endpointFlag}=${quoteArgument(endpoint)}`, ...flags].join(' ');
}

/** Only what is an address: anything else may hold credentials. */
function installedEndpoints(settings: StoreSettings | undefined): readonly string[] {
  return settings === undefined || endpointsProblem(settings.endpoints) !== undefined ? [] : endpointsOf(settings.endpoints);
}

/** Never a certificate or key itself, where somebody wrote one in the place of its path. */
function pathOf(path: string): string {
  return /^\/\S{1,200}$/.test(path) ? quoteArgument(path) : 'FILE';
}

function sectionOf(settings: StoreSettings | undefined, command: string | undefined, profile: Profile): string {
  const snapshot =
    command === undefined
      ? `Take a snapshot with the store's own tools${endpointsText(settings)}.\n`
      : `    ${command}\n\nOne endpoint is enough${endpointsText(settings)}. ${certificatesText(settings, profile)}\n`;
  return `## The data of the service is not in this folder

It is in the key-value store: policies, address pools, settings, all that \`${profile.cli.program}\` shows. Neither Kubernetes
nor this folder has any of it. Save it yourself, before the upgrade:

${snapshot}
A snapshot is of the whole store. If something else keeps its data there as well, putting the snapshot back takes that back too.

${kindsText(profile)}
`;
}

function endpointsText(settings: StoreSettings | undefined): string {
  const all = installedEndpoints(settings);
  return all.length === 0 ? '' : ` (installed: ${all.join(', ')})`;
}

function certificatesText(settings: StoreSettings | undefined, { datastore }: Profile): string {
  if (!settings?.paths.some((path) => path !== '')) return 'No certificates are set.';
  const secret = datastore.secret === undefined ? '' : `, from the Secret ${settings.ref.namespace}/${datastore.secret}`;
  return `The certificates are named by their paths in the agents' containers${secret}: use the paths of these files on the machine where you run it.`;
}

/** Files that can be put back one by one; the CLI asks namespaced kinds in one namespace unless told otherwise. */
function kindsText({ cli }: Profile): string {
  const { program, configFile, kinds } = cli;
  const who = `with the \`${program}\` of the installed release (${configFile} tells it the store)`;
  if (!kinds) return `Besides, for each kind in use, ${who}:\n\n    ${program} get KIND -o yaml > KIND.yaml`;
  const loop = (names: readonly string[], flag: string) =>
    `    for kind in ${names.join(' ')}; do ${program} get $kind${flag} -o yaml > $kind.yaml; done`;
  return `Besides, a file per kind, ${who}:

${loop(kinds.cluster, '')}
${loop(kinds.namespaced, ' --all-namespaces')}

A kind that the installed release does not have is refused by name, and the others are written. \`${program} apply -f FILE\` puts one back.
What the agents write themselves, such as addresses given out, is in the snapshot alone.`;
}
