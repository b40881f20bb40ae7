import { SelectorError } from './selector.ts';

export type TokenType =
  | '('
  | ')'
  | '{'
  | '}'
  | ','
  | '!'
  | '&&'
  | '||'
  | '=='
  | '!='
  | 'in'
  | 'not in'
  | 'contains'
  | 'starts with'
  | 'ends with'
  | 'all'
  | 'global'
  | 'has'
  | 'label'
  | 'text'
  | 'end';

export interface Token {
  readonly type: TokenType;
  /** Name of a label, or a text without its quotes. */
  readonly value: string;
  /** From 1. */
  readonly column: number;
}

const SPACE = /[ \t]*/y;
const SIGN = /\|\||&&|==|!=|[(){},!]/y;
const QUOTED = /"([^"]*)"|'([^']*)'/y;
const LABEL = /[a-zA-Z0-9_./-]+/y;
const HAS = /has\([ \t]*([a-zA-Z0-9_./-]+)[ \t]*\)/y;
const LONGEST_LABEL = 512;
/** Words only where an expression begins. */
const CALLS: readonly (readonly [TokenType, RegExp])[] = [
  ['all', /all\([ \t]*\)/y],
  ['global', /global\([ \t]*\)/y],
];
/** Words that compare: only where a label has just been read, so that a label may be called `in` or `contains`. */
const OPERATORS: readonly (readonly [TokenType, RegExp])[] = [
  ['contains', /contains/y],
  ['starts with', /starts[ \t]*with/y],
  ['ends with', /ends[ \t]*with/y],
  ['not in', /not[ \t]*in/y],
  ['in', /in/y],
];

/** Cuts a selector into tokens; the last one is `end`. Throws SelectorError at the first thing that is none. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = spaceEnd(text, 0); at < text.length; ) {
    const read = tokens.at(-1)?.type === 'label' ? afterLabel(text, at) : anywhere(text, at);
    tokens.push({ type: read.type, value: read.value ?? '', column: at + 1 });
    at = spaceEnd(text, at + read.length);
  }
  return [...tokens, { type: 'end', value: '', column: text.length + 1 }];
}

interface Read {
  readonly type: TokenType;
  readonly value?: string;
  readonly length: number;
}

function afterLabel(text: string, at: number): Read {
  return word(OPERATORS, text, at) ?? sign(text, at) ?? fail(text, at, 'expected an operator after the label');
}

function anywhere(text: string, at: number): Read {
  const simple = sign(text, at) ?? quoted(text, at) ?? word(CALLS, text, at);
  if (simple) return simple;
  const has = match(HAS, text, at);
  if (has) return { type: 'has', value: checkedLabel(has[1] ?? '', at), length: has[0].length };
  const label = match(LABEL, text, at);
  if (!label) return fail(text, at, 'expected a label, a text in quotes, all(), has(label), ! or (');
  if (/^(all|global|has)$/.test(label[0]) && text[at + label[0].length] === '(') {
    return fail(text, at, `expected ${label[0]}(${label[0] === 'has' ? 'label' : ''})`);
  }
  return { type: 'label', value: checkedLabel(label[0], at), length: label[0].length };
}

function sign(text: string, at: number): Read | undefined {
  const found = match(SIGN, text, at)?.[0];
  return found === undefined ? undefined : { type: found as TokenType, length: found.length };
}

function quoted(text: string, at: number): Read | undefined {
  if (text[at] !== '"' && text[at] !== "'") return undefined;
  const found = match(QUOTED, text, at);
  if (!found) throw new SelectorError(`the text that begins with ${text[at]} does not end`, at + 1);
  return { type: 'text', value: found[1] ?? found[2] ?? '', length: found[0].length };
}

function word(words: readonly (readonly [TokenType, RegExp])[], text: string, at: number): Read | undefined {
  for (const [type, pattern] of words) {
    const found = match(pattern, text, at);
    if (found) return { type, length: found[0].length };
  }
  return undefined;
}

function checkedLabel(label: string, at: number): string {
  if (label.length > LONGEST_LABEL) throw new SelectorError(`a label name has at most ${LONGEST_LABEL} characters`, at + 1);
  return label;
}

function fail(text: string, at: number, expected: string): never {
  throw new SelectorError(`${expected}, found ${JSON.stringify(text.slice(at, at + 12))}`, at + 1);
}

function spaceEnd(text: string, at: number): number {
  return at + (match(SPACE, text, at)?.[0].length ?? 0);
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
