import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkTitles } from '../../src/features/chain.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { imagesPulled } from '../../src/features/node-probe/stage.ts';
import type { Check, Finding } from '../../src/kernel/check.ts';
import { contextOf } from '../fixtures/facts.ts';
import { type ApplyBench, benches } from '../support/apply-bench.ts';
import { type JudgedWorld, judgeAll, worlds } from '../support/judged-worlds.ts';
import { shellOn } from '../support/next-shell.ts';
import { benchWorld, judgedWorld, type NextWorld, nextUnder, PROGRAM, SCREENS, screen, wordsOf } from '../support/next-steps.ts';

const features = join(import.meta.dirname, '..', 'features');
/** Tests of the checks, and of the stage that writes on every path. */
const JUDGE = /support\/judged-worlds\.ts/;
const BENCHES = '**/{apply,back,move,takeover,conflicts,edits,later-edits,unnoted,at-zero,alp,undo}.test.ts';

const OPEN: ReadonlySet<string> = new Set(['error', 'warning', 'expected']);

/** A command, and the world in which it was said. */
interface SaidThere {
  readonly world: JudgedWorld;
  readonly line: string;
}

/** Every next step that a check says in its own tests, each once. */
interface NextSteps {
  /** Commands of this program. */
  readonly ours: readonly NextWorld[];
  readonly others: readonly SaidThere[];
  /** What repairs at once. */
  readonly fixes: readonly SaidThere[];
  /** Checks that a continued run explains. */
  readonly expected: ReadonlySet<string>;
}

async function nextSteps(): Promise<NextSteps> {
  await judgeEverything();
  const ours = new Map<string, NextWorld>();
  const [others, fixes] = [new Map<string, SaidThere>(), new Map<string, SaidThere>()];
  const expected = new Set<string>();
  const add = (finding: Finding, our: (next: string) => NextWorld, other: () => JudgedWorld) => {
    const { id, next, outcome } = finding;
    if (outcome === 'expected') expected.add(id);
    const repairs = (finding.steps ?? []).flatMap(({ kind, text: { command } }) => (kind === 'fix' && command ? [command.plain] : []));
    for (const line of OPEN.has(outcome) ? repairs : []) fixes.set(`${id} ${line}`, { world: other(), line });
    const key = `${id} ${next}`;
    if (!OPEN.has(outcome) || next === undefined || ours.has(key) || others.has(key)) return;
    if (String(next).startsWith(PROGRAM)) ours.set(key, our(String(next)));
    else others.set(key, { world: other(), line: String(next) });
  };
  for (const world of worlds) {
    add(
      world.finding,
      () => judgedWorld(world),
      () => world,
    );
  }
  for (const bench of benches) {
    for (const finding of await foundOn(bench)) {
      add(
        finding,
        (next) => benchWorld(bench, { id: finding.id, next }),
        () => ({ facts: bench.around.objects(), finding }) as unknown as JudgedWorld,
      );
    }
  }
  return { ours: [...ours.values()], others: [...others.values()], fixes: [...fixes.values()], expected };
}

async function judgeEverything(): Promise<void> {
  // Other files of tests may have run in this process; what they left must not decide what is followed here.
  worlds.length = 0;
  benches.length = 0;
  const judging = globSync(join(features, '**/*.test.ts')).filter((file) => JUDGE.test(readFileSync(file, 'utf8')));
  await runCasesOf([...new Set([...judging, ...globSync(join(features, BENCHES))])].map((file) => pathToFileURL(file)));
  // Tests of these see whole commands.
  const judged = (check: unknown, facts: unknown) => judgeAll([check as Check<unknown>], facts, contextOf());
  judged(imagesPulled, { probed: [{ node: 'n1', image: 'i', state: 'failed', because: 'b' }], unknown: [] });
}

const foundOn = async ({ sources, context }: ApplyBench) => {
  try {
    return (await applyStage.open(sources, context)).findings();
  } catch {
    return [];
  }
};

type Body = (this: unknown) => unknown;

/** What a test file registers with the runner is run here instead, in order, for what it leaves behind; what fails is that file's to tell. */
async function runCasesOf(files: readonly URL[]): Promise<void> {
  const bodies: Body[] = [];
  const stub = { timeout: () => stub, slow: () => stub, skip: () => undefined };
  const group = (_title: string, body?: Body) => body?.call(stub);
  const test = (_title: string, body?: Body) => body && bodies.push(body);
  const names = {
    describe: group,
    it: test,
    before: () => undefined,
    after: () => undefined,
    beforeEach: () => undefined,
    afterEach: () => undefined,
  };
  const kept = Object.fromEntries(Object.keys(names).map((name) => [name, Reflect.get(globalThis, name)]));
  Object.assign(globalThis, names);
  try {
    for (const file of files) await import(`${file.href}?cases`);
  } finally {
    Object.assign(globalThis, kept);
  }
  for (const body of bodies)
    await Promise.resolve()
      .then(() => body.call(stub))
      .catch(() => undefined);
}

const PATHS = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'paths.md');
/** What shows something and changes nothing: the one place that knows verbs of others, for a type cannot. */
const LOOKS = [
  /^kubectl (?:-n \S+ )?(?:get|describe|logs|top|version|api-resources|api-versions|cluster-info|auth can-i|config (?:get-contexts|current-context|view)|explain)\b(?!.*\| (?!kubectl replace --dry-run=server|grep|head|sort|base64|xargs -n 1 kubectl get))/,
  /^(?:HELM_DRIVER=\S+ )?helm (?:version|history|list|show|get|plugin list|status)\b/,
  /^calicoctl (?:version|get|ipam (?:check|show))\b/,
  /^(?:date -u|df -h|ls -ld|uname|findmnt)\b/,
];

describe('every next step leads on', function () {
  this.timeout(300_000);
  let steps: NextSteps = { ours: [], others: [], fixes: [], expected: new Set() };
  before('each check says its next steps in its own tests', async () => {
    steps = await nextSteps();
  });

  it('of every check that can be open', () => {
    const followed = new Set([...steps.ours.map(({ id }) => id), ...steps.others.map(({ world }) => world.finding.id)]);
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

  it('as a command of another program: it only looks', () => {
    const changing = steps.others.filter(({ line }) => !LOOKS.some((look) => look.test(line)));
    assert.deepEqual(
      changing.map(({ world, line }) => `${world.finding.id} ${line}`),
      [],
    );
  });

  it('and nothing of it waives or decides for the user', () => {
    const deciding = steps.ours.filter(({ next }) =>
      / --(?:accept|resolve)\b|^kubectl netsvc-upgrade (?!permissions).* --(?:variant|path)\b/.test(next),
    );
    assert.deepEqual(
      deciding.map(({ id, next }) => `${id} ${next}`),
      [],
    );
  });

  it('as a command of another program, or its repair: that program does it', async () => {
    const { others, fixes } = steps;
    assert.ok(others.length > 50 && fixes.length > 20, `${others.length} ${fixes.length}`);
    const shell = await shellOn();
    const wrong: string[] = [];
    try {
      for (const { world, line } of [...others, ...fixes]) {
        const { exit, text } = await shell.run(world, line);
        if (exit !== 0 && !/Edit cancelled/.test(text)) wrong.push(`${world.finding.id} ${line}: exit ${exit} ${text}`);
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
  const words = wordsOf(printed.slice(PROGRAM.length));
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
