import { Fault } from '../../kernel/fault.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { type Selector, SelectorError, type SetOperator, type TextOperator } from './selector.ts';
import { type Token, type TokenType, tokensOf } from './selector-tokens.ts';

/** The selector in a field of a stored object: nothing checks it on its way in by kubectl. Throws Fault `failed` naming object, field and column. */
export function storedSelector(object: KubeObject, field: string, text: string): Selector {
  try {
    return parseSelector(text);
  } catch (thrown) {
    if (!(thrown instanceof SelectorError)) throw thrown;
    throw new Fault(
      'failed',
      `${refText(refOf(object))}: spec.${field} is no selector: ${thrown.message}`,
      ['correct the selector, or delete the policy: its effect cannot be determined'],
      thrown,
    );
  }
}

/** Deeper nesting is nobody's policy; it would only exhaust the stack. */
const DEEPEST = 200;

/** Parses a selector (empty: everything); `!` binds tighter than `&&`, then `||`. Throws SelectorError with the column. */
export function parseSelector(text: string): Selector {
  const reader = new Reader(tokensOf(text));
  if (reader.peek().type === 'end') return { op: 'all' };
  const selector = either(reader, 0);
  reader.take('end', 'expected && or || or the end of the selector');
  return selector;
}

class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** The last token, `end`, stays. */
  peek(): Token {
    return this.#tokens[Math.min(this.#at, this.#tokens.length - 1)] ?? { type: 'end', value: '', column: 1 };
  }

  next(): Token {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  skip(type: TokenType): boolean {
    if (this.peek().type !== type) return false;
    this.#at += 1;
    return true;
  }

  take(type: TokenType, problem: string): Token {
    if (this.peek().type !== type) throw wrong(this.peek(), problem);
    return this.next();
  }
}

function wrong(token: Token, problem: string): SelectorError {
  const found = token.type === 'end' ? 'the end' : JSON.stringify(token.value || token.type);
  return new SelectorError(`${problem}, found ${found}`, token.column);
}

function either(reader: Reader, depth: number): Selector {
  const operands = [both(reader, depth)];
  while (reader.skip('||')) operands.push(both(reader, depth));
  return joined('or', operands);
}

function both(reader: Reader, depth: number): Selector {
  const operands = [operation(reader, depth)];
  while (reader.skip('&&')) operands.push(operation(reader, depth));
  return joined('and', operands);
}

function joined(op: 'and' | 'or', operands: readonly Selector[]): Selector {
  const [first, ...more] = operands;
  return first && more.length === 0 ? first : { op, operands };
}

/** Any number of `!` is one or none. */
function operation(reader: Reader, depth: number): Selector {
  let negated = false;
  while (reader.skip('!')) negated = !negated;
  const operand = simple(reader, depth);
  return negated ? { op: 'not', operand } : operand;
}

function simple(reader: Reader, depth: number): Selector {
  const token = reader.next();
  switch (token.type) {
    case 'all':
    case 'global':
      return { op: token.type };
    case 'has':
      return { op: 'has', label: token.value };
    case 'label':
      return comparison(reader, token.value);
    case '(':
      return parenthesis(reader, token, depth + 1);
    default:
      throw wrong(token, 'expected a label, all(), has(label), ! or (');
  }
}

function parenthesis(reader: Reader, opening: Token, depth: number): Selector {
  if (depth > DEEPEST) throw new SelectorError(`parentheses are nested deeper than ${DEEPEST}`, opening.column);
  const inner = either(reader, depth);
  reader.take(')', `expected the ) of the ( at column ${opening.column}`);
  return inner;
}

const TEXT_OPERATORS: ReadonlySet<TokenType> = new Set(['==', '!=', 'contains', 'starts with', 'ends with'] satisfies TextOperator[]);
const SET_OPERATORS: ReadonlySet<TokenType> = new Set(['in', 'not in'] satisfies SetOperator[]);

function comparison(reader: Reader, label: string): Selector {
  const operator = reader.next();
  if (TEXT_OPERATORS.has(operator.type)) {
    return { op: operator.type as TextOperator, label, value: reader.take('text', 'expected a text in quotes').value };
  }
  if (SET_OPERATORS.has(operator.type)) return { op: operator.type as SetOperator, label, values: valuesOf(reader) };
  throw wrong(operator, `expected an operator after the label ${label}`);
}

/** `{}` is allowed, and so is a comma before the brace. */
function valuesOf(reader: Reader): readonly string[] {
  reader.take('{', 'expected a set of texts in braces');
  const values: string[] = [];
  while (reader.peek().type === 'text') {
    values.push(reader.next().value);
    if (!reader.skip(',')) break;
  }
  reader.take('}', 'expected , or } in the set');
  return values;
}
