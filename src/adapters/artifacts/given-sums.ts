import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Fault, messageOf } from '../../kernel/fault.ts';

const SUM = /^(?:sha256:)?([0-9a-f]{64})$/i;

/**
 * The sums of `--artifact-digest` by file name: each value is `NAME=SHA256` or a file as `sha256sum` writes it. Throws Fault('usage') for
 * anything else, and for a name with two sums.
 */
export async function givenSums(values: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const sums = new Map<string, string>();
  for (const value of values) {
    for (const [name, sum] of pairOf(value) ?? (await listed(value))) {
      const before = sums.get(name) ?? sum;
      if (before !== sum)
        throw new Fault('usage', `--artifact-digest has two sums of ${name}: ${before} and ${sum}`, ['give the one of the target release']);
      sums.set(name, sum);
    }
  }
  return sums;
}

type Pairs = readonly (readonly [name: string, sum: string])[];

function pairOf(value: string): Pairs | undefined {
  const equals = value.lastIndexOf('=');
  const sum = SUM.exec(value.slice(equals + 1))?.[1];
  if (equals <= 0 || sum === undefined) return undefined;
  return [[basename(value.slice(0, equals)), sum.toLowerCase()]];
}

async function listed(file: string): Promise<Pairs> {
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    throw notSums(file, messageOf(thrown), thrown);
  });
  const pairs = text.split('\n').flatMap((line) => {
    const [, sum, name = ''] = /^([0-9a-f]{64})\s+\*?(.+)$/i.exec(line.trim()) ?? [];
    return sum === undefined ? [] : [[basename(name), sum.toLowerCase()] as const];
  });
  if (pairs.length === 0) throw notSums(file, 'it has no line with a sum and a name');
  return pairs;
}

function notSums(value: string, why: string, cause?: unknown): Fault {
  return new Fault(
    'usage',
    `--artifact-digest ${value} is neither NAME=SHA256 nor a file of sums: ${why}`,
    ['write --artifact-digest calico.yaml=SHA256, or name a file that sha256sum wrote'],
    cause,
  );
}
