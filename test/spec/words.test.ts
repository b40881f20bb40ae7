import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkTitles } from '../../src/features/chain.ts';
import { INSTALL_PATHS } from '../../src/kernel/installation.ts';
import { sourceTexts } from './source-texts.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const filesOf = (...patterns: string[]): readonly string[] => patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).sort();

/** Words that are not used, and what is written instead. */
const NOT: readonly (readonly [RegExp, string])[] = [
  [/\b[Mm]end(?:s|ed|ing)?\b|\bmak(?:e|es|ing) good\b|\bmade good\b|\b[Cc]ure[sd]?\b/, 'fix'],
  [/\b(?:take|takes|took|taken|taking)(?: it| them| this| that)? on\b/, 'accept, waive'],
  [/\b(?:[Gg]oes|go|went|going|gone) on\b/, 'resume, continue'],
  [/\bcuts? off\b|\bstruck\b/, 'interrupted'],
  [/\b[Jj]udg(?:e|es|ed|ing|ements?)\b/, 'check, evaluate'],
  [/\banew\b/, 'again'],
  [/\blook(?:s|ed|ing)? (?:once )?(?:again|more)\b|\bsecond look\b/, 're-check'],
  [/\btold by\b|\btold apart\b|\btells? apart\b/, 'identified by'],
  [/\b[Bb]r(?:ing|ings|inging|ought)\b/, 'install, add, restore'],
  [/\b(?:left|leaves?|stays?) as (?:it|they) (?:is|are|was|were)\b|\b(?:left|leaves?)(?: \w+){0,2} alone\b/, 'keeps, is not changed'],
  [/\b(?:take|takes|taken|took|taking)(?: \w+){0,4} off\b|(?<!switched )\boff before\b|\b(?:come|comes|came) off\b/, 'remove'],
  [/\bdead (?:UID|reference)s?\b/, 'dangling reference'],
  [/\bby hand\b|\bleft to (?:a person|you)\b/, 'manual step, yourself'],
  [/\b(?:come|comes|came) to rest\b/, 'pod X on node Y is not ready'],
  [/\bof before\b/, 'the previous, old'],
  [/\bways? back\b/, 'undo'],
  [/\bwhereupon\b|\bthereof\b/, 'then'],
  [/\bpersons?\b|\b[Pp]eople\b/, 'you, the user'],
  [/\b[Yy]our (?:own )?edits?\b|\bedits? of yours\b/, 'your change'],
  [/\bwhole or in part\b/, 'all or some'],
  [/\bso many\b/, 'at most N'],
];

/** What is written so all the same, and why. */
const ALLOWED: readonly (readonly [RegExp, string])[] = [
  [/\bleft-to-person\b/, 'a value of the JSON report'],
  [/`[^`]*`|'[\w-]+'|\$\{[^{}]*\}/, 'code'],
];

function without(text: string): string {
  return ALLOWED.reduce((rest, [allowed]) => rest.replaceAll(new RegExp(allowed.source, 'g'), ' '), text);
}

/** `place: word, write: …` for each word of a text that is not used. */
function wrong(place: string, text: string): readonly string[] {
  const rest = without(text);
  return NOT.flatMap(([pattern, write]) => {
    const found = pattern.exec(rest);
    return found ? [`${place}: “${found[0]}”, write: ${write}`] : [];
  });
}

interface Text {
  readonly place: string;
  readonly text: string;
  readonly isDocstring?: boolean;
}

function textsOf(kind: 'string' | 'comment', ...patterns: string[]): readonly Text[] {
  return filesOf('src/**/*.ts', ...patterns).flatMap((file) =>
    sourceTexts(read(file))
      .filter((one) => one.kind === kind && /[a-z’][,:;]? \S/.test(one.text))
      .map(({ line, text, isDocstring }) => ({ place: `${file}:${line}`, text, isDocstring })),
  );
}

/** The style of the HTML report is code. */
const STRINGS = textsOf('string').filter(({ text }) => !/^[`\s]*:root\{/.test(text));

/** Coverage quotes the procedure in its own words. */
const PAGES = filesOf('*.md', 'docs/**/*.md').filter((page) => page !== 'docs/internals/coverage.md');

