import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from './columns.ts';

/** Less room than this makes a column of words unreadable: the text then continues at the left. */
const COLUMN_ROOM = 16;

const VERBS = [
  ...['annotate', 'api-resources', 'apply', 'auth', 'cordon', 'create', 'delete', 'describe', 'drain', 'edit', 'exec', 'get', 'label'],
  ...['logs', 'netsvc-upgrade', 'patch', 'replace', 'rollback', 'rollout', 'scale', 'status', 'uncordon', 'upgrade', 'version', 'wait'],
];
/** Of what has no room in a column. */
const INDENT = 4;

/** A command to paste, to the end of the sentence: a line break in it would make a shell run two. */
const COMMAND = new RegExp(
  `(?<![\\w/-])(?:kubectl|netsvcctl|calicoctl|helm) (?:-|(?:${VERBS.join('|')})\\b).*?(?: +#.*|(?=$|[;,]? and |[;,] |\\. ))`,
  'g',
);

/** A step of a plan, which names its commands and is not the place to paste them from. */
const STEP = /^\d[\d–]* +[a-z-]+ {2,}/;

/** A long path, list or field can be parted there. */
const PARTS = /(?<=[/,=:@])(?=[^/])|(?=\[)/;

/** `context "prod"   https://…`, `manifest path, calico   v3.27.5 → v3.32.1   6 nodes`: parts, each of which stays together. */
const HEAD = /^(?:context "|[a-z]+ path, |(?:unknown release|v\d\S*) (?:→|\(installed\)))/;

/**
 * The lines of a text for a terminal, wrapped between words; continued lines start at their column. A command stays one line, so it can be
 * copied: the terminal itself wraps it.
 */
export function fitted(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => (displayWidth(line) <= width ? [line] : wrapped(line, width)))
    .join('\n');
}

function wrapped(line: string, width: number): readonly string[] {
  const words = wordsOf(line);
  const hang = hangOf(stripVTControlCharacters(line), width, words);
  const lines: string[] = [];
  let current = '';
  const put = (piece: string, isWhole: boolean) => {
    const room = lines.length === 0 ? width : width - hang;
    const fits = displayWidth(current) + displayWidth(piece.trimEnd()) <= room;
    if (current.trim() === '' || fits || (isWhole && isLabel(current) && displayWidth(piece.trim()) > width - hang)) current += piece;
    else {
      lines.push(current);
      current = piece.trimStart();
    }
  };
  for (const { text, isWhole } of words) {
    const isLong = !isWhole && displayWidth(text.trim()) > width - hang;
    for (const part of isLong ? partsOf(text) : [text]) put(part, isWhole);
  }
  return [...lines, current].map((one, index) => (index === 0 ? '' : ' '.repeat(hang)) + one.trimEnd());
}

/** `Next:`, `    next:`, `  look   `: what a command follows in the same row, even if it has no room there. */
function isLabel(text: string): boolean {
  return /^ *\S+(?: \S+)? *$/.test(stripVTControlCharacters(text));
}

interface Word {
  /** With the blanks before it. */
  readonly text: string;
  readonly isWhole: boolean;
}

function wordsOf(line: string): readonly Word[] {
  // What stands between dots stays together: `about 4 min`.
  const pieces = HEAD.test(stripVTControlCharacters(line))
    ? / *\S.*?(?=$| {3})/g
    : / · /.test(line)
      ? / *\S.*?(?: ·(?= )|$)/g
      : / *[^ ]+| +$/g;
  const plain = (text: string) => (text.match(pieces) ?? []).map((one) => ({ text: one, isWhole: false }));
  const words: Word[] = [];
  let done = 0;
  for (const { 0: command, index } of STEP.test(line) ? [] : line.matchAll(COMMAND)) {
    const before = line.slice(done, index);
    words.push(...plain(before.trimEnd()), { text: before.slice(before.trimEnd().length) + command, isWhole: true });
    done = index + command.length;
  }
  return [...words, ...plain(line.slice(done))];
}

function partsOf(text: string): readonly string[] {
  return text.split(text.trim().includes(' ') ? /(?= )/ : PARTS);
}

/** Where the second line begins: below the last column with room, below a finding's text, else a little further right. */
function hangOf(line: string, width: number, words: readonly Word[]): number {
  if (HEAD.test(line)) return 2;
  const finding = /^\S NS-\d+ /.exec(line)?.[0];
  if (finding !== undefined) return finding.length;
  const columns = [...line.matchAll(/(?<=\S) {2,}(?=\S)/g)].map((gap) => gap.index + gap[0].length);
  const longest = Math.max(
    ...words.flatMap(({ text, isWhole }) => (isWhole ? [] : partsOf(text).map((part) => displayWidth(part.trim())))),
  );
  const roomy = columns.filter((start) => start <= width - COLUMN_ROOM);
  const column = roomy.findLast((start) => start + longest <= width);
  if (column !== undefined) return column;
  if (roomy.length > 0) return INDENT + longest <= width ? INDENT : (roomy.at(-1) ?? INDENT);
  const indent = /^ *(?:- )?/.exec(line)?.[0].length ?? 0;
  return indent === 0 ? 2 : indent;
}
