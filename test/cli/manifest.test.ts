import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliPages } from '../../build/cli-pages.ts';
import { flagsPage } from '../../build/flags-page.ts';
import { makeManifest } from '../../build/manifest.ts';
import type { Manifest } from '../../src/cli/complete.ts';
import { EXIT, EXIT_MEANING, type ExitName } from '../../src/kernel/fault.ts';

const root = join(import.meta.dirname, '..', '..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');

describe('generated files', () => {
  let manifest: Manifest;
  before(async () => {
    manifest = await makeManifest(root);
  });

  const shown = () => Object.values(manifest.commands).filter(({ hidden }) => !hidden);

  it('oclif.manifest.json is what the commands say', () => {
    assert.deepEqual(JSON.parse(text('oclif.manifest.json')), manifest, 'run: npm run build');
  });

  it('is made the same every time', async () => {
    assert.deepEqual(await makeManifest(root), manifest);
  });

  it('docs/internals/flags.md is what the commands say', () => {
    assert.equal(text('docs/internals/flags.md'), flagsPage(manifest), 'run: node build/flags-page.ts');
  });

  it('docs/internals/flags.md says of each flag what it means to each command that has it', () => {
    const rows = text('docs/internals/flags.md')
      .split('\n')
      .filter((line) => line.startsWith('| `--'));
    const toAll = 'every one that reads a cluster';
    for (const { id, flags } of shown())
      for (const [name, { summary = '' }] of Object.entries(flags)) {
        const mine = rows.filter((row) => new RegExp(`^\\| \`--${name}\`.*(\\b${id}\\b[^|]*|${toAll}) \\|$`).test(row));
        assert.ok(
          mine.some((row) => row.includes(`| ${summary.replaceAll('|', '\\|')}`)),
          `--${name} of ${id}: ${summary}`,
        );
      }
  });

  it('docs/reference/cli has the page of every command, and no other', () => {
    const pages = Object.fromEntries(
      readdirSync(join(root, 'docs/reference/cli')).map((file) => [file, text(`docs/reference/cli/${file}`)]),
    );
    assert.deepEqual(pages, cliPages(manifest), 'run: node build/cli-pages.ts');
  });

  it('every command says its occasion, its procedure, its environment, its examples and every exit code', () => {
    for (const command of shown()) {
      for (const part of [/^When: [A-Z].*\.$/m, /^Environment:\n(?:.+\n)*NO_COLOR/m]) {
        assert.match(command.description ?? '', part, command.id);
      }
      // An internal citation: for the page of the command, not for its help.
      assert.match(String(command.procedure), /^(?:§\d|all$|none\b)/, command.id);
      assert.doesNotMatch(command.description ?? '', /procedure|§/i, command.id);
      assert.ok((command.examples ?? []).length > 0, command.id);
      assert.match(command.summary ?? '', /^[A-Z].{20,}[^.]$/, command.id);
      // A paragraph of its own before the parts: what it does.
      assert.match(command.description ?? '', /^(?!When: )[A-Za-z][\s\S]{20,}?\n\nWhen: /, command.id);
      for (const code of Object.values(EXIT)) assert.match(command.description ?? '', new RegExp(`^${code}  `, 'm'), command.id);
    }
  });

  it('docs/reference/exit-codes.md has the one table of exit codes', () => {
    const rows = [...text('docs/reference/exit-codes.md').matchAll(/^\| (\d+) \| `(\w+)` \| ([^|]+) \|/gm)].map(
      ([, code, name, meaning]) => [Number(code), name, meaning?.trim()],
    );
    assert.deepEqual(
      rows,
      (Object.keys(EXIT) as ExitName[]).map((name) => [EXIT[name], name, EXIT_MEANING[name]]),
    );
  });
});
