import { actionTexts } from '../kernel/effect-type.ts';
import type { Fault } from '../kernel/fault.ts';
import { oneLine, unpainted, visible } from '../kernel/visible.ts';
import { type Palette, plain } from '../report/colour.ts';
import type { OutputDocument } from './documents.ts';
import type { LoadText } from './ending/facts.ts';
import type { OutputFormat } from './flags.ts';
import type { Session } from './session.ts';
import { tellOut } from './terminal.ts';
import { withoutUserCommands } from './user-commands.ts';

/** The human form of a document, which only its command knows. */
export type HumanLines = (wide: boolean) => readonly string[] | Promise<readonly string[]>;

/** How a command ended, beside its document. */
interface Ended {
  /** Why it ended early. */
  readonly fault?: Fault;
  /** What it came to, and what it changed. */
  readonly closing?: () => Promise<readonly string[]>;
  /** Its lines are a diff: one that is wider than the terminal is not parted. */
  readonly isDiff?: boolean;
  /** The command is done, and the run that it is a part of is not. */
  readonly isPart?: boolean;
}

/** The command's one document, on stdout and in the report file. Why it ended early comes last, above the next command. */
export async function present(
  session: Session,
  document: OutputDocument,
  human: HumanLines,
  { fault, closing = async () => [], isDiff = false, isPart = false }: Ended = {},
): Promise<void> {
  const { seams, composition, outlets } = session;
  const { output } = session.asked.flags;
  const textOf = async () => actionTexts(await seams.loadEffects(), composition.tools.programOf);
  const whole: HumanLines = async (wide) => [session.header(), ...(await human(wide)), ...(await closing())];
  const text = (shown: OutputDocument, format: OutputFormat) => outputText(shown, format, whole, textOf, session.outPalette);
  if (fault && isForPerson(output)) {
    const parted = (lines: readonly string[]) => tellOut(seams.terminal, linesText(lines));
    parted([session.header(), ...(await human(output === 'wide'))]);
    session.fail(fault);
    parted([...(await closing()), nextLine(document, session.outPalette)]);
  } else {
    if (fault) session.fail(fault);
    const told = await text(document, output);
    if (isForPerson(output) && !isDiff) tellOut(seams.terminal, told);
    else seams.terminal.out(told);
  }
  const kept = <T>(shown: T) => withoutUserCommands(shown, session.asked.carried);
  await outlets.report?.write(async (format) => unpainted(kept(await text(kept({ ...document, made: session.made() }), format))));
  await outlets.notices?.ended(document, isPart);
  await outlets.metrics?.ended(document, document.exit.code === 'done' && !isPart);
}

/** A document in the asked format; always ends with a newline unless it is empty. */
export async function outputText(
  document: OutputDocument,
  format: OutputFormat,
  human: HumanLines,
  textOf: LoadText,
  palette = plain,
): Promise<string> {
  switch (format) {
    case 'table':
    case 'wide':
      return linesText([...(await human(format === 'wide')), nextLine(document, palette)]);
    case 'json':
      return visible(`${JSON.stringify(document, undefined, 2)}\n`);
    case 'yaml':
      return (await import('./yaml-text.ts')).yamlText(document);
    case 'markdown':
    case 'html': {
      const { reportFacts, reportText } = await import('./ending/facts.ts');
      return reportText(format, reportFacts(document), textOf);
    }
  }
}

/** Formats that the user reads in a terminal. */
export const isForPerson = (format: OutputFormat): boolean => format === 'table' || format === 'wide';

const linesText = (all: readonly string[]): string => all.map((line) => `${oneLine(line)}\n`).join('');

const nextLine = ({ next }: OutputDocument, { whole }: Palette): string => `Next: ${whole(next)}`;
