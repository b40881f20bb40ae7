import { EXIT, type ExitName, type Fault } from '../kernel/fault.ts';
import { indented } from '../kernel/visible.ts';

/** `error: fact`, then each next step on a line of its own. Further lines of one stand further right. */
export function errorLines(fault: Pick<Fault, 'message' | 'suggestions'>): readonly string[] {
  return [`error: ${fault.message}`, ...fault.suggestions].map(indented);
}

type Environment = Readonly<Record<string, string | undefined>>;

interface ErrorDocument {
  readonly apiVersion: string;
  readonly kind: 'Error';
  readonly error: { readonly code: ExitName; readonly exit: number; readonly message: string; readonly next: readonly string[] };
}

export function errorDocument(fault: Fault): ErrorDocument {
  const { code, message, suggestions } = fault;
  return { apiVersion: 'output.netsvc-upgrade/v1', kind: 'Error', error: { code, exit: EXIT[code], message, next: suggestions } };
}

/** True if argv asks for JSON; read without a parser, because the parser may be what failed. */
export function asksForJson(argv: readonly string[], env: Environment): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const written = words.flatMap((word, index) => {
    if (word === '-o' || word === '--output') return [words[index + 1] ?? ''];
    const match = /^(?:--output=|-o=?)(.+)$/.exec(word);
    return match?.[1] && !word.startsWith('--o') ? [match[1]] : word.startsWith('--output=') ? [word.slice('--output='.length)] : [];
  });
  return (written.at(-1) ?? env.NETSVC_UPGRADE_OUTPUT) === 'json';
}

/** An error as it goes to stderr: with -o json one small document, for stdout carries a whole document or nothing; else lines, `more` last. */
export function errorText(fault: Fault, argv: readonly string[], env: Environment, more: readonly string[] = []): string {
  if (asksForJson(argv, env)) return `${JSON.stringify(errorDocument(fault))}\n`;
  return [...errorLines(fault), ...more, ''].join('\n');
}
