/** A text of a source file: what its strings say, or a comment. Expressions of a template are shown as `${…}`. */
interface SourceText {
  readonly line: number;
  readonly kind: 'string' | 'comment';
  /** True for a comment that begins with two asterisks. */
  readonly isDocstring: boolean;
  readonly text: string;
}

const REGEX_BEFORE = /(?:^|[(,=:[!&|?{};+\n]|=>|\breturn|\bcase)\s*$/;
const REGEX = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
const QUOTED = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;

/** Strings, templates and comments of a file. Strings joined by `+` are one text, line comments below one another are one comment. */
export function sourceTexts(source: string): readonly SourceText[] {
  const found: { kind: SourceText['kind']; start: number; end: number; text: string }[] = [];
  code(0, false);
  return joined(found.sort((a, b) => a.start - b.start));

  function at(pattern: RegExp, index: number): string | undefined {
    pattern.lastIndex = index;
    return pattern.exec(source)?.[0];
  }

  /** Reads code from `index` on; inside a template up to the brace that closes the expression. */
  function code(start: number, inTemplate: boolean): number {
    let depth = 0;
    let index = start;
    while (index < source.length) {
      const char = source[index];
      if (char === '`') index = template(index);
      else if (inTemplate && char === '}' && depth === 0) return index;
      else {
        if (char === '{') depth += 1;
        if (char === '}') depth -= 1;
        index = token(index);
      }
    }
    return index;
  }

  function token(index: number): number {
    const comment = at(COMMENT, index);
    if (comment !== undefined) return note('comment', index, comment, comment.replace(/^\/\*+|\*\/$|^\/\/|^\s*\*(?!\/)/gm, ' '));
    const quoted = at(QUOTED, index);
    if (quoted !== undefined) return note('string', index, quoted, unescaped(quoted.slice(1, -1)));
    if (source[index] === '/' && REGEX_BEFORE.test(source.slice(Math.max(0, index - 40), index))) {
      const regex = at(REGEX, index);
      if (regex !== undefined) return index + regex.length;
    }
    return index + 1;
  }

  function template(start: number): number {
    let text = '';
    let index = start + 1;
    while (index < source.length && source[index] !== '`') {
      if (source.startsWith('${', index)) {
        const end = code(index + 2, true);
        text += `\${${source.slice(index + 2, end).replaceAll(/\s+/g, ' ')}}`;
        index = end + 1;
      } else {
        const length = source[index] === '\\' ? 2 : 1;
        text += source.slice(index, index + length);
        index += length;
      }
    }
    note('string', start, source.slice(start, index + 1), unescaped(text));
    return index + 1;
  }

  function note(kind: SourceText['kind'], start: number, written: string, text: string): number {
    found.push({ kind, start, end: start + written.length, text });
    return start + written.length;
  }

  function joined(texts: typeof found): readonly SourceText[] {
    const all: typeof found = [];
    for (const one of texts) {
      const last = all.at(-1);
      const between = last === undefined ? undefined : source.slice(last.end, one.start);
      const continues = one.kind === 'comment' ? /^\n[ \t]*$/ : /^\s*\+\s*$/;
      if (last?.kind === one.kind && between !== undefined && continues.test(between)) {
        all[all.length - 1] = { ...last, end: one.end, text: `${last.text}${one.kind === 'comment' ? ' ' : ''}${one.text}` };
      } else all.push(one);
    }
    return all.map(({ kind, start, text }) => ({
      kind,
      isDocstring: source.startsWith('/**', start),
      line: source.slice(0, start).split('\n').length,
      text: text.replaceAll(/[ \t]*\n[ \t]*/g, '\n').trim(),
    }));
  }
}

function unescaped(text: string): string {
  return text.replaceAll('\\n', '\n').replaceAll(/\\(.)/g, '$1');
}
