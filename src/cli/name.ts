import { calledAs, OWN_NAME } from '../kernel/own-name.ts';

/** What oclif knows of a program, with the name that the user called this one by, and what `--version` prints. Commands have it from here on. */
export function named<Config extends { readonly version: string }>(config: Config): Config {
  const bin = displayedName(process.env.NETSVC_ARGV0 ?? process.argv[1]);
  calledAs(bin);
  return Object.assign(config, { bin, userAgent: `netsvc-upgrade v${config.version}` });
}

/** How the user called the program, from the file name it was started by (a symlink's own name, not its target). */
export function displayedName(argv0: string | undefined): string {
  const base = (argv0 ?? '').split(/[\\/]/).at(-1) ?? '';
  // The user on Windows may write it in any case.
  return base.toLowerCase().startsWith('netsvcctl-') ? 'netsvcctl upgrade' : OWN_NAME;
}
