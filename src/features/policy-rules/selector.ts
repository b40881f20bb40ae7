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

/** Whether labels match a selector. */
export type Predicate = (labels: Labels) => boolean;

export function matches(selector: Selector, labels: Labels): boolean {
  return predicateOf(selector)(labels);
}

/** Whether the selector can be true where the values of some labels are not known, nor whether they are there. */
export function mayMatch(selector: Selector, labels: Labels, isUnknown: (label: string) => boolean): boolean {
  return possible(selector, true);

  function possible(one: Selector, wanted: boolean): boolean {
    switch (one.op) {
      case 'not':
        return possible(one.operand, !wanted);
      case 'and':
      case 'or': {
        const every = (one.op === 'and') === wanted;
        return every ? one.operands.every((each) => possible(each, wanted)) : one.operands.some((each) => possible(each, wanted));
      }
      default:
        return ('label' in one && isUnknown(one.label)) || matches(one, labels) === wanted;
    }
  }
}

/** The selector as a function. An absent label matches only `!=` and `not in`; `global()` is always true. */
export function predicateOf(selector: Selector): Predicate {
  switch (selector.op) {
    case 'all':
    case 'global':
      return () => true;
    case 'not': {
      const operand = predicateOf(selector.operand);
      return (labels) => !operand(labels);
    }
    case 'and':
      return selector.operands.map(predicateOf).reduce((one, other) => (labels) => one(labels) && other(labels));
    case 'or':
      return selector.operands.map(predicateOf).reduce((one, other) => (labels) => one(labels) || other(labels));
    default: {
      const { label } = selector;
      const holds = valuePredicateOf(selector);
      const ifAbsent = selector.op === '!=' || selector.op === 'not in';
      return (labels) => {
        // Names that every object inherits (`constructor`) are no labels: their values are no strings.
        const value: unknown = labels[label];
        return typeof value === 'string' ? holds(value) : ifAbsent;
      };
    }
  }
}

type Comparison = Extract<Selector, { readonly label: string }>;

const HOLDS: Readonly<Record<TextOperator, (value: string, wanted: string) => boolean>> = {
  '==': (value, wanted) => value === wanted,
  '!=': (value, wanted) => value !== wanted,
  contains: (value, wanted) => value.includes(wanted),
  'starts with': (value, wanted) => value.startsWith(wanted),
  'ends with': (value, wanted) => value.endsWith(wanted),
};

function valuePredicateOf(comparison: Comparison): (value: string) => boolean {
  if (comparison.op === 'has') return () => true;
  if ('values' in comparison) {
    const { op, values } = comparison;
    return (value) => values.includes(value) === (op === 'in');
  }
  const { op, value: wanted } = comparison;
  const holds = HOLDS[op];
  return (value) => holds(value, wanted);
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

/** The selector as text, in parentheses where it would otherwise come apart beside `&&` or `!`. */
export function operandText(operand: Selector): string {
  return operand.op === 'and' || operand.op === 'or' ? `(${selectorText(operand)})` : selectorText(operand);
}

/** The language has no escapes: a value holds one kind of quote at most. */
function quoted(value: string): string {
  const quote = value.includes('"') ? "'" : '"';
  return `${quote}${value}${quote}`;
}
