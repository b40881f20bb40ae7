import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Two folders above, in the sources, in dist and in what is installed alike (docs/internals/decisions/start-up.md). */
const CHECKS = new URL('../../docs/reference/checks/', import.meta.url);

/** The id of a check as the user may write it: `105`, `ns105`. */
export function checkIdOf(written: string): string {
  return written
    .trim()
    .toUpperCase()
    .replace(/^(?:NS)?-?(?=\d{3}$)/, 'NS-');
}

/** The page of a check, with addresses for its links, as a terminal has none to click. Throws if the page is missing. */
export function checkPage(id: string): string {
  if (!/^NS-\d{3}$/.test(id)) throw new Error(`${id} is no id of a check`);
  // Comments mark what is generated.
  const text = readFileSync(new URL(`${id}.md`, CHECKS), 'utf8').replaceAll(/^<!--.*-->\n/gm, '');
  if (!/\]\((?!\w+:)/.test(text)) return text;
  return `${text.trimEnd()}\n\nThe links are to files of ${fileURLToPath(CHECKS)}\n`;
}
