import { command } from '../../kernel/argv.ts';
import { type Check, notApplicable, ok } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { mapAt, parsedJson } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { Sources } from '../../kernel/ports.ts';
import { certificatesOf, endpointsOf, type StoreSettings } from '../../kube/kvstore.ts';
import { attempt, cliConfigField, failed } from '../survey/index.ts';
import {
  askGuid,
  type CliCall,
  guidIn,
  guidOf,
  readStoreSettings,
  type StoreExpected,
  type StoreQuestion,
  storeQuestion,
} from './cli-list.ts';

/** Every call of the service's CLI gets a limit: with an unreachable store it hangs for ever (cli notes 1.1). */
const ANSWER_MS = 10_000;

/** `doubt`: the user has said that it is the installation's. */
export interface ProvedStore {
  readonly store: StoreExpected;
  readonly provedBy: string;
  readonly doubt?: StoreDoubt;
}

/** The check by whose id the user says that the store with this GUID is the installation's. */
const ACCEPTED_AS = 'NS-725';

/**
 * Whether the CLI with these arguments works on this installation's key-value store. Names and addresses prove nothing: the GUID is
 * compared with that of the installation's own endpoints or, if those are unreachable, the endpoints must be identical.
 */
export async function proveStore(sources: Sources, context: Context, call: CliCall, config: string): Promise<ProvedStore | StoreDoubt> {
  const question = storeQuestion(context.profile);
  if (question === undefined) return { because: 'the profile does not say by what a store is told (clusterInformation.guidField)' };
  const [shown, own] = await Promise.all([
    sources.tools
      .run(askGuid(question, call.args), { program: call.program, timeoutMs: ANSWER_MS })
      .then((answer) => guidIn(question, answer)),
    attempt(() => readOwn(sources, context, question)),
  ]);
  if ('because' in shown) return { because: `${call.program} with ${config} cannot tell which store it reaches: ${shown.because}` };
  const { guid } = shown;
  const proven = (provedBy: string): ProvedStore => ({ store: { ...question, guid }, provedBy });
  const told = 'value' in own ? own.value : undefined;
  if (told?.guid === guid) return proven(`${told.endpoint} of the installation holds the same ${question.guidField}`);
  if (told?.guid !== undefined)
    return { because: `${config} leads to another store: its ${question.guidField} is ${guid}, the installation’s is ${told.guid}` };
  if (await namesTheSame(sources, context, config, told?.settings)) return proven(`${config} names the installation’s endpoints`);
  const why = 'unread' in own ? own.unread : own.value.because;
  const because = `${config} leads to a store with the ${question.guidField} ${guid}, and whether that is the installation’s cannot be told: ${why}`;
  const isWaived = context.options.accept.some(({ check, subject }) => check === ACCEPTED_AS && subject === guid);
  return isWaived ? { ...proven('you said so'), doubt: { because, guid } } : { because, guid };
}

interface Own {
  readonly settings?: StoreSettings;
  readonly endpoint?: string;
  readonly guid?: string;
  readonly because: string;
}

/** What the installation's own endpoints say to the installation's own certificates. */
async function readOwn({ cluster, store }: Sources, { profile }: Context, question: StoreQuestion): Promise<Own> {
  const { endpointsKey, secret, resourcesKey } = profile.datastore;
  const settings = await readStoreSettings(cluster, profile);
  if (settings === undefined) return { because: `no ConfigMap has ${endpointsKey}` };
  if (resourcesKey === undefined) return { settings, because: 'the profile does not say where a store keeps it (datastore.resourcesKey)' };
  const stored = secret === undefined ? undefined : await cluster.get(K.Secret, secret, settings.ref.namespace);
  const certificates = certificatesOf(settings.paths, mapAt(stored, 'data') as Readonly<Record<string, string>>);
  const ask = async (endpoint: string): Promise<Omit<Own, 'settings'>> => {
    // On this machine a node's own store address means whatever runs here, unless the cluster's authority proves it.
    if (isLocalEndpoint(endpoint) && !(endpoint.startsWith('https:') && certificates.ca !== undefined))
      return { endpoint, because: `${endpoint} means another machine on each machine` };
    const value = await attempt(() => store.value(endpoint, certificates, `${resourcesKey}/${question.plural}/${question.name}`));
    if ('unread' in value) return { endpoint, because: `${endpoint}: ${value.unread}` };
    const guid = guidOf(parsedJson(value.value ?? ''), question.guidField);
    return { endpoint, because: `${endpoint} holds no ${question.guidField}`, ...(guid === undefined ? {} : { guid }) };
  };
  const asked = await Promise.all(endpointsOf(settings.endpoints).map(ask));
  const because = asked.map((one) => one.because).join('; ');
  return { settings, because, ...asked.find(({ guid }) => guid !== undefined) };
}

async function namesTheSame({ files }: Sources, { profile }: Context, config: string, settings?: StoreSettings): Promise<boolean> {
  const field = profile.cli.config?.endpointsField;
  if (field === undefined || settings === undefined) return false;
  const named = cliConfigField(await files.readText(config), field);
  if (named === undefined || endpointsOf(settings.endpoints).some(isLocalEndpoint)) return false;
  return sameEndpoints(named, settings.endpoints);
}

/** True if the address means the machine that uses it. */
function isLocalEndpoint(endpoint: string): boolean {
  return /^https?:\/\/(localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0|\[::\])(:|\/|$)/i.test(endpoint);
}

/** True if every address of one list is in the other: a CLI may be given fewer of them. */
function sameEndpoints(some: string, all: string): boolean {
  const plain = (text: string) => endpointsOf(text).map((one) => one.replace(/\/$/, '').toLowerCase());
  const known = new Set(plain(all));
  const named = plain(some);
  return named.length > 0 && named.every((one) => known.has(one));
}

/** Why it is not known that a CLI reaches the installation's store; `guid` where the user may say that it does. */
export interface StoreDoubt {
  readonly because: string;
  readonly guid?: string;
}

/** The service's CLI as checks see it: its file and how its key-value store was proved, or why none may be called. */
export type JudgedCli =
  | { readonly program: string; readonly provedBy?: string; readonly doubt?: StoreDoubt }
  | { readonly missing: string; readonly doubt?: StoreDoubt };

/** A CLI that is led to another cluster's store would delete that cluster's endpoints and policies. */
export const storeIsOurs: Check<{ readonly cli: JudgedCli; readonly needsCli: boolean }> = {
  id: 'NS-725',
  title: 'CLI reaches this cluster’s key-value store',
  category: 'follow-up',
  severity: 'error',
  ref: '§4.5/5',
  judge({ cli, needsCli }, { profile }) {
    if (!needsCli) return notApplicable('there is nothing to do with the CLI');
    if (!cli.doubt) {
      if ('missing' in cli) return notApplicable('there is no CLI to be called');
      return cli.provedBy === undefined ? notApplicable('the data is in the API') : ok(cli.provedBy);
    }
    const { because, guid } = cli.doubt;
    const { program } = profile.cli;
    if (guid === undefined) return failed(because, ANOTHER, { next: NEXT });
    return failed(because, `${UNTOLD} ${program} get clusterinformation default -o yaml.`, { next: NEXT, evidence: [{ text: guid }] });
  },
};

const NEXT = command`kubectl netsvc-upgrade explain NS-725`;
const ANOTHER = 'Let --cli-config write a configuration file for this cluster, and name that file in this command too.';
const UNTOLD =
  'Name the installation’s own endpoints in the CLI’s configuration file. If this is the cluster’s store, waive the check by its GUID. Read the GUID on a node of the cluster:';
