import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const PAGES = [...globSync('*.md', { cwd: root }), ...globSync('docs/**/*.md', { cwd: root })];

const LINK = /\]\(([^)\s]+)\)/g;

/** Heading → the anchor that it gets. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}

/** Links of a page that lead nowhere. Addresses are left alone: no test asks a network. */
function dead(page: string, text: string): readonly string[] {
  const written = text.replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
  return [...written.matchAll(LINK)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = '', anchor] = link.split('#');
    const file = path === '' ? join(root, page) : join(root, dirname(page), path);
    if (!existsSync(file)) return [`${page}: ${link}`];
    if (anchor === undefined || !file.endsWith('.md')) return [];
    return anchorsOf(readFileSync(file, 'utf8')).includes(anchor) ? [] : [`${page}: ${link}`];
  });
}

describe('the pages', () => {
  it('link to files and headings that exist', () => {
    assert.ok(PAGES.length > 100, String(PAGES.length));
    assert.deepEqual(
      PAGES.flatMap((page) => dead(page, readFileSync(join(root, page), 'utf8'))),
      [],
    );
  });

  it('would be told of a link that leads nowhere', () => {
    assert.deepEqual(dead('README.md', 'see [x](docs/nothing.md), [y](#nowhere) and `[z](code)`'), [
      'README.md: docs/nothing.md',
      'README.md: #nowhere',
    ]);
  });

  it('begin with their answer: the first paragraph of a page is sentences of at most 30 words', () => {
    for (const page of PAGES.filter((one) => /^docs\/(?:use|reference)\/[^/]+$/.test(one))) {
      const [, paragraph = ''] = readFileSync(join(root, page), 'utf8').split(/\n\n/);
      assert.doesNotMatch(paragraph, /^(?:[#|`]|Written by )/, page);
      for (const sentence of paragraph.split(/(?<=[.!?])\s/)) assert.ok(sentence.split(/\s+/).length <= 30, `${page}: ${sentence}`);
    }
  });
});
