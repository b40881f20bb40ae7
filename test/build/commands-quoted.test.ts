import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** A command that a person may paste, in a template that quotes nothing: what is put into it may be a text of others. */
const UNQUOTED =
  /(?<!ommand)`(?:[^`\\$\n]|\\.|\$\{[^`}]*\})*?\b(?:(?:kubectl|calicoctl|netsvcctl|oc)(?: -\S+ \S+)* (?:get|describe|logs|patch|edit|delete|label|annotate|rollout|scale|apply|create|exec|cordon|netsvc-upgrade [a-z]+)|argocd app|flux (?:suspend|resume)|helm (?:get|history|rollback|repo|pull|show|template)|curl -)(?:[^`\\$\n]|\\[^`])*\$\{/g;

const unquotedIn = (text: string): readonly string[] => [...text.matchAll(UNQUOTED)].map(([found]) => found);

describe('commands for people', () => {
  it('come out of the template that quotes', () => {
    const found = globSync('src/{features,kernel,profiles,kube,manifest,engine}/**/*.ts', { cwd: root }).flatMap((file) =>
      unquotedIn(readFileSync(join(root, file), 'utf8')).map((text) => `${file}: ${text}`),
    );
    assert.deepEqual(found, []);
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
    assert.equal(unquotedIn(`return command\`argocd app set ${hole} --sync-policy none\``).length, 0);
  });
});
