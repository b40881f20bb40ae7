/**
 * What the bundle has in the place of packages that search for plugins and commands, ask which Windows this is, or print debug lines.
 * Without them oclif starts no PowerShell to learn the name of a shell, and nothing is printed around the mask.
 */
export const isWsl = false;
export const minimatch = undefined;
export const glob = undefined;
const silent = () => undefined;
export default () => silent;
