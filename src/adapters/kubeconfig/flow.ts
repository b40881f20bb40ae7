/** A value of the plain part of YAML: what it means is the same in every version of YAML, and to kubectl. */
export type PlainValue = string | boolean | null | readonly PlainValue[] | { readonly [key: string]: PlainValue };

const BLANK = /[ \n]*/y;
const KEY = /([A-Za-z][A-Za-z0-9-]*):(?=[ \n])|"([A-Za-z][A-Za-z0-9-]*)" ?:/y;
const WORD = /"[^"\\]*"|'[^']*'|[^\s,[\]{}"']+/y;

/** Whether each bracket that the text opens is closed in it. */
export function isClosed(text: string): boolean {
  const brackets = text.replaceAll(/"[^"]*"|'[^']*'/g, '').match(/[[\]{}]/g) ?? [];
  return brackets.reduce((open, one) => open + (one === '[' || one === '{' ? 1 : -1), 0) <= 0;
}

/** One unambiguous flow mapping or list of YAML. `scalar` reads a single value; `unclear` throws for anything else. */
export function readFlow(text: string, scalar: (word: string) => PlainValue, unclear: () => never): PlainValue {
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const is = (mark: string): boolean => {
    next(BLANK);
    if (text[at] !== mark) return false;
    at += 1;
    return true;
  };

  function value(): PlainValue {
    if (is('{')) return mapping();
    if (is('[')) return list();
    return scalar(next(WORD)?.[0] ?? unclear());
  }

  function mapping(): PlainValue {
    const found = new Map<string, PlainValue>();
    if (is('}')) return {};
    do {
      next(BLANK);
      const [, bare, quoted] = next(KEY) ?? [];
      const key = bare ?? quoted ?? unclear();
      if (found.has(key)) unclear();
      found.set(key, value());
    } while (is(','));
    return is('}') ? Object.fromEntries(found) : unclear();
  }

  function list(): PlainValue {
    const items: PlainValue[] = [];
    if (is(']')) return items;
    do items.push(value());
    while (is(','));
    return is(']') ? items : unclear();
  }

  const found = value();
  next(BLANK);
  return at === text.length ? found : unclear();
}
