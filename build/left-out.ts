/**
 * What the bundle has in the place of packages that search for plugins and commands, and that ask which Windows this is. Without them
 * oclif starts no PowerShell to learn the name of a shell.
 */
export const isWsl = false;
export const minimatch = undefined;
export const glob = undefined;
