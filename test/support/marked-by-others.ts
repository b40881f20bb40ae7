import assert from 'node:assert/strict';
import type { InstalledCluster } from './installed-cluster.ts';
import { pasting } from './pasted.ts';
import { told } from './upgrade-process.ts';

/** A file that is there once a command of theirs was run. */
const SIGN = 'OWNED';
const OPTION = '--server=https://evil.example';
const TEXTS = [`x; touch ${SIGN} #`, `$(touch ${SIGN})`, `x' && touch ${SIGN} '`, `\`touch ${SIGN}\``, `x\ntouch ${SIGN}`, OPTION];
/** What a delivery tool writes, and what is read of it. */
const KEYS = ['argocd.argoproj.io/tracking-id', 'argocd.argoproj.io/sync-options'];

/**
 * Annotations of a delivery tool on objects of the service, whose values are commands of a shell, one after another. No output that looks at
 * the objects has one that would run when a line of it is pasted.
 */
export async function assertNoCommandOfOthers(
  { plane, upgrade }: Pick<InstalledCluster, 'plane' | 'upgrade'>,
  objects: readonly (readonly string[])[],
  flags: readonly string[],
): Promise<void> {
  const shell = pasting();
  try {
    for (let first = 0; first < TEXTS.length; first += objects.length) {
      for (const [at, object] of objects.entries()) await mark(plane, object, TEXTS[(first + at) % TEXTS.length] ?? '');
      for (const [command, format] of COMMANDS) {
        const result = await upgrade(command, '-o', format, ...flags);
        assert.match(told(result), /argocd app set APPLICATION --sync-policy none/, 'the tool is told of all the same');
        for (const output of [result.stdout, result.stderr]) shell.assertHarmless(output, SIGN, command);
        assert.ok(!told(result).includes(`app set ${OPTION}`), 'nor an option');
      }
    }
  } finally {
    for (const object of objects) await plane.kubectl(['annotate', ...object, ...KEYS.map((key) => `${key}-`)]);
  }
}

const COMMANDS = [
  ['preflight', 'wide'],
  ['plan', 'json'],
] as const;

async function mark({ kubectl }: InstalledCluster['plane'], object: readonly string[], text: string): Promise<void> {
  const { exitCode, stderr } = await kubectl(['annotate', '--overwrite', ...object, ...KEYS.map((key) => `${key}=${text}`)]);
  assert.equal(exitCode, 0, stderr);
}
