import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { procedure } from '../../src/core/procedure.ts';

const document = join(import.meta.dirname, '..', '..', '..', 'shared', 'procedure.md');

/** Numbered lines per section of the document; sections with tables are counted by hand in the list. */
function numberedSteps(text: string): readonly string[] {
  const refs = new Set<string>();
  let section = '';
  let sub = '';
  for (const line of text.split('\n')) {
    const heading = /^#{2,3} (\d+(?:\.\d+)?)/.exec(line);
    if (heading) [section, sub] = [heading[1] ?? '', ''];
    if (/^Steps for option/.test(line)) sub = 'steps';
    const number = /^(\d+)\. /.exec(line);
    if (number && (section !== '4.2' || sub === 'steps')) refs.add(`§${section}/${number[1]}`);
  }
  return [...refs];
}

describe('the procedure', () => {
  it('lists each step once', () => {
    const refs = procedure.map((step) => step.ref);
    assert.equal(new Set(refs).size, refs.length);
  });

  it('holds every numbered step of the document beside the repository', function () {
    if (!existsSync(document)) this.skip();
    const known = new Set(procedure.map((step) => step.ref));
    const steps = numberedSteps(readFileSync(document, 'utf8'));
    assert.ok(steps.length > 30);
    assert.deepEqual(
      steps.filter((ref) => !known.has(ref)),
      [],
    );
  });
});
