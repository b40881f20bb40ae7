import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from './columns.ts';

/** Less room than this makes a column of words unreadable: the text then continues at the left. */
const COLUMN_ROOM = 16;

const VERBS = [
  ...['annotate', 'api-resources', 'apply', 'auth', 'cordon', 'create', 'delete', 'describe', 'drain', 'edit', 'exec', 'get', 'label'],
  ...['logs', 'netsvc-upgrade', 'patch', 'replace', 'rollback', 'rollout', 'scale', 'status', 'uncordon', 'upgrade', 'version', 'wait'],
];
/** A command to paste, as far as the sentence continues: with a line end in it a shell would run two. */
const COMMAND = new RegExp(
  `(?<![\\w/-])(?:kubectl|netsvcctl|calicoctl|helm) (?:-|(?:${VERBS.join('|')})\\b).*?(?: +#.*|(?=$|[;,]? and |[;,] |\\. ))`,
  'g',
);

/** A step of a plan, which names its commands and is not the place to paste them from. */
const STEP = /^\d[\d–]* +[a-z-]+ {2,}/;

/** A long path or list can be parted behind these. */
const PARTS = /(?<=[/,=:@])(?=[^/])/;

/**
 * The lines of a text for a terminal: none is longer than that, and none is cut inside a word. What is left of a line stands below the column that
 * it began in. A command stays whole, however long it is: the terminal itself continues in its next row, and whoever copies it gets one line.
 */
export function fitted(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => (displayWidth(line) <= width ? [line] : wrapped(line, width)))
    .join('\n');
}

function wrapped(line: string, width: number): readonly string[] {
  const hang = hangOf(stripVTControlCharacters(line), width);
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
  for (const { text, isWhole } of wordsOf(line)) {
    const isLong = !isWhole && displayWidth(text.trim()) > width - hang;
    for (const part of isLong ? text.split(text.trim().includes(' ') ? /(?= )/ : PARTS) : [text]) put(part, isWhole);
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
  const pieces = / · .* · /.test(line) ? / *\S.*?(?: ·(?= )|$)/g : / *[^ ]+| +$/g;
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

/** Where the second line begins: below the last column with room, below the text of a finding, else a little further right. */
function hangOf(line: string, width: number): number {
  const finding = /^\S NS-\d+ /.exec(line)?.[0];
  if (finding !== undefined) return finding.length;
  const columns = [...line.matchAll(/(?<=\S) {2,}(?=\S)/g)].map((gap) => gap.index + gap[0].length);
  const column = columns.findLast((start) => start <= width - COLUMN_ROOM);
  if (column !== undefined) return column;
  const indent = /^ *(?:- )?/.exec(line)?.[0].length ?? 0;
  return indent === 0 ? 2 : indent;
}
