import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../../src/cli/command-names.ts';
import { sourceTexts } from '../spec/source-texts.ts';

const root = join(import.meta.dirname, '..', '..');

/** A command that a person may paste, in a template that quotes nothing: what is put into it may be a text of others. `rollout undo` is only named. */
const UNQUOTED =
  /(?<!ommand)`(?!#)(?:[^`\\$\n]|\\.|\$\{[^`}]*\})*?\b(?:(?:kubectl|calicoctl|netsvcctl|oc)(?: -\S+ \S+)* (?:get|describe|logs|patch|edit|delete|label|annotate|rollout(?! undo would)|scale|apply|create|exec|cordon|netsvc-upgrade (?!that)[a-z]+)|argocd app|flux (?:suspend|resume)|helm (?:get|history|rollback|repo|pull|show|template)|curl -)(?:[^`\\$\n]|\\[^`])*\$\{/g;

const OURS = new RegExp(`kubectl netsvc-upgrade (?:\\$\\{|(?:${Object.keys(COMMANDS).join('|')})\\b)`);

/** Strings with a command of this program that is not data: it lacks `--context` where it is shown, and may act on another cluster. */
const stringsIn = (text: string, pattern = OURS): readonly string[] =>
  sourceTexts(text.replaceAll(/ommand`[^`]*`/g, 'ommand')).flatMap(({ kind, text: said }) =>
    kind === 'string' && pattern.test(said) ? [said] : [],
  );

/** The same of others, whole. */
const THEIRS =
  /\b(?:(?:kubectl|calicoctl|oc) (?:get|describe|logs|patch|edit|delete|label|annotate|rollout|scale|apply|create|exec|cordon|drain|ipam)\b|helm (?:get|history|rollback|repo|pull|show|template|uninstall)\b)/;

/** Sentences that only name one, as what somebody did or should not do, and files and help texts, which have no connection. */
const NAMED = [
  'src/cli/permissions-command.ts',
  'src/cli/status-command.ts',
  'src/commands/alp.ts',
  'src/features/backup/effects.ts',
  'src/features/install-chart/chart-checks.ts',
  'src/features/install-chart/chart-place.ts',
  'src/features/survey/field-takers.ts',
  'src/features/verify/checks.ts',
  'src/profiles/calico-changes.ts',
  'src/profiles/calico-defects.ts',
];

const unquotedIn = (text: string): readonly string[] => [...text.matchAll(UNQUOTED)].map(([found]) => found);

describe('commands for people', () => {
  it('come out of the template that quotes', () => {
    const found = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
      unquotedIn(readFileSync(join(root, file), 'utf8')).map((text) => `${file}: ${text}`),
    );
    assert.deepEqual(found, []);
  });

  it('of this program are data, so that they are given the flags of the connection', () => {
    const files = globSync('src/**/*.ts', { cwd: root });
    const found = files.flatMap((file) => stringsIn(readFileSync(join(root, file), 'utf8')).map((text) => `${file}: ${text}`));
    assert.deepEqual(found, []);
  });

  it('of others are data, too, wherever one is suggested', () => {
    const found = globSync('src/**/*.ts', { cwd: root }).filter(
      (file) => stringsIn(readFileSync(join(root, file), 'utf8'), THEIRS).length > 0,
    );
    assert.deepEqual(found.sort(), NAMED);
  });

  it('accept nothing for the user where they come next', () => {
    const found = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
      (readFileSync(join(root, file), 'utf8').match(/\bnext: (?:[^\n`]*\? )?command`[^`]*--accept\b/g) ?? []).map(
        (text) => `${file}: ${text}`,
      ),
    );
    assert.deepEqual(found, []);
  });

  it('are found where they do not', () => {
    const hole = `$${'{name}'}`;
    assert.equal(unquotedIn(`hint: \`see why: kubectl describe pod ${hole}\``).length, 1);
    assert.equal(unquotedIn(`return \`argocd app set ${hole} --sync-policy none\``).length, 1);
    assert.equal(stringsIn(`hint: 'go back with kubectl netsvc-upgrade hep --undo'`).length, 1);
    assert.equal(stringsIn(`back: \`kubectl netsvc-upgrade ${hole}\``).length, 1);
    assert.equal(stringsIn('hint: command`kubectl netsvc-upgrade hep --undo`').length, 0);
    assert.equal(unquotedIn(`return command\`argocd app set ${hole} --sync-policy none\``).length, 0);
  });
});
