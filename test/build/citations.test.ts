import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const page = (name: string): string => readFileSync(join(root, 'docs', 'internals', `${name}.md`), 'utf8');
const note = (name: string): string => page(`notes/${name}`);

/** How a comment or a check names a note, and the page. */
const PAGES: readonly (readonly [RegExp, string])[] = [
  [/\bdomain §(\d+(?:\.\d+)?[a-z]?)(?:\/(\d+[a-z]?))?/g, note('domain')],
  [/\bhost endpoint notes §?(\d+(?:\.\d+)?)()/g, note('host-endpoints')],
  [/\bcli notes §?(\d+(?:\.\d+)?)()/g, note('cli')],
  [/\bhouse rule (\d+)()/g, page('architecture')],
  [/\bplan notes §?(\d+(?:\.\d+)?)()/g, note('plan')],
];

function has(page: string, section: string, row = ''): boolean {
  const number = section.replaceAll('.', '\\.');
  const heading = new RegExp(`^(?:#+ ${number}[.\\s]|- \\*\\*${number}\\*\\*)`, 'm').exec(page);
  if (heading === null) return false;
  if (row === '') return true;
  const [text = ''] = page.slice(heading.index + 4).split(/^## /m);
  const [step = '', part] = row.split(/(?=[a-z])/);
  const found = new RegExp(`^(?:\\| ${step} \\||${step}\\. |- Row ${step}:)`, 'm').test(text);
  return found && (part === undefined || text.includes(`${row}.`));
}

/** Citations of a text that no note has. */
function lost(file: string, text: string): readonly string[] {
  return PAGES.flatMap(([names, page]) =>
    [...text.matchAll(names)].flatMap(([whole, section = '', row]) => (has(page, section, row) ? [] : [`${file}: ${whole}`])),
  );
}

describe('what the code cites', () => {
  it('stands in the notes of this repository', () => {
    const files = globSync('{src,test,bench,build}/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('citations.test.ts'));
    assert.ok(files.length > 500, String(files.length));
    assert.deepEqual(
      files.flatMap((file) => lost(file, readFileSync(join(root, file), 'utf8'))),
      [],
    );
  });

  it('are tests of this repository, where a page names one', () => {
    const named = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/`(test\/[\w/-]+\.test\.ts)`/g)].map(([, test = '']) => ({ file, test })),
    );
    assert.ok(named.length > 20, String(named.length));
    assert.deepEqual(
      named.filter(({ test }) => !existsSync(join(root, test))),
      [],
    );
  });

  it('would be told of a section or a row that no note has', () => {
    assert.deepEqual(lost('a.ts', 'domain §99, domain §12/6, domain §12/99, cli notes 7'), [
      'a.ts: domain §99',
      'a.ts: domain §12/99',
      'a.ts: cli notes 7',
    ]);
  });
});
