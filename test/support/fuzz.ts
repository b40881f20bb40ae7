import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Fault } from '../../src/kernel/fault.ts';
import { CALICO_TARGET } from './target.ts';

/** Many more in the nightly run, or as many as FUZZ_RUNS says. */
export const FUZZ_RUNS = Number(process.env.FUZZ_RUNS) || (process.env.NIGHTLY ? 10_000 : 500);

/** What the function gives, or the one error of this program; every other exception is a defect. */
export function valueOrFault<T>(read: () => T, code?: string): T | Fault {
  try {
    return read();
  } catch (thrown) {
    return faultOf(thrown, code);
  }
}

/** The error as a Fault that a person can read; throws what is none. */
export function faultOf(thrown: unknown, code?: string): Fault {
  if (!(thrown instanceof Fault)) throw thrown;
  assert.ok(thrown.message.length > 3 && thrown.message.length < 1_000, thrown.message);
  assert.doesNotMatch(thrown.message, /undefined|\[object|Cannot read|is not a function|\n\s+at /);
  assert.ok(thrown.suggestions.length > 0, thrown.message);
  if (code !== undefined) assert.equal(thrown.code, code, thrown.message);
  return thrown;
}

/** Pieces of which YAML is made, and some of which none is. */
const pieces = [
  ...'apiVersion: v1|kind: ConfigMap|kind: List|items:|metadata:|  name: a|  name: 7|metadata: {name: a}'.split('|'),
  ...'data:|  a: b|data: {a: b}|spec: []|x: &a [*a]|y: *a|z: &a|<<: *a|<<: {a: b}'.split('|'),
  ...'---|--- # x|--- {a: b}|...|%YAML 1.1|%TAG ! x|# comment|- a|  - b|>-|!!binary x|!!set {a}|!x y'.split('|'),
  ...['__proto__: {a: b}', 'constructor: a', '? a\n: b', '"a": 1\n"a": 2'],
]
  .map((line) => `${line}\n`)
  .concat(
    ...['---', '- ', '\t', '\r\n', '\r', '\n', '\uFEFF', '\0', '\u2028', '\ud800', '"', "'", '|\n', '|2\n', ': ', ':'],
    ...'{ } [ ] , null ~ yes 0o17 017 1:30 2001-01-01 .inf 1e3'.split(' '),
    `"${'x'.repeat(70_000)}"\n`,
  );
export const yamlText = fc
  .array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...pieces) }, { weight: 1, arbitrary: fc.string({ maxLength: 12 }) }), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''));

/** A text with parts of it taken out, doubled, or put elsewhere, and pieces of YAML put in. */
export function damaged(text: string): fc.Arbitrary<string> {
  const place = fc.nat({ max: text.length });
  const change = fc.record({
    how: fc.constantFrom('cut', 'double', 'insert', 'move'),
    at: place,
    length: fc.nat({ max: 60 }),
    to: place,
    piece: fc.constantFrom(...pieces.slice(0, -1)),
  });
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) =>
    changes.reduce((now, { how, at, length, to, piece }) => {
      const [head, part, tail] = [now.slice(0, at), now.slice(at, at + length), now.slice(at + length)];
      if (how === 'cut') return head + tail;
      if (how === 'double') return head + part + part + tail;
      if (how === 'insert') return head + piece + part + tail;
      const rest = head + tail;
      return rest.slice(0, to) + part + rest.slice(to);
    }, text),
  );
}

/** Fields of any type under names that mean something to us. */
const names = fc.constantFrom(
  ...'spec template containers initContainers volumes env name image value ports data rules verbs args tolerations labels'.split(' '),
  ...'annotations metadata imagePullSecrets subjects __proto__ constructor toString cni_network_config'.split(' '),
);
const leaf = fc.oneof(
  fc.constantFrom(null, true, 0, -1.5, '', 'a', '\u0000'),
  fc.constantFrom('docker.io/calico/node:v3.27.2', 'x@sha256:1', '{"a": __B__}', '{"a": ', '[1', CALICO_TARGET),
  fc.string({ maxLength: 8 }),
);
export const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
  anything: fc.oneof(
    { maxDepth: 6, depthIdentifier: 'fuzz' },
    leaf,
    fc.array(tie('anything'), { maxLength: 4 }),
    fc.array(fc.tuple(names, tie('anything')), { maxLength: 5 }).map((entries) => own(entries)),
  ),
}));

/** As a parser makes it: also `__proto__` is a field of its own. */
export function own(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, value] of entries) Object.defineProperty(made, name, { value, enumerable: true, writable: true, configurable: true });
  return made;
}
