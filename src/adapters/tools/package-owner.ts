import { realpath } from 'node:fs/promises';
import { command, type FileOwner, quoteArgument } from '../../kernel/argv.ts';
import { interrupted } from '../../kernel/interruption.ts';
import type { Environment } from '../kubeconfig/connection.ts';
import { GROUPED } from './run-program.ts';

type Owner = Extract<FileOwner, { removeWith: string }>;

interface Question {
  /** The program's own name. */
  readonly manager: string;
  readonly args: (file: string) => readonly string[];
  /** The package in the program's answer. */
  readonly packageIn: RegExp;
  /** What it prints with exit code 1, line by line, for a file of no package; any other failure is no answer. */
  readonly nobodyIn: RegExp;
  readonly remove: (name: string) => string;
}

/** Each package manager's own question for the owner of a file, and how it removes a package. */
export const questions: readonly Question[] = [
  {
    manager: 'dpkg',
    args: (file) => ['-S', file],
    packageIn: /^([^\s:,]+)(?::[\w-]+)?(?:, [^/]*)?: \//m,
    nobodyIn: /^dpkg-query: no path found matching pattern /,
    remove: (name) => `apt-get remove ${name}`,
  },
  {
    manager: 'rpm',
    args: (file) => ['-qf', '--qf', '%{NAME}\\n', file],
    packageIn: /^([\w.+-]+)$/m,
    // Older packages’ names of the file need not exist.
    nobodyIn: /^(?:file .* is not owned by any package|error: file .*: No such file or directory)$/,
    remove: (name) => `rpm -e ${name}`,
  },
  {
    manager: 'apk',
    args: (file) => ['info', '--who-owns', file],
    packageIn: /is owned by (\S+)-[^-\s]+-r\d+$/m,
    nobodyIn: /: Could not find owner package$/,
    remove: (name) => `apk del ${name}`,
  },
  {
    manager: 'pacman',
    args: (file) => ['-Qo', file],
    packageIn: /is owned by (\S+) /m,
    nobodyIn: /^error: (?:No package owns .*|failed to read file .*: No such file or directory)$/,
    remove: (name) => `pacman -R ${name}`,
  },
];

/** Managers that are identified by where the file really lies. */
const places: readonly Pick<Question, 'manager' | 'packageIn' | 'remove'>[] = [
  { manager: 'brew', packageIn: /\/Cellar\/([^/]+)\//, remove: (name) => `brew uninstall ${name}` },
  { manager: 'snap', packageIn: /^(?:\/var\/lib\/snapd)?\/snap\/(?:bin\/)?([^/.]+)/, remove: (name) => `snap remove ${name}` },
  { manager: 'krew', packageIn: /\/\.krew\/store\/([^/]+)\//, remove: (name) => command`kubectl krew uninstall ${name}` },
  { manager: 'nix', packageIn: /^\/nix\/store\/[a-z0-9]+-([^/]+)\//, remove: (name) => `nix profile remove ${name}` },
];

/** Longest time that a manager has to answer, milliseconds. */
const LIMIT_MS = 10_000;

interface Asking {
  readonly limitMs?: number;
  /** Ctrl-C. */
  readonly cut?: AbortSignal | undefined;
}

/** The package manager that owns this file; undefined if none does. Throws Fault('interrupted') at Ctrl-C: that is no answer. */
export async function ownerOf(file: string, env: Environment, asking: Asking = {}): Promise<FileOwner | undefined> {
  const real = await realpath(file).catch(() => file);
  // By its name first: a snap's program is a link to the one program that runs all snaps.
  const byPlace = ownerByPlace(file) ?? ownerByPlace(real);
  if (byPlace) return byPlace;
  let failed: FileOwner | undefined;
  for (const question of questions) {
    for (const name of namesOf(file, real)) {
      const answer = await ask(question, name, env, asking);
      if (answer && 'removeWith' in answer) return answer;
      failed ??= answer;
    }
  }
  return failed;
}

/** Packages older than the merge of /bin into /usr/bin know their files by the short name. */
function namesOf(file: string, real: string): ReadonlySet<string> {
  return new Set([file, real, real.replace(/^\/usr\/(?=s?bin\/)/, '/')]);
}

/** In English: pacman and apk answer in the user's language otherwise. */
async function ask(
  question: Question,
  name: string,
  env: Environment,
  { limitMs = LIMIT_MS, cut }: Asking,
): Promise<FileOwner | undefined> {
  const { execa } = await import('execa');
  const args = question.args(name);
  const result = await execa(question.manager, [...args], {
    env: { ...env, LC_ALL: 'C' },
    extendEnv: false,
    reject: false,
    timeout: limitMs,
    stdin: 'ignore',
    // A Ctrl-C that lets an action finish must not end the package manager, which would look like an answer.
    detached: GROUPED,
    ...(cut === undefined ? {} : { cancelSignal: cut }),
  });
  if (result.isCanceled) throw interrupted();
  // A folder on PATH that may not be entered looks like a program that may not be run.
  if (result.code !== undefined && ['ENOENT', 'ENOTDIR', 'EACCES'].includes(result.code)) return undefined;
  const said = [result.stderr, result.stdout].flatMap((text) => text.split('\n')).filter((line) => line.trim() !== '');
  if (result.exitCode === 1 && said.length > 0 && said.every((line) => question.nobodyIn.test(line))) return undefined;
  const owner = result.exitCode === 0 ? ownerIn(question, result.stdout) : undefined;
  const { manager } = question;
  return owner ?? { manager, unknown: failureOf(result, said[0], limitMs), askWith: [manager, ...args].map(quoteArgument).join(' ') };
}

function failureOf(
  { timedOut, signal, exitCode }: { readonly timedOut: boolean; readonly signal?: string; readonly exitCode?: number },
  said: string | undefined,
  limitMs: number,
): string {
  if (timedOut) return `no answer within ${limitMs / 1000} s`;
  if (exitCode === undefined) return signal === undefined ? 'it could not be run' : `ended by ${signal}`;
  return said === undefined ? `exit ${exitCode}` : `exit ${exitCode}: ${said.trim().slice(0, 200)}`;
}

export function ownerByPlace(real: string): Owner | undefined {
  return places.flatMap((place) => ownerIn(place, real) ?? [])[0];
}

export function ownerIn(question: Pick<Question, 'manager' | 'packageIn' | 'remove'>, answer: string): Owner | undefined {
  const name = question.packageIn.exec(answer)?.[1];
  return name === undefined ? undefined : { manager: question.manager, removeWith: question.remove(name) };
}
