/** The name that everything this program says about itself is written with in the source. */
export const OWN_NAME = 'kubectl netsvc-upgrade';

/** Names for which help is rendered at build time. */
export const DISPLAYED_NAMES = [OWN_NAME, 'netsvcctl upgrade'] as const;

/** How the user called the program, from the file name it was started by (a symlink's own name, not its target). */
export function displayedName(argv0: string | undefined): string {
  const base = (argv0 ?? '').split(/[\\/]/).at(-1) ?? '';
  // The user on Windows may write it in any case.
  return base.toLowerCase().startsWith('netsvcctl-') ? 'netsvcctl upgrade' : OWN_NAME;
}

/** Rewrites commands in a text to the name the user uses. */
export function inWordsOf(name: string, text: string): string {
  return name === OWN_NAME ? text : text.replaceAll(OWN_NAME, name);
}
