import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawn, importsOf, namesCompared, offence, pathsCompared, readImports, redrawn, sentencesSearched } from '../../build/rooms.ts';

const root = join(import.meta.dirname, '..', '..');
const { imports, files } = readImports(root);
const page = readFileSync(join(root, 'docs', 'internals', 'architecture.md'), 'utf8');

describe('the rooms of src', () => {
  it('import nothing that the rule forbids', () => {
    assert.ok(imports.length > 2000, String(imports.length));
    assert.deepEqual(
      imports.flatMap((one) => offence(one, files) ?? []),
      [],
    );
  });

  it('import nothing that a sentence only names', () => {
    const [text, real] = [`\`cannot be read from '$\{name}'\``, "import a from './a.ts';"];
    assert.deepEqual(importsOf('cli/b.ts', `${text}\n${real}`), [{ file: 'cli/b.ts', to: 'cli/a.ts' }]);
  });

  it('are drawn as they are: `node build/rooms.ts --write` redraws them', () => {
    assert.equal(redrawn(page, drawn(imports, files)), page);
  });

  it('decide by no name of a stage or a check', () =>
    assert.deepEqual(
      [...files].flatMap((file) => namesCompared(file, readFileSync(join(root, 'src', file), 'utf8'))),
      [],
    ));

  for (const text of [
    "if (stage.id === 'wait') return;",
    "if (command === 'run') return;",
    "stages.some(({ id }) => id !== 'verify')",
    "const CONFLICTS = 'NS-201';",
    "const PUTS_BACK = ['ownerrefs-restore', 'ownerrefs-forget'];",
    "const STRIP = 'ownerrefs-strip';",
    "undos.includes('backup')",
    "const FORTH = ['run', 'apply', 'crds'];",
    'const OF_NODES = /^NS-71[123]=/;',
    "plans.filter(({ id }) => id.startsWith('ownerrefs-'))",
    "if (id === 'rollback-stop') return;",
    "const STOPS = { agents: { stop: 'apply', open: [] } };",
    "const AFTER = {\n  preflight: 'plan',\n  'ownerrefs-strip': 'crds',\n  crds: 'apply',\n};",
  ])
    it(`may not say: ${text}`, () => {
      assert.ok(namesCompared('cli/a.ts', text).length > 0);
      assert.deepEqual(namesCompared('features/hosts/a.ts', text), []);
    });

  it('may tell effects, verbs and flags by theirs', () => {
    const texts = [
      "effect.type === 'wait'",
      "on: ['preflight'],",
      "args.includes('apply')",
      "['annotate', 'apply', 'wait']",
      "ours('verify')",
      "{ reached: 'crds', type: 'wait', next: 'verify', shownBy: 'wait' }",
    ];
    assert.deepEqual(namesCompared('cli/a.ts', texts.join('\n')), []);
  });

  it('ask for no install path by its name', () =>
    assert.deepEqual(
      [...files].flatMap((file) => pathsCompared(file, readFileSync(join(root, 'src', file), 'utf8'))),
      [],
    ));

  for (const text of [
    "if (installation.path === 'operator') return;",
    "const kvstore = datastore !== 'kvstore';",
    "if (['chart', 'operator'].includes(path)) return;",
    "switch (path) { case 'manifest': return; }",
    "const OPERATED = ['operator', 'chart'];",
    "const NEEDLESS = {\n  manifest: 'a',\n  kvstore: 'b',\n  chart: 'c',\n};",
  ])
    it(`may not say: ${text}`, () => assert.equal(pathsCompared('features/backup/a.ts', text).length, 1));

  it('may print it, name it where it is found, and call a component as one is called', () => {
    const texts = ['failed(installation.path)', "one.component === 'operator'", "category === 'manifest'"];
    assert.deepEqual(pathsCompared('features/backup/a.ts', texts.join('\n')), []);
    assert.deepEqual(pathsCompared('features/survey/operator-path.ts', "said === 'chart'"), []);
  });

  it('decide by no words of a sentence that this program wrote', () => {
    const { files } = readImports(root);
    assert.deepEqual(
      [...files].flatMap((file) => sentencesSearched(file, readFileSync(join(root, 'src', file), 'utf8'))),
      [],
    );
  });

  for (const text of [
    "const impact = outcome.suggestions.find((one) => one.startsWith('running pods '));",
    "if (/nothing was changed/i.test(outcome.message ?? '')) return;",
    'suggestions.map((one) => LOOK.exec(one)?.[1])',
    "if (finding.message.startsWith(LEFT_OUT)) return 'left out';",
    "if (!next.includes(' --probe-nodes')) return [];",
    "const parts = finding.hint.split('; ');",
    'return action.title.includes(detail) ? [] : [detail];',
    "return fault?.includes('is no selector') ? [evidence] : [];",
    'const stopsAll = evidence.some(({ detail }) => detail?.endsWith(NO_ADDRESSES));',
    "refused.some(({ note }) => /immutable/i.test(plainText(note ?? '')))",
    "if (plainText(step.text).startsWith('see ')) return step;",
    'SIGNS.filter(({ hint }) => hint === AGAIN)',
    'reasons.find((one) => one.short === short)?.long',
    'if (because === message) return true;',
    'entries.flatMap(([point, { short }]) => (short === because ? [point] : []))',
  ])
    it(`would be told of one in every room: ${text}`, () => {
      for (const file of ['cli/a.ts', 'features/hosts/a.ts', 'kube/a.ts']) assert.ok(sentencesSearched(file, text).length > 0, file);
    });

  it('may ask whether there is a sentence, and read the words of others', () => {
    const texts = [
      'if (because === undefined) return;',
      "if (hint !== '') return;",
      "typeof message === 'string'",
      'if (status === 403) return message;',
    ];
    assert.deepEqual(sentencesSearched('features/hosts/a.ts', texts.join('\n')), []);
    assert.deepEqual(sentencesSearched('kernel/fault.ts', '/no such host/.test(thrown.message)'), []);
  });

  it('would be told in every room of a look into why a pod lags', () => {
    for (const text of ["one.why.startsWith('not ready')", "pod.why.replace(/\\d+/g, '#')", '/restarts?$/.exec(pod.why)?.[1]'])
      assert.equal(sentencesSearched('features/rollout/a.ts', text).length, 1, text);
  });

  const known = new Set([
    'kernel/a.ts',
    'kube/a.ts',
    'engine/a.ts',
    'features/chain.ts',
    'features/survey/index.ts',
    'features/hosts/a.ts',
  ]);
  for (const [file, text, says] of [
    ['kernel/b.ts', "import { a } from '../kube/a.ts';", /kernel is not above kube/],
    ['kube/b.ts', "import type { a } from '../engine/a.ts';", /kube is not above engine/],
    ['features/survey/b.ts', "export { a } from '../hosts/index.ts';", /survey may not|survey is not above hosts/],
    ['features/hosts/b.ts', "import { a } from '../survey/facts.ts';", /survey/],
    ['features/hosts/b.ts', "const a = await import('../../engine/a.ts');", /hosts is not above engine/],
    ['features/hosts/b.ts', "import { readFile } from 'node:fs';", /hosts may not/],
    ['nowhere/b.ts', "import { a } from '../kernel/a.ts';", /no room/],
  ] as const)
    it(`refuse in ${file}: ${text}`, () => {
      const found = importsOf(file, text).map((one) =>
        offence(one, new Set([...known, 'features/survey/facts.ts', 'features/hosts/index.ts'])),
      );
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', says);
    });

  it('may use a face below, the kernel, and files of their own', () => {
    const text = "import { a } from '../survey/index.ts'; import { b } from '../../kernel/a.ts'; import { c } from './a.ts';";
    assert.deepEqual(
      importsOf('features/hosts/b.ts', text).map((one) => offence(one, known)),
      [undefined, undefined, undefined],
    );
  });
});

