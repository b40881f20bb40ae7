/**
 * Makes text of others visible wherever it is shown: terminal, Markdown, HTML. Control characters, direction marks, characters
 * without a width and lone surrogates are written as JSON does (`\u001b`), so JSON keeps its value.
 */
const UNSEEN = '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\u2028\\u2029]';

/** Nobody can know it before this process began: what carries it is ours. Numbers of at most four digits, as in every colour code. */
const KEY = Array.from({ length: 4 }, () => Math.floor(1000 + Math.random() * 9000)).join(';');
const OWN_COLOUR = `\u001b\\[${KEY};(\\d{1,2})m`;
let unseenButOwn: RegExp | undefined;
const OWN_COLOURS = new RegExp(OWN_COLOUR, 'g');

/** A colour of this program: `visible` leaves it, `forTerminal` turns it into the terminal's own. A code of SGR, below 100. */
export function ownColour(code: number): string {
  return `\u001b[${KEY};${code}m`;
}

/** Marks for whoever breaks lines, with codes that are no colour of this program. `forTerminal` leaves them out. */
export const MARK = {
  /** What stands from here to the end is never parted: a command. */
  whole: ownColour(96),
  /** It is parted only where a line is too short for it. */
  piece: ownColour(97),
  end: ownColour(98),
  /** Continued lines begin in this column. */
  column: ownColour(99),
} as const;

export function unmarked(text: string): string {
  return Object.values(MARK).reduce((rest, mark) => rest.replaceAll(mark, ''), text);
}

const PLAIN = /^[\u0020-\u007e\n\t]*$/;

/** The text with everything unseen made visible, but for line ends, tabs and this program's own colours. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  // Made for the first text that needs it: the classes of Unicode take 2 ms, and plain text is most of what is shown.
  unseenButOwn ??= new RegExp(`(${OWN_COLOUR})|${UNSEEN}`, 'gu');
  return text.replace(unseenButOwn, (one, own: string | undefined) =>
    own !== undefined || one === '\n' || one === '\t' ? one : escaped(one),
  );
}

/** The same as one line: what somebody else wrote cannot begin a line that looks like ours. */
export function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** Several lines under the first one: those after it stand further right, where no line of ours begins. */
export function indented(text: string): string {
  return visible(text).replace(/\n(?! {2}|$)/g, '\n  ');
}

/** Without this program's colours and marks: what is no terminal's. */
export function unpainted(text: string): string {
  return text.replace(OWN_COLOURS, '');
}

/** What is written to a terminal: visible, with this program's colours as the terminal takes them. */
export function forTerminal(text: string): string {
  return unmarked(visible(text)).replace(OWN_COLOURS, '\u001b[$1m');
}

/** True if `visible` would leave the text as it is. */
export function isVisible(text: string): boolean {
  return visible(text) === text;
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join('');
}
