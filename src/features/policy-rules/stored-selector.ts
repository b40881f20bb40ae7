import { Fault } from '../../kernel/fault.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { type Selector, SelectorError, type SetOperator, type TextOperator } from './selector.ts';

/** What is wrong with a stored object, and with which part of it; `says` leaves out which object that is. */
export class StoredFault extends Fault {
  readonly of: 'selector' | 'rule';
  readonly says: string;

  constructor(object: KubeObject, of: StoredFault['of'], says: string, steps: readonly string[]) {
    super('failed', `${refText(refOf(object))}: ${says}`, steps);
    this.of = of;
    this.says = says;
  }
}

/** The selector in a field of a stored object: nothing checks it on its way in by kubectl. Throws Fault `failed` naming object, field and column. */
export function storedSelector(object: KubeObject, field: string, text: string): Selector {
  try {
    return parseSelector(text);
  } catch (thrown) {
    if (!(thrown instanceof SelectorError)) throw thrown;
    throw new StoredFault(object, 'selector', `spec.${field} is no selector: ${thrown.message}`, [
      'correct the selector, or delete the policy: its effect cannot be determined',
    ]);
  }
}

/** Deeper nesting is nobody's policy; it would only exhaust the stack. */
const DEEPEST = 200;
const LONGEST_LABEL = 512;

const SPACE = /[ \t]*/y;
const NOT = /!(?!=)/y;
const CALL = /(all|global)\([ \t]*\)/y;
const HAS = /has\([ \t]*([a-zA-Z0-9_./-]+)[ \t]*\)/y;
/** `all(` and its like begin a call, whatever follows. */
const LABEL = /(?!(?:all|global|has)\()[a-zA-Z0-9_./-]+/y;
const TEXT = /"([^"]*)"|'([^']*)'/y;

/** Looked for only where a label has just been read, so that a label may be called `in` or `contains`. */
const TEXT_OPERATORS: readonly (readonly [TextOperator, RegExp])[] = [
  ['==', /==/y],
  ['!=', /!=/y],
  ['contains', /contains/y],
  ['starts with', /starts[ \t]*with/y],
  ['ends with', /ends[ \t]*with/y],
];
const SET_OPERATORS: readonly (readonly [SetOperator, RegExp])[] = [
  ['not in', /not[ \t]*in/y],
  ['in', /in/y],
];

/** Parses a selector (empty: everything); `!` binds tighter than `&&`, then `||`. Throws SelectorError with the column. */
export function parseSelector(text: string): Selector {
  const reader = new Reader(text);
  if (reader.take(END)) return { op: 'all' };
  const selector = either(reader, 0);
  reader.need(END, 'expected && or || or the end of the selector');
  return selector;
}

const END = /$/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.take(SPACE);
  }

  /** From 1. */
  get column(): number {
    return this.#at + 1;
  }

  /** What the pattern finds right here; the blanks behind it are passed over. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (!found) return undefined;
    SPACE.lastIndex = pattern.lastIndex;
    SPACE.test(this.#text);
    this.#at = SPACE.lastIndex;
    return found;
  }

  need(pattern: RegExp, problem: string): RegExpExecArray {
    return this.take(pattern) ?? this.fail(problem);
  }

  fail(problem: string): never {
    const rest = this.#text.slice(this.#at, this.#at + 12);
    throw new SelectorError(`${problem}, found ${rest === '' ? 'the end' : JSON.stringify(rest)}`, this.column);
  }
}

function either(reader: Reader, depth: number): Selector {
  const operands = [both(reader, depth)];
  while (reader.take(/\|\|/y)) operands.push(both(reader, depth));
  return joined('or', operands);
}

function both(reader: Reader, depth: number): Selector {
  const operands = [operation(reader, depth)];
  while (reader.take(/&&/y)) operands.push(operation(reader, depth));
  return joined('and', operands);
}

function joined(op: 'and' | 'or', operands: readonly Selector[]): Selector {
  const [first, ...more] = operands;
  return first && more.length === 0 ? first : { op, operands };
}

/** Any number of `!` is one or none. */
function operation(reader: Reader, depth: number): Selector {
  let negated = false;
  while (reader.take(NOT)) negated = !negated;
  const operand = simple(reader, depth);
  return negated ? { op: 'not', operand } : operand;
}

function simple(reader: Reader, depth: number): Selector {
  const { column } = reader;
  if (reader.take(/\(/y)) return parenthesis(reader, column, depth + 1);
  const call = reader.take(CALL)?.[1];
  if (call === 'all' || call === 'global') return { op: call };
  const has = reader.take(HAS)?.[1];
  const label = has ?? reader.need(LABEL, 'expected a label, all(), has(label), ! or (')[0];
  if (label.length > LONGEST_LABEL) throw new SelectorError(`a label name has at most ${LONGEST_LABEL} characters`, column);
  return has === undefined ? comparison(reader, label) : { op: 'has', label };
}

function parenthesis(reader: Reader, column: number, depth: number): Selector {
  if (depth > DEEPEST) throw new SelectorError(`parentheses are nested deeper than ${DEEPEST}`, column);
  const inner = either(reader, depth);
  reader.need(/\)/y, `expected the ) of the ( at column ${column}`);
  return inner;
}

function comparison(reader: Reader, label: string): Selector {
  for (const [op, pattern] of TEXT_OPERATORS) {
    if (reader.take(pattern)) return { op, label, value: textOf(reader.need(TEXT, 'expected a text in quotes')) };
  }
  for (const [op, pattern] of SET_OPERATORS) {
    if (reader.take(pattern)) return { op, label, values: valuesOf(reader) };
  }
  return reader.fail(`expected an operator after the label ${label}`);
}

const textOf = ([, inDouble, inSingle = '']: RegExpExecArray): string => inDouble ?? inSingle;

/** `{}` is allowed, and so is a comma before the brace. */
function valuesOf(reader: Reader): readonly string[] {
  reader.need(/\{/y, 'expected a set of texts in braces');
  const values: string[] = [];
  for (let text = reader.take(TEXT); text; text = reader.take(/,/y) && reader.take(TEXT)) values.push(textOf(text));
  reader.need(/\}/y, 'expected , or } in the set');
  return values;
}
