import { readFileSync } from 'node:fs';
import type { Command } from '@oclif/core/command';
import type { LiveNames, Row } from './flag.ts';
import { FLAGS } from './flags.ts';

/** Directives of kubectl's completion protocol (last line, `:<n>`). */
const FILES = 0;
const NO_FILES = 4;
const KEEP_ORDER = 36;

type Choice = readonly [value: string, about: string];
type Flag = Command.Cached['flags'][string];

/** What oclif knows of the commands without loading them; completion needs nothing else of oclif. */
export interface Manifest {
  readonly version: string;
  readonly commands: Readonly<Record<string, Command.Cached>>;
}

/** Looks up names for which the user presses Tab, with the words before: they may say which cluster. Never throws: none are offered. */
export type LookUp = (names: LiveNames, before: readonly string[]) => Promise<readonly string[]>;

/** The entry's answer to `__complete WORDS…`: it never fails. */
export async function printCompletion(words: readonly string[]): Promise<void> {
  const manifest = JSON.parse(readFileSync(new URL('../../oclif.manifest.json', import.meta.url), 'utf8')) as Manifest;
  const lookUp: LookUp = async (names, before) => (await import('./complete-live.ts')).liveNames(names, before);
  process.stdout.on('error', () => undefined).write(await complete(words, manifest, lookUp));
}

/** As kubectl expects it: one `choice<TAB>description` per line, then `:<directive>`. */
export async function complete(words: readonly string[], { commands }: Manifest, lookUp: LookUp): Promise<string> {
  const [id = '', ...rest] = words;
  const current = rest.at(-1) ?? '';
  const shown = Object.values(commands).filter(({ hidden }) => !hidden);
  const names = shown.map(({ id, summary = '' }): Choice => [id, summary]);
  if (rest.length === 0) return answer(names, id, KEEP_ORDER);
  if (id === 'help') return answer(names, current, KEEP_ORDER);
  const command = shown.find((one) => one.id === id);
  if (!command) return answer([], '', NO_FILES);
  const before = rest.slice(0, -1);
  const place = { before, lookUp };
  const flags = Object.values(command.flags);
  const [flagText, value] = split(current);
  const waiting = before.includes('--') ? undefined : flags.find((flag) => isWritten(flag, before.at(-1) ?? ''));
  if (waiting?.type === 'option') return valuesOf(waiting, { ...place, current, prefix: '' });
  if (before.includes('--') || !current.startsWith('-')) return answer(await argumentsOf(command), current, NO_FILES);
  if (value === undefined) return answer(flagChoices(flags, before), current, NO_FILES);
  const flag = flags.find((one) => isWritten(one, flagText));
  return flag?.type === 'option' ? valuesOf(flag, { ...place, current: value, prefix: `${flagText}=` }) : answer([], '', NO_FILES);
}

interface Asked {
  readonly current: string;
  /** Stands before each value in the answer: `--context=`. */
  readonly prefix: string;
  readonly before: readonly string[];
  readonly lookUp: LookUp;
}

async function valuesOf(flag: Flag & { readonly type: 'option' }, { current, prefix, before, lookUp }: Asked): Promise<string> {
  const { live, file }: Row = FLAGS[flag.name as keyof typeof FLAGS];
  const check = flag.name === 'accept' ? await checkOfNodes(current) : '';
  const names = check === '' ? live : 'nodes';
  const put = (value: string): Choice => [`${prefix}${check}${value}`, ''];
  if (names) return answer((await lookUp(names, before)).map(put), `${prefix}${current}`, NO_FILES);
  const known = flag.options?.map(put) ?? (await knownValues(flag.name)).map(([value, about]): Choice => [`${prefix}${value}`, about]);
  const fitting = known.filter(([value]) => value.startsWith(`${prefix}${current}`));
  // Of values and files the shell can complete one: files, once no value fits.
  return answer(fitting, '', file && fitting.length === 0 ? FILES : KEEP_ORDER);
}

/** Values of flags that also take others. */
async function knownValues(flag: string): Promise<readonly Choice[]> {
  if (flag === 'accept') return checks();
  if (!['profile', 'release', 'variant', 'delete'].includes(flag)) return [];
  const { shippedProfiles } = await import('../profiles/index.ts');
  const values = {
    profile: shippedProfiles.map(({ name }) => name),
    release: shippedProfiles.map(({ defaultRelease }) => defaultRelease),
    variant: shippedProfiles.flatMap(({ variants }) => variants.map(({ id }) => id)),
    delete: shippedProfiles.map(({ temporaryPolicy }) => temporaryPolicy),
  };
  return [...new Set(values[flag as keyof typeof values])].map((value): Choice => [value, '']);
}

/** `NS-711=`, of a check that is accepted node by node; empty for any other. */
async function checkOfNodes(current: string): Promise<string> {
  const [id, value] = parted(current);
  if (value === undefined) return '';
  const { allChecks } = await import('../features/chain.ts');
  return allChecks.some((check) => check.ofNodes && check.id === id) ? `${id}=` : '';
}

async function checks(): Promise<readonly Choice[]> {
  return Object.entries((await import('../features/chain.ts')).checkTitles);
}

async function argumentsOf({ id, args }: Command.Cached): Promise<readonly Choice[]> {
  if (id === 'explain') return checks();
  return (Object.values(args)[0]?.options ?? []).map((value): Choice => [value, '']);
}

const split = (current: string) => (current.startsWith('--') ? parted(current) : ([current, undefined] as const));

function parted(current: string): readonly [string, string | undefined] {
  const equals = current.indexOf('=');
  return equals > 0 ? [current.slice(0, equals), current.slice(equals + 1)] : [current, undefined];
}

function isWritten({ name, char }: Flag, written: string): boolean {
  return written === `--${name}` || (char !== undefined && written === `-${char}`);
}

function flagChoices(flags: readonly Flag[], before: readonly string[]): readonly Choice[] {
  const isThere = ({ name }: Flag) => before.some((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  return flags
    .filter((flag) => (flag.type === 'option' && flag.multiple) || !isThere(flag))
    .map(({ name, summary = '' }): Choice => [`--${name}`, summary]);
}

function answer(offered: readonly Choice[], start: string, directive: number): string {
  const fitting = offered.filter(([value]) => value.startsWith(start));
  return [...fitting.map(([value, about]) => (about ? `${value}\t${about}` : value)), `:${directive}`, ''].join('\n');
}
