import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testFolder } from './folders.ts';

const PROGRAMS = ['kubectl', 'argocd', 'flux', 'helm', 'calicoctl', 'netsvcctl', 'curl'];
const COMMAND = new RegExp(`(?:${PROGRAMS.join('|')}) .*`, 'g');

const SIGNS: Readonly<Record<string, string>> = { quot: '"', '#34': '"', '#39': "'", apos: "'", lt: '<', gt: '>', amp: '&' };

const isDocument = (output: string) => output.startsWith('{');

/** Every line of every string of a document, every line of a text; of a page as a reader copies it. */
function linesOf(output: string): readonly string[] {
  const text = isDocument(output) ? stringsIn(JSON.parse(output)).join('\n') : output;
  return text.replaceAll(/&([#\w]+);/g, (whole, name: string) => SIGNS[name] ?? whole).split('\n');
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** A shell in which every program is a stand-in that does nothing: what an output suggests is pasted into it. */
export function pasting() {
  const home = testFolder('netsvc-pasted-');
  const [bin, place] = [join(home, 'bin'), join(home, 'here')];
  for (const folder of [bin, place]) mkdirSync(folder);
  for (const program of PROGRAMS) writeFileSync(join(bin, program), '#!/bin/sh\n', { mode: 0o755 });
  symlinkSync('/usr/bin/touch', join(bin, 'touch'));
  return {
    /** `touch SIGN` in a text of others is no command in any line of the output, wherever a reader begins to copy. */
    assertHarmless(output: string, sign: string, what: string): void {
      const lines = linesOf(output);
      // In a document it is a value, as it is.
      if (!isDocument(output)) assert.ok(!lines.some((line) => line.trim().startsWith(`touch ${sign}`)), `${what}: a line of their own`);
      const commands = lines.flatMap((line) => line.match(COMMAND) ?? []);
      for (const command of new Set(commands.filter((one) => one.includes(sign)))) {
        execFileSync('/bin/sh', ['-c', `${command}\ntrue`], { cwd: place, env: { PATH: bin }, stdio: 'ignore' });
        assert.deepEqual(readdirSync(place), [], `${what}: ${command}`);
      }
    },
  };
}
