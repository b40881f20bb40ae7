import type { Finding } from '../kernel/check.ts';
import type { Acceptance } from '../kernel/context.ts';
import { oneLine } from '../kernel/visible.ts';
import type { Session } from './session.ts';

/**
 * What the user accepts by typing each subject, on a terminal and without `--yes`; undefined where any open error is of another
 * kind, or a name is not typed as it is shown.
 */
export async function takenOnByName(session: Session, findings: readonly Finding[]): Promise<readonly Acceptance[] | undefined> {
  const { seams, context, interrupts } = session;
  const open = findings.filter(({ outcome }) => outcome === 'error');
  const mayAsk = seams.terminal.interactive && !context.options.yes && context.options.failOn === 'error';
  if (!mayAsk || open.length === 0 || !open.every(({ byName, evidence }) => byName === true && evidence.length > 0)) return undefined;
  const taken: Acceptance[] = [];
  for (const { id: check, message, hint, evidence } of open) {
    session.say(`${check}: ${message}\n${hint ?? ''}`.trim());
    for (const { text: subject } of evidence) {
      const typed = await seams.terminal.ask(`To accept it, type ${oneLine(subject)}:`, interrupts.soft);
      if (typed !== oneLine(subject)) return undefined;
      taken.push({ check, subject });
    }
  }
  return taken;
}
