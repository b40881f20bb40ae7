import { type Command, command, type ToolResult } from '../../kernel/argv.ts';
import type { Context } from '../../kernel/context.ts';
import { compareReleases, parseRelease } from '../../kernel/release.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** Configuration file of the service's CLI, written where there is none; in key-value mode used instead of the profile's. */
    readonly cliConfig?: string;
  }
}

/** What a CLI said, whatever its exit code (cli notes 1.2). */
export type CliAnswer = Omit<ToolResult, 'durationMs'>;

export interface CliVersion {
  /** Release of the CLI itself. */
  readonly client?: string;
  /** Release that it read from the datastore; `unknown` is no release. */
  readonly cluster?: string;
  /** Why there is no cluster version. */
  readonly because?: string;
}

/** The release that a CLI says it is; undefined if it does not say. Its own lines come first, whatever becomes of the rest (cli notes 1.2). */
export function clientRelease(stdout: string): string | undefined {
  return /^Client Version:\s+(\S+)/m.exec(stdout)?.[1];
}

/**
 * Reads the answer of `version`: the client's lines come first. The rest is read as text, because exit 0 does not mean that a version was
 * found, and refusals are on either stream.
 */
export function parseCliVersion(answer: CliAnswer): CliVersion {
  const client = clientRelease(answer.stdout);
  const cluster = /^Cluster Version:\s+(\S+)/m.exec(answer.stdout)?.[1];
  const head = client === undefined ? {} : { client };
  if (cluster !== undefined && cluster !== 'unknown') return { ...head, cluster };
  return { ...head, because: reasonOf(answer, cluster) };
}

function reasonOf({ stdout, stderr, exitCode, problem }: CliAnswer, cluster: string | undefined): string {
  if (problem === 'timed-out') return 'it gave no answer in time: the datastore is not reachable with its settings';
  if (problem !== undefined) return `it could not be run (${problem})`;
  if (cluster === 'unknown') return 'the datastore holds no version yet';
  const words =
    stderr.trim() ||
    stdout
      .split('\n')
      .filter((line) => !/^(Client Version|Git commit|Build date):/.test(line))
      .join(' ')
      .trim();
  return words === '' ? `it said nothing (exit code ${exitCode ?? 'none'})` : (words.split('\n')[0] ?? words);
}

export type CliAge = 'older' | 'current' | 'newer' | 'unknown';

/** A CLI against the target, by the numbers; `unknown` if it does not tell a release (or `master`). */
export function ageOf(release: string | undefined, target: string): CliAge {
  const [own, wanted] = [parseRelease(release ?? ''), parseRelease(target)];
  if (!own || !wanted) return 'unknown';
  const order = compareReleases(own, wanted);
  return order < 0 ? 'older' : order > 0 ? 'newer' : 'current';
}

/** A field of the CLI's configuration file; undefined if its text does not have it. */
export function cliConfigField(text: string, field: string): string | undefined {
  return new RegExp(`^[ \\t]*["']?${field}["']?[ \\t]*:\\s*(?:"([^"]*)"|'([^']*)'|([^"'\\s,}]+))`, 'm')
    .exec(text)
    ?.slice(1)
    .find((value) => value !== undefined);
}

/** The sum that a list of `sum  name` lines, or a text that is nothing but a sum, has for a file; undefined if it is not listed. */
export function listedSum(list: string, file: string): string | undefined {
  const bare = /^\s*([0-9a-f]{64})\s*$/i.exec(list)?.[1];
  if (bare !== undefined) return bare.toLowerCase();
  const name = file.slice(file.lastIndexOf('/') + 1);
  for (const line of list.split('\n')) {
    const [, sum, listed = ''] = /^([0-9a-f]{64})\s+\*?(.+)$/i.exec(line.trim()) ?? [];
    if (sum !== undefined && listed.slice(listed.lastIndexOf('/') + 1) === name) return sum.toLowerCase();
  }
  return undefined;
}

/**
 * Shows all policies of a key-value store: one stored by an older release has a prefix that the list hides, so it is not found by its name.
 * Without this command's configuration file, the CLI would show another store's.
 */
export function showByCli({ profile: { cli }, options: { cliConfig } }: Pick<Context, 'profile' | 'options'>, kind: string): Command {
  const config = cliConfig === undefined ? [] : [`--config=${cliConfig}`];
  return command`${cli.program} get ${kind} -o yaml ${config}`;
}

export const showPoliciesByCli = (context: Pick<Context, 'profile' | 'options'>): Command => showByCli(context, 'globalnetworkpolicies');
