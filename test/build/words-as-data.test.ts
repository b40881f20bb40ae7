import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { printedIn } from '../../build/printed.ts';
import { patient } from '../support/patience.ts';

const root = join(import.meta.dirname, '..', '..');

const PRINTS = `
import { type Command, command } from '../../src/kernel/command.ts';
import { type Said, Text } from '../../src/kernel/step.ts';
const next: Command = command\`kubectl get pods\`;
export const inWords = \`see \${next}\`;
export const added = 'see ' + next;
export const asText = (said: Said | undefined): string => String(said);
export const listed = [next].join('; ');
export const each = [new Text([next])].map(String);
export const right = [\`see \${next.plain}\`, new Text([next]), String(1), [1].join('')];
`;

describe('commands and sentences with commands', function () {
  this.timeout(patient(60_000));

  it('become a string nowhere by themselves', () => {
    assert.deepEqual(printedIn(root, 'src'), []);
  });

  it('are found where they do', () => {
    // The project of the compiler has what lies below test.
    const folder = mkdtempSync(join(root, 'test', 'printed-'));
    try {
      writeFileSync(join(folder, 'prints.ts'), PRINTS.slice(1));
      const lines = printedIn(root, folder.slice(root.length + 1)).map((found) => Number(/:(\d+):/.exec(found)?.[1]));
      assert.deepEqual(lines, [4, 5, 6, 7, 8]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
