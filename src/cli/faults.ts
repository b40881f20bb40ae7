import { command } from '../kernel/command.ts';
import { Fault, messageOf, stepsAfter } from '../kernel/fault.ts';
import { nearest } from '../kernel/nearest.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { look, text } from '../kernel/step.ts';
import { isOn } from './carried.ts';
import { COMMAND_NAMES } from './command-names.ts';
import { FLAG_ROWS } from './flags.ts';

/** A flag parser's error, read by shape, so that oclif need not be loaded here. */
interface ParseError extends Error {
  readonly oclif: { readonly exit?: number };
  readonly parse?: unknown;
  readonly flags?: readonly string[];
}

/** The command that failed: its name, and the flags it has. */
export interface Failed {
  readonly command: string;
  readonly flags: readonly string[];
}

/** Anything that was thrown, as the one error of this program. */
export function toFault(thrown: unknown, failed: Failed): Fault {
  if (thrown instanceof Fault) return thrown;
  if (thrown instanceof ApiFailure) return apiFault(thrown);
  if (isParseError(thrown)) return parseFault(thrown, failed);
  return new Fault('failed', messageOf(thrown), ['run again; if it stays, report it with what --version prints'], thrown);
}

function isParseError(thrown: unknown): thrown is ParseError {
  return (
    thrown instanceof Error &&
    'oclif' in thrown &&
    ('parse' in thrown || /^(Unexpected argument|Missing|Expected|Flag |Parsing )/.test(thrown.message))
  );
}

function parseFault(error: ParseError, { command: name, flags }: Failed): Fault {
  const help = look(text`see: ${command`kubectl netsvc-upgrade ${name} --help`}`);
  const unknown = error.flags?.[0]?.split('=')[0];
  if (unknown !== undefined) {
    const others = COMMAND_NAMES.filter((one) => FLAG_ROWS.some(([flag, row]) => `--${flag}` === unknown && isOn(row, one)));
    if (others.length > 0)
      return new Fault('usage', `${name} has no flag ${unknown}`, [`it is a flag of ${others.join(', ')}`, help], error);
    const meant = unknown.startsWith('--') ? nearest(unknown.slice(2), flags) : undefined;
    const instead = unknown === '--json' ? ['write -o json'] : meant ? [`did you mean --${meant}?`] : [];
    return new Fault('usage', `unknown flag ${unknown}`, [...instead, help], error);
  }
  const fact = factOf(error.message);
  if (fact === 'flag --v expects a value') return new Fault('usage', fact, ['give a level: -v=1, or -v=6 for requests', help], error);
  if (/^unexpected argument: (?:true|false)$/.test(fact))
    return new Fault('usage', fact, ['write a flag like --yes without a value', help], error);
  return new Fault('usage', fact, [...valueMeant(fact), help], error);
}

/** `expected --from=aply to be one of: preflight, apply`: the value that was most likely meant. */
function valueMeant(fact: string): readonly string[] {
  const [, flag, written = '', options = ''] = /^expected (--[\w-]+)=(.*) to be one of: (.+)$/.exec(fact) ?? [];
  const meant = flag === undefined ? undefined : nearest(written, options.split(', '));
  return meant === undefined ? [] : [`did you mean ${flag}=${meant}?`];
}

/** oclif's lines as one fact, without its own hints. */
function factOf(message: string): string {
  const lines = message
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('See more help'));
  const [first = 'the command line cannot be read', ...rest] = lines;
  if (/^The following errors? occurred:$/.test(first)) return lowerFirst(rest.map(relationOf).join('; '));
  const flag = /^Parsing (--\S+)$/.exec(first)?.[1];
  return flag ? `${flag}: ${lowerFirst(rest.join(' '))}` : [lowerFirst(first.replace(/\.$/, '')), ...rest].join(' ');
}

/** What oclif says of flags that need or exclude each other, with flags written as they are typed. */
function relationOf(line: string): string {
  return line.replace(/^Missing required flag (\S+)$/, 'Missing required flag --$1').replace(/^(--[\w-]+)=true cannot/, '$1 cannot');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function apiFault(failure: ApiFailure): Fault {
  const answer = failure.status === 0 ? 'no answer from the API server' : `Error from server (${failure.reason || failure.status})`;
  return new Fault('failed', `${answer}: ${failure.message}`, stepsAfter(failure), failure);
}
