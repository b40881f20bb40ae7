import { type Command, command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, ok, type Reading, read } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { type ObjectRef, refText } from '../../kernel/object.ts';
import type { StoreHealth } from '../../kernel/ports.ts';
import { endpointsOf, endpointsProblem, type StoreSettings } from '../../kube/kvstore.ts';
import { failed, failIfAny, table } from '../survey/index.ts';

/** What the checks of the key-value store look at; undefined on the other paths. */
export interface StoreJudged {
  readonly store: StoreFacts | undefined;
  /** Secrets of the target that would take away values which the cluster has. */
  readonly emptied: readonly ObjectRef[];
}

export interface StoreFacts {
  /** Of the target as it will be applied; undefined if it names no endpoints at all. */
  readonly settings: StoreSettings | undefined;
  /** Keys of the Secret that have a value in the cluster; undefined where the profile names no Secret. */
  readonly secretKeys: Reading<readonly string[]> | undefined;
  /** Places of the target that still hold the release's placeholder. */
  readonly placeholders: readonly Evidence[];
  /** Paths of certificates that are files of the hosts: nothing here can read them. */
  readonly onHosts: readonly string[];
  readonly health: readonly StoreHealth[];
}

const OTHER_PATH = 'the data is not in a key-value store';

const NAME_THEM =
  'Name them with --kvstore-endpoints https://HOST:PORT[,…]; or give your manifest with --installed-manifest. A file given with --upgrade-file has to say them itself.';
const NOT_REACHED = 'Write them into the file given with --upgrade-file, which is applied unchanged, or omit --kvstore-endpoints.';

/** What the user asked for by flag and the target does not say. */
function otherThan(given: string | undefined, { endpoints }: StoreSettings): string | undefined {
  const there = endpointsOf(endpoints).join(',');
  return given === undefined || given === there ? undefined : `the target has ${there}, not ${given} as --kvstore-endpoints asks`;
}

/** Endpoints and paths of the certificates, as the agents read them. */
function showSettings({ ref }: Pick<StoreSettings, 'ref'>): Command {
  return command`kubectl describe configmap ${ref.name} -n ${ref.namespace ?? ''}`;
}

export const storeChecks: readonly Check<StoreJudged>[] = table({ category: 'manifest', severity: 'error', ref: '§4.5/1' }, [
  /** An unedited manifest breaks the agents of the whole cluster, with exit 0 (§4.5/1). */
  {
    id: 'NS-209',
    title: 'endpoints of the key-value store set',
    isNeverWaived: true,
    judge({ store }, { options }) {
      if (!store) return notApplicable(OTHER_PATH);
      const { settings, placeholders } = store;
      const given = options.kvstoreEndpoints;
      const problem = settings
        ? (endpointsProblem(settings.endpoints) ?? otherThan(given, settings))
        : 'no ConfigMap of the target names them';
      const isUnedited = placeholders.length > 0;
      const evidence = isUnedited || !problem ? placeholders : [{ text: settings ? refText(settings.ref) : 'target', detail: problem }];
      return failIfAny(evidence, `endpoints: ${settings?.endpoints ?? ''}`, () => ({
        because: isUnedited ? 'the target still holds the placeholder of the release' : `endpoints of the key-value store: ${problem}`,
        hint: given === undefined ? NAME_THEM : NOT_REACHED,
        // What was given has not reached the target: given again it would not either.
        next: given === undefined ? command`kubectl netsvc-upgrade explain NS-209` : command`kubectl netsvc-upgrade plan -o wide`,
      }));
    },
  } /** Certificates are paths in one place and values in another; both or neither. */,
  {
    id: 'NS-210',
    title: 'certificates of the key-value store whole',
    judge({ store }) {
      if (!store?.settings || !store.secretKeys) return notApplicable(store ? 'the profile names no Secret for the store' : OTHER_PATH);
      const { endpoints, paths, ref } = store.settings;
      const keys = read(store.secretKeys);
      const set = paths.filter((path) => path !== '');
      const usesTls = endpointsOf(endpoints).some((one) => one.startsWith('https:'));
      const { onHosts } = store;
      const inSecret = set.filter((path) => !onHosts.includes(path)).map((path) => path.slice(path.lastIndexOf('/') + 1));
      const missing = inSecret.filter((key) => !keys.includes(key));
      const hint = 'Put the paths into the ConfigMap and the values into the Secret of the installation, then run again.';
      const fails = (because: string) =>
        failed(because, hint, { evidence: [{ text: refText(ref), object: ref }], next: showSettings({ ref }) });
      if (usesTls && set.length === 0) return fails('the endpoints are https, and no certificate is set');
      if (missing.length === 0 && onHosts.length > 0) return ok(`not checked: files of the hosts (${onHosts.join(', ')})`);
      if (missing.length > 0) return fails(`the Secret has no ${missing.join(', ')}, which the ConfigMap points to`);
      if (keys.length > 0 && set.length === 0) return fails('the Secret has certificates, and the ConfigMap points to none of them');
      return ok(
        set.length > 0
          ? `${counted(set.length, 'certificate setting')} with ${set.length === 1 ? 'its value' : 'their values'}`
          : 'without certificates, as installed',
      );
    },
  } /** The release's Secret is empty: applied as it is it takes the user's keys away (domain §0.9). */,
  {
    id: 'NS-211',
    title: 'no Secret emptied',
    judge: ({ emptied }) =>
      failIfAny(
        emptied.map((ref) => ({ text: refText(ref), object: ref, detail: 'values not shown' })),
        'no Secret loses a value',
        () => ({
          because: `${counted(emptied.length, 'Secret')} of the target would take away values that the cluster has`,
          hint: 'Leave it out of the file: the cluster keeps its own.',
          next: command`kubectl describe secret ${emptied[0]?.name ?? ''} -n ${emptied[0]?.namespace ?? ''}`,
        }),
      ),
  } /** The CLI waits for ever for a store that does not answer (cli notes §4). */,
  {
    id: 'NS-212',
    title: 'key-value store answers',
    ref: '§4.5/5',
    judge({ store }) {
      if (store && store.onHosts.length > 0) return notApplicable('not checked: the certificates are files of the hosts');
      if (!store || store.health.length === 0) return notApplicable(store ? 'no endpoint to ask' : OTHER_PATH);
      const bad = store.health.filter(({ state }) => state === 'refused' || state === 'unhealthy');
      const unreached = store.health.filter(({ state }) => state === 'unreached');
      const passed =
        unreached.length === 0
          ? `${counted(store.health.length, 'endpoint')} healthy`
          : `not checked from here: ${unreached.map(({ endpoint, because }) => `${endpoint} (${because})`).join(', ')}`;
      const evidence = bad.map(({ endpoint, because }) => ({ text: endpoint, detail: because }));
      return failIfAny(evidence, passed, (names) => ({
        because: `the key-value store does not accept these certificates, or is not healthy: ${names}`,
        hint: 'Fix the store or its certificates first: agents that start now could not reach it either.',
        next: store.settings ? showSettings(store.settings) : command`kubectl netsvc-upgrade plan -o wide`,
      }));
    },
  },
]);
