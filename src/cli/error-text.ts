import { type AnyCommand, Command } from '../kernel/command.ts';
import { EXIT, type ExitName, type Fault, HeldFault } from '../kernel/fault.ts';
import { nextStepOf, type Step } from '../kernel/step.ts';
import { indented, oneLine } from '../kernel/visible.ts';
import { type Palette, plain } from '../report/colour.ts';

type Told = Pick<Fault, 'message' | 'steps' | 'end'>;

/**
 * Which cluster, `error: fact`, each hint on a line of its own, `more`, and the next command last: it is not said by its hint as well. Further
 * lines of one stand further right. A planned stop is no error.
 */
export function errorLines(told: Told, more: readonly string[] = [], { said, piece }: Palette = plain): readonly string[] {
  const { message, steps, end } = told;
  const { header = [], closing = '', next } = end ?? {};
  const fact = told instanceof HeldFault ? message : `error: ${message}`;
  const hints = steps.filter((one) => next === undefined || !endsWith(one, next)).map(({ whole }) => said(whole));
  return [
    ...[header.map(piece).join('   '), fact, ...hints, closing].filter((line) => line !== '').map(indented),
    ...more,
    ...(next === undefined ? [] : [`Next: ${oneLine(said(next))}`]),
  ];
}

const isEqual = (one: AnyCommand, other: Command): boolean => one.plain === other.plain;

/** The next command says it. */
function endsWith({ text: { parts } }: Step, next: Command): boolean {
  const last = parts.at(-1);
  return last instanceof Command && isEqual(last, next);
}

interface ErrorDocument {
  readonly apiVersion: string;
  readonly kind: 'Error';
  readonly error: {
    readonly code: ExitName;
    readonly exit: number;
    readonly message: string;
    readonly next: readonly string[];
    readonly steps: readonly Step[];
    /** What `Next:` says, as data; absent where nothing does. */
    readonly nextStep?: Step;
  };
}

export function errorDocument(fault: Fault): ErrorDocument {
  const { code, message, end } = fault;
  const isTold = end === undefined || fault.steps.some(({ text }) => text.commands.some((one) => isEqual(one, end.next)));
  const nextStep = end && nextStepOf(end.next);
  const steps = isTold || nextStep === undefined ? fault.steps : [...fault.steps, nextStep];
  return {
    apiVersion: 'output.netsvc-upgrade/v1',
    kind: 'Error',
    error: { code, exit: EXIT[code], message, next: steps.map(({ plain }) => plain), steps, ...(nextStep && { nextStep }) },
  };
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
export function errorText(fault: Fault, argv: readonly string[], more: readonly string[] = [], palette: Palette = plain): string {
  if (asksForJson(argv)) return `${JSON.stringify(errorDocument(fault))}\n`;
  return [...errorLines(fault, more, palette), ''].join('\n');
}
