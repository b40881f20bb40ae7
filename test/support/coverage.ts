import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chain } from '../../src/features/chain.ts';
import { hepChecks } from '../../src/features/hosts/checks.ts';
import { applyChecks } from '../../src/features/install-manifest/apply-checks.ts';
import { forgetChecks, restoreChecks } from '../../src/features/ownerrefs/owner-restore-checks.ts';
import { removalChecks } from '../../src/features/policies/removal-checks.ts';
import { preflightChecks } from '../../src/features/preflight/catalogue.ts';
import { alpChecks, undoChecks } from '../../src/features/sidecars/checks.ts';
import { verifyChecks } from '../../src/features/verify/checks.ts';

const tests = join(import.meta.dirname, '..');
const docs = join(tests, '..', 'docs');

/** One sentence or table row of the upgrade procedure that asks for something, in our own words. */
export interface Sentence {
  /** `§4.4/3.1`: section, the numbered step or table row in it, the sentence of that step. */
  readonly ref: string;
  /** The one profile with which its tests show it. */
  readonly only?: string;
  readonly asks: string;
  readonly does: string;
  /** What fails without it: a file below `test`, without its ending, and a part of a title in it. */
  readonly shown: readonly { readonly file: string; readonly title: string }[];
  /** What the user reads: a check, or a page of `docs` without its ending. */
  readonly reads: readonly string[];
}

/** A line for each: `REF [PROFILE] ASKS | DOES | FILE: TITLE; … | PAGE, …`. */
export const procedure: readonly Sentence[] = readFileSync(join(tests, 'fixtures', 'procedure.txt'), 'utf8')
  .trim()
  .split('\n')
  .map(sentenceOf);

function sentenceOf(line: string): Sentence {
  const [head = '', does = '', shown = '', reads = ''] = line.split(' | ');
  const [, ref = '', only, asks = ''] = /^(\S+) (?:(calico|netsvc) )?(.*)$/.exec(head) ?? [];
  return {
    ...{ ref, asks, does, reads: reads.split(', ') },
    shown: shown.split('; ').map((one) => ({ file: one.slice(0, one.indexOf(': ')), title: one.slice(one.indexOf(': ') + 2) })),
    ...(only === undefined ? {} : { only }),
  };
}

/** The numbered step or table row that a sentence is part of; what a section says before its first step (0) is of the section. */
export const stepOf = (ref: string): string => ref.replace(/\.\d+$/, '').replace(/\/0$/, '');

const textOfTest = (file: string) => readFileSync(join(tests, `${file}.test.ts`), 'utf8');

/** What is wrong with what a sentence says of itself. */
export function faultsOf({ shown, reads, only }: Sentence): readonly string[] {
  const profiles = new Set<string>();
  const faults = shown.flatMap(({ file, title }) => {
    if (!existsSync(join(tests, `${file}.test.ts`))) return [`there is no test/${file}.test.ts`];
    for (const one of profilesIn(file)) profiles.add(one);
    return textOfTest(file).includes(title) ? [] : [`test/${file}.test.ts has no "${title}"`];
  });
  const [one, ...more] = profiles;
  const really = more.length === 0 ? one : undefined;
  const claim = really === only ? [] : [`its tests are of ${really ?? 'both profiles'}, and it says ${only ?? 'both'}`];
  return [...faults, ...claim, ...reads.filter((page) => placeOf(page) === undefined).map((page) => `there is no page ${page}`)];
}

/** Profiles whose names a test is written in: the embedded cluster is of `netsvc`; what names none is the same for both. */
function profilesIn(file: string): readonly string[] {
  const text = textOfTest(file);
  const named = [
    /calico(?!_TARGET)/i.test(text) ? 'calico' : '',
    /netsvc(?!-upgrade|ctl|_TARGET)/i.test(text) || file.startsWith('sandbox/') ? 'netsvc' : '',
  ];
  const found = named.filter((name) => name !== '');
  return found.length === 0 ? ['calico', 'netsvc'] : found;
}

/** A page as `coverage.md` links it; undefined where there is none. */
function placeOf(page: string): string | undefined {
  const places = [
    `../reference/checks/${page}.md`,
    `../reference/${page}.md`,
    `../reference/cli/${page}.md`,
    `${page}.md`,
    `../use/${page}.md`,
    `../../${page}.md`,
  ];
  return places.find((place) => existsSync(join(docs, 'internals', place)));
}

/** Stages and checks that cite the step. */
export function claimants(step: string): readonly string[] {
  const owners = [...restoreChecks, ...forgetChecks];
  const all = [...preflightChecks, ...applyChecks, ...owners, ...alpChecks, ...undoChecks, ...hepChecks, ...removalChecks, ...verifyChecks];
  const cited = all.filter((check) => check.ref === step).map(({ id }) => id);
  const stages = chain.filter((stage) => stage.ref === step).map(({ id }) => `stage \`${id}\``);
  // Several stages evaluate some of them.
  return [...stages, ...new Set(cited)];
}

export function coverageText(): string {
  const isFirst = (index: number, step: string) => procedure.findIndex(({ ref }) => stepOf(ref) === step) === index;
  const rows = procedure.map(({ ref, only, asks, does, shown, reads }, index) => {
    const step = stepOf(ref);
    const cited = isFirst(index, step) ? claimants(step).filter((one) => !does.includes(one)) : [];
    const doing = [does, ...(cited.length > 0 ? [`(${cited.join(', ')})`] : [])].join(' ');
    const files = [...new Set(shown.map(({ file }) => file))].map((file) => `\`${file}\``).join(', ');
    const pages = reads.map((page) => `[${page.split('/').at(-1)}](${placeOf(page)})`).join(', ');
    return `| ${ref} | ${asks} | ${doing} | ${files}${only === undefined ? '' : ` (${only})`} | ${pages} |`;
  });
  return [
    '# Coverage of the procedure',
    '',
    'Each sentence and table row of the procedure that asks for something: what does it, which test fails without it, what you read of it.',
    'A name of a profile behind the tests: they show it with that profile only. Where the program differs on purpose, the third column says why.',
    'Written by `node build/coverage.ts` from `test/fixtures/procedure.txt`; a test keeps it true.',
    '',
    '| Step | Asks | Done by | Shown by, below `test` | Read |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