/** The files of a row that are not there, and the names that the file after them does not declare. */
function notThere(where: string): readonly string[] {
  let names: readonly string[] = [];
  const found = [...where.matchAll(/`([^`]+)`/g)].flatMap(([, word = '']) => {
    if (word.startsWith('--')) return [];
    if (!word.endsWith('.ts')) {
      names = [...names, word];
      return [];
    }
    const mine = names;
    names = [];
    const file = join(root, 'src', word);
    if (!existsSync(file)) return [word];
    const text = readFileSync(file, 'utf8');
    return mine.filter((name) => !declares(text, name)).map((name) => `${name} in ${word}`);
  });
  return [...found, ...names];
}

/** At the beginning of a line, or a member of a class; a constant anywhere. */
function declares(text: string, name: string): boolean {
  const word = name.replace('#', '\\#');
  const outside = `^(?:export )?(?:async )?(?:function|class|interface|type) ${word}\\b`;
  return new RegExp(`${outside}|^  (?:async )?${word}\\(|\\bconst ${word}\\b`, 'm').test(text);
}

describe('the table of where things happen', () => {
  const [, table = ''] = page.split('## Where things happen');
  const rows = [...table.matchAll(/^\| (?!What \|)(.+) \| (.+) \|$/gm)];

  it('names files that are there, and what they declare', () => {
    assert.ok(rows.length >= 20, String(rows.length));
    for (const [, what, where = ''] of rows) {
      assert.match(where, /`[^`]+\.ts`/, what);
      assert.deepEqual(notThere(where), [], what);
    }
  });

  it('would be told of a file that is gone, and of a name that is no declaration', () =>
    assert.deepEqual(notThere('`exitOf` and `Finding` in `engine/plan-chain.ts`, `gone` in `engine/gone.ts`, by `--accept` and `nobody`'), [
      'Finding in engine/plan-chain.ts',
      'engine/gone.ts',
      'nobody',
    ]));
});
