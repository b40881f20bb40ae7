import { resolve } from 'node:path';
import { command } from '../kernel/command.ts';
import type { Acceptance, Context, Options } from '../kernel/context.ts';
import type { Side } from '../kernel/edit.ts';
import { Fault } from '../kernel/fault.ts';
import { nearest } from '../kernel/nearest.ts';
import { parseRelease, releaseTag } from '../kernel/release.ts';
import { look, text } from '../kernel/step.ts';
import { endpointsOf, endpointsProblem } from '../kube/kvstore.ts';
import { parseDuration } from './duration.ts';
import { FLAG_ROWS, type RunFlags } from './flags.ts';
import { USER_COMMANDS } from './user-commands.ts';

/** What the flags cannot know by themselves. */
export interface OptionFacts {
  readonly defaultRelease: string;
  /** Every check id that `--accept` may name. */
  readonly checks: readonly string[];
}

/** What a command has where no flag says otherwise. */
const USUAL = { failOn: 'error', dryRun: 'none', yes: false, maxFailed: 0 } as const;

/** The ids that `--accept` may name; the checks are loaded only where it was given. */
export async function acceptableChecks({ accept = [] }: Pick<RunFlags, 'accept'>): Promise<Pick<OptionFacts, 'checks'>> {
  if (accept.length === 0) return { checks: [] };
  const { checkTitles } = await import('../features/chain.ts');
  return { checks: Object.keys(checkTitles) };
}

/** What the flags ask for, pure. Throws Fault('usage') with the flag and how to write it. */
export function askedFor(flags: RunFlags, facts: OptionFacts): Pick<Context, 'goal' | 'options'> {
  return { goal: { release: readRelease(flags.release, facts.defaultRelease) }, options: toOptions(flags, facts) };
}

/** The same but for what is wanted. */
export function toOptions(flags: RunFlags, facts: Pick<OptionFacts, 'checks'>): Options {
  refuseSoakAlone(flags);
  return {
    ...USUAL,
    ...asGiven(flags),
    accept: (flags.accept ?? []).map((text) => readAcceptance(text, facts.checks)),
    ...readDecisions(flags.resolve),
    kvstoreEndpoints: readIf(flags['kvstore-endpoints'], readEndpoints),
    // It goes into the file beside other paths, for whoever calls the CLI from wherever.
    cliConfig: readIf(flags['cli-config'], (path) => resolve(path)),
    maxUnavailable: readIf(flags['max-unavailable'], readUnavailable),
    until: readUntil(flags),
    holdPolicyMigration: flags.until === 'controllers' ? true : undefined,
    userCommands: someOf(USER_COMMANDS.filter((name) => flags[name] !== undefined)),
    probeNetwork: readNetworkProbe(flags),
    forgetOwners: flags.forget,
  };
}

/** The values that are options, with no more to read than their rows say. */
function asGiven(flags: RunFlags): Partial<Options> {
  const values = FLAG_ROWS.flatMap(([name, { option, type }]) => {
    const value = flags[name as keyof RunFlags];
    if (option === undefined || value === undefined) return [];
    return [[option, type === 'duration' ? parseDuration(String(value), name) : value] as const];
  });
  return Object.fromEntries(values);
}

/** No default image: it may be out of reach, or not allowed. */
function readNetworkProbe(flags: RunFlags): Options['probeNetwork'] {
  const { 'probe-network': asked, 'probe-image': image, 'probe-namespace': namespace, 'probe-strict': strict } = flags;
  if (!asked) {
    const alone = strict ? '--probe-strict' : image === undefined ? namespace && '--probe-namespace' : '--probe-image';
    if (alone) throw new Fault('usage', `${alone} has no effect without --probe-network`, ['add --probe-network, or leave it out']);
    return undefined;
  }
  if (image && namespace) return { image, namespace, ...(strict ? { isStrict: true } : {}) };
  const missing = [...(image ? [] : ['--probe-image IMAGE']), ...(namespace ? [] : ['--probe-namespace NAME'])].join(' and ');
  throw new Fault('usage', `--probe-network needs ${missing}`, ['add --probe-network --probe-image IMAGE --probe-namespace NAME']);
}

