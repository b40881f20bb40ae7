import { realpath } from 'node:fs/promises';
import type { FileOwner } from '../../kernel/argv.ts';
import { repairCommand } from '../../kernel/command.ts';

interface Place {
  readonly manager: string;
  /** The package in a path of its manager. */
  readonly packageIn: RegExp;
  readonly remove: (name: string) => string;
}

/** Managers that are identified by where the file really lies. */
const places: readonly Place[] = [
  { manager: 'brew', packageIn: /\/(?:Cellar|Caskroom)\/([^/]+)\//, remove: (name) => `brew uninstall ${name}` },
  { manager: 'snap', packageIn: /^(?:\/var\/lib\/snapd)?\/snap\/(?:bin\/)?([^/.]+)/, remove: (name) => `snap remove ${name}` },
  {
    manager: 'krew',
    packageIn: /[\\/]\.krew[\\/]store[\\/]([^\\/]+)[\\/]/,
    remove: (name) => repairCommand`kubectl krew uninstall ${name}`.plain,
  },
  { manager: 'nix', packageIn: /^\/nix\/store\/[a-z0-9]+-([^/]+)\//, remove: (name) => `nix profile remove ${name}` },
];

/** Where packages of the system and of vendors are installed, by the Filesystem Hierarchy Standard; /usr/local is the administrator's own. */
const PACKAGED = /^\/(?:(?:usr\/)?s?bin|usr\/(?!local\/)[^/]+|opt)\/|[\\/](?:chocolatey|scoop|WinGet|Program Files[^\\/]*)[\\/]/i;

/** Whose package a file is, by its place alone: no package manager is asked. Undefined for the user's own files. */
export async function ownerOf(file: string): Promise<FileOwner | undefined> {
  const real = await realpath(file).catch(() => file);
  // By its name first: a snap's program is a link to the one program that runs all snaps.
  return ownerByPlace(file) ?? ownerByPlace(real);
}

export function ownerByPlace(file: string): FileOwner | undefined {
  for (const { manager, packageIn, remove } of places) {
    const name = packageIn.exec(file)?.[1];
    if (name !== undefined) return { manager, removeWith: remove(name) };
  }
  return PACKAGED.test(file) ? 'perhaps a package' : undefined;
}
