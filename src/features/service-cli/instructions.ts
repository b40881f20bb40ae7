import type { Action } from '../../kernel/action.ts';
import { command } from '../../kernel/argv.ts';
import { type Command, localCommand, repairCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import type { Datastore } from '../../kernel/installation.ts';
import { intentWords } from '../../kernel/intent.ts';
import { quoteArgument } from '../../kernel/quoting.ts';
import { sameRelease } from '../../kernel/release.ts';
import { type Part, type Said, text } from '../../kernel/step.ts';
import type { CliFacts, CliPod, LocalCli, NewCli } from './facts.ts';

/** Steps that only the user can do. They never stop the chain: the cluster is upgraded, and `verify` finds what is left. */
function ask(id: string, title: string, instruction: Said, next?: Command): Action {
  const effect = { type: 'ask', instruction, awaited: true, ...(next === undefined ? {} : { next }) } as const;
  return { id, title, ref: '§4.4/4', undo: 'full', effect };
}

/** What is to be seen to after the CLI was replaced: nothing here can tell whether it was. */
function advise(id: string, title: string, instruction: Said): Action {
  return { id, title, ref: '§4.4/4', undo: 'full', effect: { type: 'ask', instruction } };
}

/** `taken` is a file in the way that must not be written over. */
export function installByHand({ fresh, binDir }: CliFacts, { profile, goal }: Context, taken: string | undefined): Action {
  const { program } = profile.cli;
  const what = `${program} ${goal.release}`;
  if ('missing' in fresh) {
    const next = command`kubectl netsvc-upgrade verify`;
    const instruction = text`${what} is not installed: ${fresh.missing}. Put it on PATH as ${program} (mode 0755), then run: ${next}`;
    return ask('install', `install ${what}`, instruction, next);
  }
  const here = `${what} can be fetched from ${fresh.url} (${sumText(fresh)})`;
  const why = taken === undefined ? 'no folder for it is known' : `${taken} is in the way in ${binDir ?? ''}`;
  const named = command`kubectl netsvc-upgrade cli --bin-dir DIR`;
  return ask('install', `install ${what}`, text`${here}, but ${why}: name a folder on PATH with: ${named}`);
}

/** What is known of the sum before anything is downloaded. */
export function sumText({ sum }: NewCli): string {
  return sum ? `sha256 ${sum.sha256}, as ${sum.from} says` : 'no sum of it is known: not checked';
}

/** What a package manager put there, what may not be written, and what did not tell its release is never deleted. */
export function removeByHand({ file, release, owner, writable, age }: LocalCli, index: number): Action {
  const id = `by-hand-${index + 1}`;
  const title = `remove ${file} (${release ?? 'release unknown'})`;
  const look = localCommand`ls -l ${file}`;
  if (age === 'unknown') {
    const said = release === undefined ? 'does not tell its release' : `reports version ${release}`;
    return ask(id, title, `${file} ${said}: see what it is, and remove it if it is an older CLI`, look);
  }
  if (owner === 'perhaps a package') {
    const asked = 'the package manager of this machine tells (dpkg -S, rpm -qf, apk info --who-owns, pacman -Qo)';
    const instruction = `the older ${file} (${release}) has to go, but may belong to a package: ${asked}. Remove that package, or the file if it is in none`;
    return ask(id, title, instruction, look);
  }
  if (owner) return ask(id, title, `the older ${file} (${release}) belongs to ${owner.manager}: remove it with: ${owner.removeWith}`, look);
  const because = writable ? '' : ', its folder may not be written';
  return ask(id, title, `the older ${file} (${release}) has to go${because}: remove it with: sudo rm ${quoteArgument(file)}`, look);
}

export function podStep({ pod, namespace, name, image }: CliPod, { goal }: Context): Action {
  const remove = repairCommand`kubectl delete pod -n ${namespace} ${name}`;
  const instruction = text`${pod} runs an older CLI (${image}): change the tag in its manifest to ${goal.release}. Remove it with: ${remove}. Then apply that manifest again if it is needed`;
  return ask(`pod-${namespace}-${name}`, `replace the CLI in ${pod}`, instruction, command`kubectl describe pod -n ${namespace} ${name}`);
}

function isBeforeUpgrade({ installed }: CliFacts, { chain, goal }: Context): boolean {
  return installed !== undefined && !sameRelease(installed, goal.release) && chain?.pending.includes('apply') !== true;
}

/** Before the upgrade the cluster takes no CLI but one of the installed release (cli notes 1.4): `kept` is where that one goes. */
export function untilUpgraded(facts: CliFacts, kept: readonly string[], context: Context): readonly Action[] {
  if (!isBeforeUpgrade(facts, context)) return [];
  const { installed = '' } = facts;
  const { program } = context.profile.cli;
  const usable = kept.length > 0 ? kept.map(quoteArgument).join(' or ') : `a ${program} of ${installed}`;
  const instruction = `the cluster still runs ${installed}, and refuses the calls of a ${program} of another release. Until the upgrade is done, use ${usable}`;
  return [advise('until-upgraded', `keep a ${program} of ${installed} until the upgrade is done`, instruction)];
}

/** The datastore of the CLI (§4.4/4, §4.5/4), and the rule for everywhere else (§1/4). */
export function configuration(facts: CliFacts, context: Context): readonly Action[] {
  const { program } = context.profile.cli;
  const from = isBeforeUpgrade(facts, context) ? 'once the upgrade is done, ' : '';
  const other = intentWords(context.intent).goesBack ? 'a newer' : 'an older';
  const everywhere = `${from}${other} ${program} must not be used on this cluster any more: replace it on every other machine as well`;
  return [
    advise('configure', `configure ${program}`, datastoreText(facts, context)),
    advise('elsewhere', `replace ${program} elsewhere`, everywhere),
  ];
}

/** The two settings that lead the CLI to this cluster, as variables of a shell (§4.4/4, §4.5/4). */
function configLines(datastore: Datastore, endpoints: string | undefined, { kubeconfig, profile }: Context): readonly [Part, Part] {
  const { env, api, kvstore, endpointsEnv, endpointsKey } = profile.datastore;
  const type = localCommand`${env}=${(datastore === 'api' ? api : kvstore)[0] ?? datastore}`;
  if (datastore === 'api')
    return [type, kubeconfig === undefined ? 'KUBECONFIG=FILE (a kubeconfig of this cluster)' : localCommand`KUBECONFIG=${kubeconfig}`];
  const [name = endpointsKey] = endpointsEnv;
  return [type, endpoints === undefined ? `${name}=… (what the cluster has as ${endpointsKey})` : localCommand`${name}=${endpoints}`];
}

function datastoreText({ config, wanted, datastore, endpoints }: CliFacts, context: Context): Said {
  const { options, profile } = context;
  const { program, configFile } = profile.cli;
  const api = datastore === 'api';
  if (wanted !== undefined && 'to' in wanted) {
    const where =
      wanted.to === configFile
        ? `${program} reads ${configFile} by itself`
        : `give each of its commands the file: ${program} get nodes --config=${quoteArgument(wanted.to)}`;
    const others =
      api || options.cliConfig === configFile ? '' : `, and give --cli-config=${quoteArgument(wanted.to)} to the commands that call it`;
    return `${where}${others}`;
  }
  if (config === undefined) {
    const [first, second] = configLines(datastore, endpoints, context);
    const tls = api || profile.datastore.tlsKeys.length === 0 ? '' : ', and CA, certificate and key where it uses TLS';
    const write = profile.cli.config === undefined ? '' : text`; ${command`kubectl netsvc-upgrade cli --cli-config FILE`} writes one`;
    return text`let ${program} reach the ${api ? 'API' : 'key-value'} datastore by two variables: ${first} and ${second}${tls}. No file is written for it${write}`;
  }
  const names = config.datastore === undefined ? 'does not say which datastore it means' : `names the datastore ${config.datastore}`;
  const fits = config.datastore !== undefined && (config.datastore === 'kubernetes') === api;
  const then = fits
    ? 'see that it means this cluster'
    : `correct it for ${api ? 'the API datastore (kubernetes)' : 'the key-value datastore'}`;
  return `${config.file} alone decides what ${program} talks to, whatever the environment says; it ${names}: ${then}`;
}
