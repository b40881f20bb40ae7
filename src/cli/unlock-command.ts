import { type Command, ownCommand } from '../kernel/command.ts';
import { type ExitName, Fault, unlockOnce } from '../kernel/fault.ts';
import type { LockHolder } from '../kernel/ports.ts';
import { recordHere } from '../kernel/run-record.ts';
import { look, text } from '../kernel/step.ts';
import { oursWith } from './carried.ts';
import { present } from './output.ts';
import type { Seams } from './seams.ts';
import { type Asked, inSession, type Session } from './session.ts';
import { lockLines, recordedHead, statusDocument } from './status-command.ts';

/** `unlock`: shows the holder; releases on --yes or on a yes at the terminal. */
export async function runUnlockCommand(asked: Asked, seams: Seams): Promise<ExitName> {
  return inSession(seams, { ...asked, anyProfile: true }, async (session) => {
    const { lock } = session.composition;
    const current = await lock.holder();
    const left = current ? undefined : await lock.left();
    const holder = current ?? left;
    if (!holder) return show(session, holder, ['lock: free; nothing to release', 'Nothing was changed by this command.']);
    for (const line of lockLines({ holder: current, left }, session.composition.clock.now())) session.say(line);
    await agree(session, holder.identity);
    const released = await session.interrupts.finish(() => lock.breakLock(holder.identity, holder.renewedAt));
    return show(session, await lock.holder(), [
      released ? `lock of ${released.identity} released` : 'lock: free; its holder released it meanwhile',
    ]);
  });
}

async function agree(session: Session, holder: string): Promise<void> {
  const { terminal } = session.seams;
  if (session.context.options.yes) return;
  const { typed } = session.asked;
  if (!terminal.interactive) {
    throw new Fault('usage', 'the lock was not released: there is no terminal to ask on and --yes is not given', [
      unlockOnce(ownCommand(typed).with('--yes').repairing()),
      look(text`see whether it is at work: ${statusHere(session)}`),
    ]);
  }
  const agreed = await terminal.confirm(`Is the run of ${holder} dead, and should its lock be released?`, session.interrupts.soft);
  if (!agreed) throw new Fault('stopped', 'declined: the lock was not released', [look(text`${statusHere(session)}`)]);
}

/** One request after another, on the connection that is open: a second would cost a handshake. */
async function show(session: Session, holder: LockHolder | undefined, lines: readonly string[]): Promise<ExitName> {
  const record = recordHere(await session.composition.records.load(), session.context);
  const shown = async () => [...(await recordedHead(session, record)), ...lines];
  await present(session, statusDocument(session.context, { lock: holder, record }, statusHere(session)), shown);
  return 'done';
}

function statusHere(session: Session): Command {
  return oursWith('status', session.asked.carried);
}