/** `NS-012` or `NS-012=DaemonSet/kube-system/calico-node`. */
export function readAcceptance(text: string, checks: readonly string[]): Acceptance {
  const equals = text.indexOf('=');
  const check = (equals < 0 ? text : text.slice(0, equals)).trim().toUpperCase();
  if (!checks.includes(check)) throw unknownCheck(check, checks, '--accept');
  if (equals < 0) return { check };
  const subject = text.slice(equals + 1).trim();
  if (subject === '')
    throw new Fault('usage', `--accept ${text} names no subject`, [`write --accept ${check}=SUBJECT, or --accept ${check}`]);
  return { check, subject };
}

function readEndpoints(text: string): string {
  const problem = endpointsProblem(text);
  if (problem === undefined) return endpointsOf(text).join(',');
  throw new Fault('usage', `--kvstore-endpoints ${text}: ${problem}`, [
    'write --kvstore-endpoints https://10.0.0.1:2379,https://10.0.0.2:2379',
  ]);
}

/** `IPPool/pool=new`: of an owner that was made again; everything else is of a field. */
function readDecisions(texts: readonly string[] | undefined): Pick<Options, 'resolutions' | 'ownerChoices'> {
  const choices = (texts ?? []).flatMap((text) => {
    const [, owner, choice] = /^([A-Za-z]+\/[^:=]+)=(new|drop)$/.exec(text) ?? [];
    return owner === undefined ? [] : [{ text, owner, choice: choice as 'new' | 'drop' }];
  });
  const fields = (texts ?? []).filter((text) => !choices.some((one) => one.text === text));
  return {
    resolutions: fields.length > 0 ? Object.fromEntries(fields.map(readResolution)) : undefined,
    ownerChoices: choices.length > 0 ? Object.fromEntries(choices.map(({ owner, choice }) => [owner, choice])) : undefined,
  };
}

/** `DaemonSet/kube-system/calico-node:spec…[IP].value=mine`; fields may hold an equals sign themselves. */
export function readResolution(text: string): readonly [string, Side] {
  const equals = text.lastIndexOf('=');
  const [field, side] = [text.slice(0, Math.max(0, equals)).trim(), text.slice(equals + 1).trim()];
  if (equals > 0 && field !== '' && (side === 'mine' || side === 'theirs')) return [field, side];
  throw new Fault('usage', `--resolve ${text} names no decision`, [
    'write --resolve FIELD=mine or --resolve FIELD=theirs, FIELD as the plan prints it',
    'for an owner that was created again: --resolve OWNER=new or --resolve OWNER=drop, OWNER as NS-746 prints it',
  ]);
}

export function unknownCheck(check: string, checks: readonly string[], where: string): Fault {
  const meant = nearest(check, checks);
  const known = look(text`see all of them with: ${command`kubectl netsvc-upgrade explain`}`);
  return new Fault('usage', `${where}: there is no check ${check}`, meant ? [`did you mean ${meant}?`, known] : [known]);
}

/** @param usual The profile's own release, which is the example in the error, too. */
export function readRelease(text: string | undefined, usual: string): string {
  const release = parseRelease(text ?? usual);
  if (!release) throw new Fault('usage', `--release=${text} is not a release tag`, [`write it as ${usual}`]);
  return releaseTag(release);
}

function refuseSoakAlone({ soak, canary }: RunFlags): void {
  if (soak === undefined || canary !== undefined) return;
  throw new Fault('usage', '--soak has no effect without --canary', ['add --canary 1, or leave it out']);
}

/** Throws Fault('usage') where the run would stop before: what continues it knows of no `--until`. */
function readUntil({ until, canary, soak }: RunFlags): Options['until'] {
  if (until === undefined || canary === undefined || soak !== undefined) return until;
  throw new Fault('usage', '--until has no effect with --canary alone: the run stops after its canary', [
    'add --soak 30m, so that it continues by itself, or leave one of them out',
  ]);
}

/** As Kubernetes has it: `3`, or `25%` of the nodes, rounded up. */
function readUnavailable(text: string): number | string {
  const [, count = '', percent] = /^(\d{1,6})(%?)$/.exec(text.trim()) ?? [];
  const number = Number(count);
  if (count === '' || number < 1 || (percent === '%' && number > 100))
    throw new Fault('usage', `--max-unavailable ${text} is no number of agents`, ['write --max-unavailable 3, or --max-unavailable 10%']);
  return percent === '%' ? `${number}%` : number;
}

const someOf = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

const readIf = <T>(text: string | undefined, read: (text: string) => T): T | undefined => (text === undefined ? undefined : read(text));
