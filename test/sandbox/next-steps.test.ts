import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkTitles } from '../../src/features/chain.ts';
import { type NextSteps, nextSteps } from '../support/next-collect.ts';
import { SCREENS, screen } from '../support/next-screens.ts';
import { shellOn } from '../support/next-shell.ts';
import { type NextWorld, nextUnder, PROGRAM, wordsOf } from '../support/next-steps.ts';

const PATHS = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'paths.md');
/** What the person has to put in. */
const VALUES: readonly (readonly [RegExp, string])[] = [[/^URL,URL$/, 'https://10.0.0.9:2379']];

describe('every next step leads on', function () {
  this.timeout(300_000);
  let steps: NextSteps = { ours: [], others: [], expected: new Set() };
  before('each check says its next steps in its own tests', async () => {
    steps = await nextSteps();
  });

  it('of every check that can be open', () => {
    const followed = new Set([...steps.ours.map(({ id }) => id), ...steps.others.map(({ finding }) => finding.id)]);
    const open = Object.keys(checkTitles).filter((id) => !followed.has(id));
    // These only advise: they are never open.
    assert.deepEqual(open, ['NS-707', 'NS-901', 'NS-902']);
  });

  it('of every check that a run makes red by itself: the documents have them in one table', () => {
    const [, section = ''] = readFileSync(PATHS, 'utf8').split('## What a run makes red by itself\n');
    const rows = section.split('\n## ')[0]?.match(/^\| NS.*?\|/gm) ?? [];
    const told = rows.flatMap((row) => row.match(/NS-\d+/g) ?? []);
    assert.deepEqual([...steps.expected].sort(), told.sort());
  });

  it('as a command of this program: it is no usage error, says more or asks, and does not lead to itself', async () => {
    const { ours } = steps;
    assert.ok(ours.length > 100, `${ours.length}`);
    const wrong: string[] = [];
    for (const world of ours) wrong.push(...(await complaints(world)).map((one) => `${world.id} ${world.next}: ${one}`));
    assert.deepEqual(wrong, []);
  });

  it('as a command of another program: that program does it', async () => {
    const { others } = steps;
    assert.ok(others.length > 50, `${others.length}`);
    const shell = await shellOn();
    const wrong: string[] = [];
    try {
      for (const world of others) {
        const { exit, text } = await shell.run(world);
        if (exit !== 0 && !/Edit cancelled/.test(text)) wrong.push(`${world.finding.id} ${world.finding.next}: exit ${exit} ${text}`);
      }
    } finally {
      await shell.close();
    }
    assert.deepEqual(wrong, []);
  });

  for (const { title, typed, world } of SCREENS)
    it(`as the last line of a screen: ${title}`, async () => {
      const scenario = await world();
      const first = await screen(scenario, typed, undefined);
      assert.ok(first.next, first.lines.join('\n'));
      assert.equal(first.lines.at(-1), `Next: ${first.next}`);
      if (!first.next.startsWith(PROGRAM)) return assert.match(first.next, /^kubectl \S/);
      const words = wordsOf(first.next.slice(PROGRAM.length));
      const then = await screen(scenario, words.join(' '), []);
      assert.notEqual(then.exit, 64, then.lines.join('\n'));
      assert.notEqual(then.exit, 1, then.lines.join('\n'));
      if (then.questions === 0) assert.ok(then.next === undefined || !isSame(then.next, words), then.lines.join('\n'));
    });
});

/** Flags that ask for something else, which a world that was judged once cannot answer. */
const DECIDES = /^--(?:release|manifest-url|variant|path|accept|resolve|base|values|move-release|kvstore-endpoints|template|cli-config)\b/;

/** What is wrong with a next step where it was printed: by the command of its stage alone. */
async function complaints({ id, next, printedBy, show }: NextWorld): Promise<readonly string[]> {
  const first = await show(printedBy.split(' '));
  const under = nextUnder(first, id);
  const printed = under?.startsWith(PROGRAM) ? under : next;
  const words = wordsOf(printed.slice(PROGRAM.length)).map((word) => VALUES.find(([like]) => like.test(word))?.[1] ?? word);
  const then = await show(words);
  const asks = then.questions > 0 || then.exit === 5;
  const more = then.lines.filter((line) => !first.lines.includes(line) && !/^(?:Next|next):|: nothing to do:/.test(line));
  const onward = [then.next, nextUnder(then, id)].filter((one) => one !== undefined);
  return [
    ...(then.exit === 64 || then.exit === 1 ? [`exit ${then.exit}: ${then.lines.slice(-3).join(' / ')}`] : []),
    ...(asks || more.length > 0 || words.some((word) => DECIDES.test(word)) ? [] : ['it says no more than what printed it']),
    ...(asks ? [] : onward.filter((one) => isSame(one, words)).map((one) => `it leads to itself: ${one}`)),
  ];
}

function isSame(next: string, words: readonly string[]): boolean {
  const essence = (all: readonly string[]) =>
    [
      ...new Set(
        all
          .join(' ')
          .replaceAll(/ (?=[^-\s])/g, '=')
          .split(' '),
      ),
    ]
      .sort()
      .join(' ');
  return next.startsWith(PROGRAM) && essence(wordsOf(next.slice(PROGRAM.length))) === essence(words);
}
