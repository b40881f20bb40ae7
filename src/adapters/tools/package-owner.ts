import { realpath } from 'node:fs/promises';
import type { Environment } from '../kubeconfig/connection.ts';

export interface Owner {
  readonly manager: string;
  readonly removeWith: string;
}

interface Question {
  readonly manager: string;
  readonly program: string;
  readonly args: (file: string) => readonly string[];
  /** The package in the program's answer. */
  readonly packageIn: RegExp;
  readonly remove: (name: string) => string;
}

/** Each package manager's own question for the owner of a file, and how it removes a package. */
export const questions: readonly Question[] = [
  {
    manager: 'dpkg',
    program: 'dpkg',
    args: (file) => ['-S', file],
    packageIn: /^([^\s:,]+)(?::[\w-]+)?(?:, [^/]*)?: \//m,
    remove: (name) => `apt-get remove ${name}`,
  },
  {
    manager: 'rpm',
    program: 'rpm',
    args: (file) => ['-qf', '--qf', '%{NAME}\\n', file],
    packageIn: /^([\w.+-]+)$/m,
    remove: (name) => `rpm -e ${name}`,
  },
  {
    manager: 'apk',
    program: 'apk',
    args: (file) => ['info', '--who-owns', file],
    packageIn: /is owned by (\S+)-[^-\s]+-r\d+$/m,
    remove: (name) => `apk del ${name}`,
  },
  {
    manager: 'pacman',
    program: 'pacman',
    args: (file) => ['-Qo', file],
    packageIn: /is owned by (\S+) /m,
    remove: (name) => `pacman -R ${name}`,
  },
];

/** Managers that are told by where the file really lies. */
const places: readonly { readonly manager: string; readonly path: RegExp; readonly remove: (name: string) => string }[] = [
  { manager: 'brew', path: /\/Cellar\/([^/]+)\//, remove: (name) => `brew uninstall ${name}` },
  { manager: 'snap', path: /^(?:\/var\/lib\/snapd)?\/snap\/(?:bin\/)?([^/.]+)/, remove: (name) => `snap remove ${name}` },
  { manager: 'krew', path: /\/\.krew\/store\/([^/]+)\//, remove: (name) => `kubectl krew uninstall ${name}` },
  { manager: 'nix', path: /^\/nix\/store\/[a-z0-9]+-([^/]+)\//, remove: (name) => `nix profile remove ${name}` },
];

/** Who else manages this file; undefined if nobody does, as far as the managers of this machine know. */
export async function ownerOf(file: string, env: Environment): Promise<Owner | undefined> {
  const real = await realpath(file).catch(() => file);
  // By its name first: a snap's program is a link to the one program that runs all snaps.
  const byPlace = ownerByPlace(file) ?? ownerByPlace(real);
  if (byPlace) return byPlace;
  for (const question of questions) {
    for (const name of namesOf(file, real)) {
      const owner = await ask(question, name, env);
      if (owner) return owner;
    }
  }
  return undefined;
}

/** Packages older than the merge of /bin into /usr/bin know their files by the short name. */
function namesOf(file: string, real: string): ReadonlySet<string> {
  return new Set([file, real, real.replace(/^\/usr\/(?=s?bin\/)/, '/')]);
}

/** In English: pacman and apk answer in the person's language otherwise. */
async function ask(question: Question, name: string, env: Environment): Promise<Owner | undefined> {
  const { execa } = await import('execa');
  const { exitCode, stdout } = await execa(question.program, [...question.args(name)], {
    env: { ...env, LC_ALL: 'C' },
    extendEnv: false,
    reject: false,
    timeout: 10_000,
    stdin: 'ignore',
  });
  return exitCode === 0 ? ownerIn(question, stdout) : undefined;
}

export function ownerByPlace(real: string): Owner | undefined {
  for (const { manager, path, remove } of places) {
    const name = path.exec(real)?.[1];
    if (name !== undefined) return { manager, removeWith: remove(name) };
  }
  return undefined;
}

export function ownerIn(question: Question, answer: string): Owner | undefined {
  const name = question.packageIn.exec(answer)?.[1];
  return name === undefined ? undefined : { manager: question.manager, removeWith: question.remove(name) };
}
