import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { COMMAND_NAMES, COMMANDS } from '../../src/cli/command-names.ts';
import { FLAG_ROWS } from '../../src/cli/flags.ts';

const src = join(import.meta.dirname, '..', '..', 'src');
const texts = globSync('{cli,commands,report}/**/*.ts', { cwd: src }).map((file) => readFileSync(join(src, file), 'utf8'));
const textOf = (pattern: string) =>
  globSync(pattern, { cwd: src })
    .filter((file) => !/^cli\/(?:\w+-)?flags\.ts$/.test(file))
    .map((file) => readFileSync(join(src, file), 'utf8'))
    .join('\n');
/** Those of the connection are read by the adapter that opens it. */
const opening =
  textOf('adapters/kubeconfig/*.ts').match(/\bflags\??(?:\.\w+|\['[a-z-]+'\])|\['[^\]]+\](?= as const\)\s+if \(flags\[name\]\))/g) ?? [];
const readers = [textOf('{cli,commands}/**/*.ts'), ...opening].join('\n');
const stages = textOf('{cli,engine,features}/**/*.ts');
const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) => one.localeCompare(other);
/** Every word between quotes, but for where the value of a flag is read: `flags['backup-dir']`, `{ 'backup-dir': folder }`. */
const quoted = texts.flatMap((text) => [...text.matchAll(/(?<!\[)'([a-z]+(?:-[a-z]+)+)'(?!: [a-z_])/g)].map(([, word = '']) => word));
/** Names of one word are names of other things, too. */
const compound = FLAG_ROWS.map(([name]) => name)
  .filter((name) => name.includes('-'))
  .sort();

/** A stage has the name of its flag; `-o images` refuses a report and files for Git; what comes next hangs on what was typed. */
const ELSEWHERE: Readonly<Record<string, number>> = {
  'dry-run': 1,
  'for-git': 1,
  'plan-file': 1,
  'probe-nodes': 2,
  'read-only': 1,
  'report-file': 1,
};

describe('the tables of flags', () => {
  for (const name of compound)
    it(`are the one list that names ${name}`, () => {
      assert.equal(quoted.filter((word) => word === name).length, 1 + (ELSEWHERE[name] ?? 0));
    });

  for (const [name, { option, isUserCommand }] of [...FLAG_ROWS].sort(byName))
    it(`have ${name} for something: the program reads it`, () => {
      // All of them are read by this trait.
      if (isUserCommand) return assert.match(readers, /isUserCommand/);
      if (option)
        return assert.match(
          stages,
          new RegExp(`(?:(?:options|limits)\\??\\.|[{,] )${option}\\b(?!\\??:)`),
          `no stage reads the option ${option}`,
        );
      const word = name.includes('-') ? `'${name}'` : `(?:flags|asked|values)\\??\\.${name}\\b|[{,]\\s*${name}\\b[^'"]*\\}|'${name}'`;
      assert.match(readers, new RegExp(word), `${name} is a row that nobody reads, and names no option`);
    });

  for (const [name, { on = [], as = {} }] of FLAG_ROWS)
    it(`give ${name} to commands that there are`, () => {
      const commands = [...on, ...Object.keys(as)];
      assert.ok(commands.length > 0);
      for (const one of commands) assert.ok(one === 'kubectl' || Object.hasOwn(COMMANDS, one), one);
    });

  it('are those of every file of a command', () => {
    const files = globSync('commands/*.ts', { cwd: src }).map((file) => basename(file, '.ts'));
    assert.deepEqual(files.sort(), [...COMMAND_NAMES, 'help'].sort());
  });
});
