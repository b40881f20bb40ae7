import { EXIT, type ExitName, type Fault } from '../kernel/fault.ts';
import { indented, oneLine } from '../kernel/visible.ts';

type Told = Pick<Fault, 'message' | 'suggestions' | 'end'>;

/**
 * Which cluster, `error: fact`, each hint on a line of its own, `more`, and the next command last: it is not said by its hint as well. Further
 * lines of one stand further right.
 */
export function errorLines({ message, suggestions, end }: Told, more: readonly string[] = []): readonly string[] {
  const { header = '', closing = '', next } = end ?? {};
  const hints = next === undefined ? suggestions : suggestions.filter((one) => one !== next && !one.endsWith(`: ${next}`));
  return [
    ...[header, `error: ${message}`, ...hints, closing].filter((line) => line !== '').map(indented),
    ...more,
    ...(next === undefined ? [] : [`Next: ${oneLine(next)}`]),
  ];
}

interface ErrorDocument {
  readonly apiVersion: string;
  readonly kind: 'Error';
  readonly error: { readonly code: ExitName; readonly exit: number; readonly message: string; readonly next: readonly string[] };
}

export function errorDocument(fault: Fault): ErrorDocument {
  const { code, message, suggestions, end } = fault;
  const next = end === undefined || suggestions.some((one) => one.includes(end.next)) ? suggestions : [...suggestions, end.next];
  return { apiVersion: 'output.netsvc-upgrade/v1', kind: 'Error', error: { code, exit: EXIT[code], message, next } };
}

/** True if argv asks for JSON; read without a parser, because the parser may be what failed. */
export function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const written = words.flatMap((word, index) => {
    if (word === '-o' || word === '--output') return [words[index + 1] ?? ''];
    const match = /^(?:--output=|-o=?)(.+)$/.exec(word);
    return match?.[1] && !word.startsWith('--o') ? [match[1]] : word.startsWith('--output=') ? [word.slice('--output='.length)] : [];
  });
  return written.at(-1) === 'json';
}

/** An error as it goes to stderr: with -o json one small document, for stdout carries a whole document or nothing; else lines. */
export function errorText(fault: Fault, argv: readonly string[], more: readonly string[] = []): string {
  if (asksForJson(argv)) return `${JSON.stringify(errorDocument(fault))}\n`;
  return [...errorLines(fault, more), ''].join('\n');
}