/** A page without its blocks of code: their lines are empty. */
function proseOf(page: string): string {
  return read(page).replaceAll(/^( *)```[\s\S]*?^\1```/gm, (block) => block.replaceAll(/[^\n]/g, ''));
}

/** Paragraphs and items of lists of a page; headings, tables and HTML are none. */
function paragraphsOf(page: string, prose: string): readonly Text[] {
  const found: { place: string; text: string }[] = [];
  let isOpen = false;
  for (const [index, line] of prose.split('\n').entries()) {
    const [begins, text] = [/^\s*(?:[-*>]|\d+\.)\s/.test(line), line.replace(/^\s*(?:[-*>]|\d+\.)\s/, '').trim()];
    const isText = text !== '' && !/^[#|<]/.test(text);
    const last = found.at(-1);
    if (isText && isOpen && !begins && last) last.text += ` ${text}`;
    else if (isText) found.push({ place: `${page}:${index + 1}`, text });
    isOpen = isText;
  }
  return found;
}

/** Expressions, code and targets of links count as one word. A colon ends a sentence of a message, but none of a page or a comment. */
function sentencesOf(text: string, end: RegExp): readonly string[] {
  const plain = text
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, 'X')
    .replaceAll(/`[^`]*`/g, 'X')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/\b(e\.g|i\.e|etc|vs)\.(?= )/g, '$1');
  return plain
    .split(end)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

const MESSAGE_END = /(?<=[.!?:])\s+|\n/;
const PROSE_END = /(?<=[.!?]["”’)*_]*)\s+/;

const MOST_WORDS = 30;
const tooLong = ({ place, text }: Text, end: RegExp): readonly string[] =>
  sentencesOf(text, end)
    .filter((sentence) => sentence.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word)).length > MOST_WORDS)
    .map((sentence) => `${place}: ${sentence}`);

/** A docstring has room for units, errors and the source. */
const MOST_SENTENCES = { comment: 2, docstring: 3 };
function tooMany({ place, text, isDocstring = false }: Text): readonly string[] {
  const count = sentencesOf(text, PROSE_END).length;
  return count > MOST_SENTENCES[isDocstring ? 'docstring' : 'comment'] ? [`${place}: ${count} sentences`] : [];
}

/** `${…length} nodes`: one of them would be “1 nodes”. */
const UNCOUNTED = /\$\{[\w.#?!]*(?:\.length|\.size|\bcount)\} (?:more |other |of )?[a-zA-Z]+s\b/;

/** As it stands in the source of a template. */
const expression = (code: string): string => `$${`{${code}}`}`;

describe('words that users and developers read', () => {
  it('in messages, hints, titles and help are those of the glossary', () => {
    assert.ok(STRINGS.length > 2000, String(STRINGS.length));
    assert.deepEqual(
      STRINGS.flatMap(({ place, text }) => wrong(place, text)),
      [],
    );
  });

  it('in the pages are those of the glossary', () => {
    assert.ok(PAGES.length > 200, String(PAGES.length));
    assert.deepEqual(
      PAGES.flatMap((page) =>
        proseOf(page)
          .split('\n')
          .flatMap((line, index) => wrong(`${page}:${index + 1}`, line)),
      ),
      [],
    );
  });

  it('in the comments of the code are those of the glossary', () => {
    const comments = textsOf('comment');
    assert.ok(comments.length > 3000, String(comments.length));
    assert.deepEqual(
      comments.flatMap(({ place, text }) => wrong(place, text)),
      [],
    );
  });

  it('are no more in pages that were twice as long', () => {
    const most = {
      ...{ 'reference/merge': 1171, '{reference/journal,internals/journal-form}': 1440, 'reference/host-endpoints': 1097 },
      '{reference/profiles,internals/profile-form}': 704,
      'reference/cli/*': 9492,
      // It is read in ten minutes.
      'internals/architecture': 2300,
      // That of a new install path is welcome: it is as short as the others.
      'reference/path*': 373 * INSTALL_PATHS.length,
    };
    const wordsOf = (page: string) => read(page).trim().split(/\s+/).length;
    const counts = Object.keys(most).map((page) => {
      const files = globSync(`docs/${page}.md`, { cwd: root });
      return [page, files.reduce((sum, file) => sum + wordsOf(file), 0)] as const;
    });
    assert.ok(counts.every(([, count]) => count > 0));
    assert.deepEqual(
      counts.filter(([page, count]) => count > most[page as keyof typeof most]),
      [],
    );
    // A new row is welcome: it is as short as the others.
    const incidents = 'docs/use/known-incidents.md';
    const rows = read(incidents).split('\n- ').length - 1;
    assert.ok(wordsOf(incidents) <= 20 * rows, `${wordsOf(incidents)} words in ${rows} rows`);
  });

  it('make titles of checks of at most eight words', () => {
    const long = Object.entries(checkTitles).filter(([, title]) => title.split(/\s+/).length > 8);
    assert.deepEqual(long, []);
  });

  it('make sentences of at most 30 words in messages, hints and help', () => {
    assert.deepEqual(
      STRINGS.flatMap((text) => tooLong(text, MESSAGE_END)),
      [],
    );
  });

  it('make sentences of at most 30 words in the pages', () => {
    const paragraphs = PAGES.flatMap((page) => paragraphsOf(page, proseOf(page)));
    assert.ok(paragraphs.length > 1500, String(paragraphs.length));
    assert.deepEqual(
      paragraphs.flatMap((text) => tooLong(text, PROSE_END)),
      [],
    );
  });

  it('make comments of two sentences, docstrings of three, each of at most 30 words', () => {
    const comments = textsOf('comment', 'build/*.ts');
    assert.ok(comments.some(({ isDocstring }) => isDocstring) && comments.some(({ isDocstring }) => !isDocstring));
    assert.deepEqual(
      comments.flatMap((text) => [...tooLong(text, PROSE_END), ...tooMany(text)]),
      [],
    );
  });

  it('agree with the number before them', () => {
    const uncounted = STRINGS.filter(({ text }) => UNCOUNTED.test(text)).map(({ place, text }) => `${place}: ${text}`);
    assert.deepEqual(uncounted, []);
  });

  it('cite no section of notes', () => {
    const cited = STRINGS.filter(({ text }) => / §|§\S+ \w|\bdomain \d+\/\d/.test(text) && !/^\w+ §[\d.a-z]+(?:\/\d+[a-z]?)?$/.test(text));
    assert.deepEqual(
      cited.map(({ place, text }) => `${place}: ${text}`),
      [],
    );
  });

  it('would be found if they were others', () => {
    for (const text of ['mended by hand', 'the run goes on', 'a person decides', 'judged anew', 'the way back', 'takes them off'])
      assert.notDeepEqual(wrong('x', text), [], text);
    assert.deepEqual(wrong('x', 'the outcome is `left-to-person`, and `judge` is a function'), []);
    assert.match(`${expression('nodes.length')} nodes`, UNCOUNTED);
    const long = 'word '.repeat(MOST_WORDS + 1);
    assert.equal(tooLong({ place: 'x', text: long }, PROSE_END).length, 1);
    assert.deepEqual(tooLong({ place: 'x', text: long.replace('word word', 'word. Word') }, PROSE_END), []);
    assert.deepEqual(tooMany({ place: 'a.ts:1', text: 'One, e.g. this (two). Three!\nFour `five. six`: seven' }), ['a.ts:1: 3 sentences']);
    assert.deepEqual(tooMany({ place: 'a.ts:1', text: 'One. Two. Three.', isDocstring: true }), []);
    assert.deepEqual(paragraphsOf('p.md', '# Title\n\na\nb\n- c\n  d\n| e |\n\n2. f'), [
      { place: 'p.md:3', text: 'a b' },
      { place: 'p.md:5', text: 'c d' },
      { place: 'p.md:9', text: 'f' },
    ]);
    const call = expression("b('in, side')");
    assert.deepEqual(
      sourceTexts(`const a = \`x ${call} y\`; // c\nreturn /it's/.test(a) ? 'd ' + 'e' : ''`).map(({ text }) => text),
      [`x ${call} y`, 'in, side', 'c', 'd e', ''],
    );
  });
});
