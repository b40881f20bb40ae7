import { command } from '../../kernel/argv.ts';
import { agoText } from '../../kernel/counted.ts';
import { type ExitName, Fault } from '../../kernel/fault.ts';
import { type RunRecord, STATE_NAMESPACE, waitsForUser } from '../../kernel/run-record.ts';
import { look, text } from '../../kernel/step.ts';
import { headLine, recordHead } from '../../report/head-line.ts';
import { oursWith } from '../carried.ts';
import { present } from '../output.ts';
import { afterLook, isAtEnd, nextByRecord, suggestedBy } from '../record-next.ts';
import { recordedLines, withRecorded } from '../recorded-flags.ts';
import type { Seams } from '../seams.ts';
import { type Asked, inSession, type Session } from '../session.ts';
import { lackedBy } from '../user-commands.ts';
import { leftLines } from './closing.ts';
import { endViewOf, untilLast } from './end.ts';
import { recordedReport, recordOf } from './recorded.ts';
import { runLines } from './run-lines.ts';

/** `report [RUN-ID]`: the report of a run, from what it left in the cluster. Without an id that of the last run. */
export async function runReportCommand(asked: Asked, runId: string | undefined, seams: Seams): Promise<ExitName> {
  return inSession(seams, { ...asked, anyProfile: true, looksOnly: true }, async (session) => {
    const { records } = session.composition;
    const record = await recordOf(records, runId, session.context);
    await shown(session, record).catch((thrown: unknown) => {
      throw notOurs(thrown, record.runId);
    });
    return 'done';
  });
}

async function shown(session: Session, record: RunRecord): Promise<void> {
  const { asked, composition, context, outPalette } = session;
  const { clusterUid } = context;
  const flags = withRecorded(asked.carried, record, clusterUid);
  // Only the cluster shows whether what waits for the user may continue, and whether agents are still held.
  const asks = { of: 'status', command: oursWith('status', flags) };
  const holder = await composition.lock.holder().catch(() => undefined);
  const found = nextByRecord(record, holder, flags);
  const mayHold = found.isLook && found.command.own !== undefined && (record.canary || lackedBy(() => false, record).length > 0);
  const next = waitsForUser(record) && !holder ? asks : mayHold ? { ...asks, isLook: true } : found;
  if (!isAtEnd(record)) for (const line of recordedLines(suggestedBy(next, record), flags, record, clusterUid)) session.say(line);
  // What came to its end leads nowhere else, for in a circle nobody learns anything; but for what shows whether manual steps are done.
  const leads = next.of === 'report' ? 'nothing is left for this program to do' : next.command;
  const document = await recordedReport(session, record, leads);
  const now = composition.clock.now();
  const lines = (wide: boolean) => [
    headLine(recordHead(record), outPalette),
    `run ${record.runId}, begun ${agoText(record.startedAt, now)} by ${record.startedBy}`,
    ...(document.parts ?? []).map(
      ({ commandLine, startedAt, exit }) => `${agoText(startedAt, now)}: ${exit.code} (exit ${exit.number}): ${commandLine}`,
    ),
    ...runLines({ ...document, exit: document.exit.code }, { ...endViewOf(session), release: record.intent.to, wide, full: false }),
  ];
  const closing = async () => [
    ...(await untilLast(session, record)),
    'Nothing was changed by this command.',
    ...leftLines(record),
    ...afterLook(next, record, flags).map(outPalette.said),
  ];
  await present(session, document, lines, { closing });
}

/** A kept report with content that this program never writes is refused with that reason, not with the resulting error. */
function notOurs(thrown: unknown, runId: string): unknown {
  if (!(thrown instanceof TypeError || thrown instanceof RangeError)) return thrown;
  return new Fault('failed', `the report of run ${runId} cannot be shown: something else wrote into what was kept of it`, [
    look(
      text`find out what did: ${command`kubectl -n ${STATE_NAMESPACE} get secrets --field-selector type=netsvc-upgrade/state --show-managed-fields -o yaml`}`,
    ),
    text`the record of the run alone: ${command`kubectl netsvc-upgrade status`}`,
  ]);
}
