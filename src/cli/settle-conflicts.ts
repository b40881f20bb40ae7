import type { Evidence, Finding } from '../kernel/check.ts';
import type { Side } from '../kernel/edit.ts';
import { quoteArgument } from '../kernel/quoting.ts';
import type { Session } from './session.ts';

/** Answers that are none before the question is given up. */
const TRIES = 3;

type Decisions = Readonly<Record<string, Side>>;

/** The user's decisions about conflicts, as for `--resolve`; undefined if nobody can be asked, or nothing can be decided. */
export async function settledByPerson(session: Session, open: readonly Finding[]): Promise<Decisions | undefined> {
  const { seams, context } = session;
  const conflicts = open.flatMap(({ evidence }) => evidence);
  if (!seams.terminal.interactive || context.options.yes || conflicts.length === 0) return undefined;
  const decisions: Record<string, Side> = {};
  for (const [index, conflict] of conflicts.entries()) {
    for (const line of conflictLines(conflict, index + 1, conflicts.length)) session.say(line);
    const side = await asked(session);
    if (side === undefined) break;
    decisions[conflict.text] = side;
  }
  sayDecisions(session, decisions);
  return Object.keys(decisions).length === conflicts.length ? decisions : undefined;
}

/** The place, then what was, what is yours and what the target has, each on its line. */
function conflictLines({ text, detail = '', sides }: Evidence, number: number, of: number): readonly string[] {
  const head = `conflict ${number} of ${of}: ${text}`;
  if (sides === undefined) return [head, `  ${detail}`];
  return [head, `  was:     ${sides.base}`, `  mine:    ${sides.mine}`, `  theirs:  ${sides.theirs}`, `  ${sides.because}`];
}

/** Each may be typed by its first letter. */
const ANSWERS = ['mine', 'theirs', 'stop'] as const;

const HELP = [
  'mine: keep the value in your cluster',
  'theirs: take the value of the new release',
  'stop: decide later; nothing is changed',
];

async function asked(session: Session): Promise<Side | undefined> {
  const { seams, interrupts } = session;
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const line = (await seams.terminal.ask('Which value? [m]ine [t]heirs [s]top [?]', interrupts.soft))?.trim().toLowerCase();
    const answer = line === undefined ? 'stop' : ANSWERS.find((one) => line === one || line === one[0]);
    if (answer === 'stop') return undefined;
    if (answer !== undefined) return answer;
    for (const one of HELP) session.say(`  ${one}`);
  }
  return undefined;
}

/** For the next time, or for where no terminal is. */
function sayDecisions(session: Session, decisions: Decisions): void {
  const flags = Object.entries(decisions).map(([field, side]) => `--resolve ${quoteArgument(`${field}=${side}`)}`);
  if (flags.length > 0) session.say(`decided, as with: ${flags.join(' ')}`);
}
