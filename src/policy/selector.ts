/** Labels of an endpoint, a namespace or a service account, by key. */
export type Labels = Readonly<Record<string, string>>;

/** A selector of the service's own language (not Kubernetes' label selectors), as a tree. */
export type Selector =
  | { readonly op: 'all' | 'global' }
  | { readonly op: 'has'; readonly label: string }
  | { readonly op: TextOperator; readonly label: string; readonly value: string }
  | { readonly op: SetOperator; readonly label: string; readonly values: readonly string[] }
  | { readonly op: 'not'; readonly operand: Selector }
  | { readonly op: 'and' | 'or'; readonly operands: readonly Selector[] };

export type TextOperator = '==' | '!=' | 'contains' | 'starts with' | 'ends with';
export type SetOperator = 'in' | 'not in';

/** The selector is not of the language; `column` counts from 1. */
export class SelectorError extends Error {
  readonly column: number;

  constructor(problem: string, column: number) {
    super(`${problem} (column ${column})`);
    this.name = 'SelectorError';
    this.column = column;
  }
}

/**
 * True if the labels match. An absent label matches `!=` and `not in`, and no other comparison; `global()` is true of everything
 * and only means something to a selector of namespaces.
 */
export function matches(selector: Selector, labels: Labels): boolean {
  switch (selector.op) {
    case 'all':
    case 'global':
      return true;
    case 'not':
      return !matches(selector.operand, labels);
    case 'and':
      return selector.operands.every((operand) => matches(operand, labels));
    case 'or':
      return selector.operands.some((operand) => matches(operand, labels));
    default:
      return holds(selector, labels[selector.label]);
  }
}

type Comparison = Extract<Selector, { readonly label: string }>;

/** Names that every object inherits (`constructor`) are no labels: their values are no strings. */
function holds(comparison: Comparison, value: unknown): boolean {
  if (typeof value !== 'string') return comparison.op === '!=' || comparison.op === 'not in';
  switch (comparison.op) {
    case 'has':
      return true;
    case '==':
      return value === comparison.value;
    case '!=':
      return value !== comparison.value;
    case 'contains':
      return value.includes(comparison.value);
    case 'starts with':
      return value.startsWith(comparison.value);
    case 'ends with':
      return value.endsWith(comparison.value);
    case 'in':
      return comparison.values.includes(value);
    case 'not in':
      return !comparison.values.includes(value);
  }
}

/** The selector as text: what it parses to is the same tree. */
export function selectorText(selector: Selector): string {
  switch (selector.op) {
    case 'all':
    case 'global':
      return `${selector.op}()`;
    case 'has':
      return `has(${selector.label})`;
    case 'not':
      return `!${operandText(selector.operand)}`;
    case 'and':
    case 'or':
      return selector.operands.map(operandText).join(selector.op === 'and' ? ' && ' : ' || ');
    case 'in':
    case 'not in':
      return `${selector.label} ${selector.op} {${selector.values.map(quoted).join(', ')}}`;
    default:
      return `${selector.label} ${selector.op} ${quoted(selector.value)}`;
  }
}

function operandText(operand: Selector): string {
  return operand.op === 'and' || operand.op === 'or' ? `(${selectorText(operand)})` : selectorText(operand);
}

/** The language has no escapes: a value holds one kind of quote at most. */
function quoted(value: string): string {
  const quote = value.includes('"') ? "'" : '"';
  return `${quote}${value}${quote}`;
}
