import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainLines, type Shown } from '../../build/in-terminal.ts';
import { ALL_PICTURES, PICTURES, show, steady } from '../../build/pictures.ts';
import { svgLines } from '../../build/terminal-svg.ts';
import { describeWhere, NO_TERMINAL } from '../support/needs.ts';

const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');
const picture = (file: string) => readFileSync(join(PICTURES, file), 'utf8');

describe('the terminal pictures', function () {
  this.timeout(180_000);

  it('are those that the script makes, and each is in the README', () => {
    assert.deepEqual(readdirSync(PICTURES).sort(), Object.keys(ALL_PICTURES).sort());
    for (const file of Object.keys(ALL_PICTURES)) assert.ok(readme.includes(`(docs/pictures/${file})`), file);
  });

  it('fit a terminal of 80×24, their command above it', () => {
    for (const file of Object.keys(ALL_PICTURES)) {
      const lines = svgLines(picture(file));
      assert.ok(lines.length <= 25, `${file}: ${lines.length}`);
      assert.ok(lines.every((line) => [...line].length <= 80));
    }
  });

  describeWhere(NO_TERMINAL, 'are what is still shown (npm run pictures)', () => {
    for (const args of [...new Set(Object.values(ALL_PICTURES).map((one) => one.args.join(' ')))])
      it(`by ${args}`, async () => {
        const now = await show(args.split(' '));
        for (const [file] of Object.entries(ALL_PICTURES).filter(([, one]) => one.args.join(' ') === args)) stillShown(file, now);
      });
  });
});

/** Which moments of the live view are drawn depends on the machine: each line must be in one of them, or at the end. */
function stillShown(file: string, { frames, end }: Shown): void {
  const known = new Set([...frames, end].flatMap((lines) => plainLines(lines).map(steady)));
  const [, ...lines] = svgLines(picture(file));
  assert.deepEqual(
    lines.filter((line) => !known.has(steady(line))),
    [],
    file,
  );
}
