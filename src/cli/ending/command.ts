import { command } from '../../kernel/argv.ts';
import { agoText } from '../../kernel/counted.ts';
import { type ExitName, Fault } from '../../kernel/fault.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { look, text } from '../../kernel/step.ts';
import { headLine, recordHead } from '../../report/head-line.ts';
import { present } from '../output.ts';
import { recordedLines, withRecorded } from '../recorded-flags.ts';
import type { Seams } from '../seams.ts';
import { type Asked, inSession } from '../session.ts';
import { endViewOf } from './end.ts';
import { isDone, recordedReport, recordOf } from './recorded.ts';
import { runLines } from './run-lines.ts';

/** `report [RUN-ID]`: the report of a run, from what it left in the cluster. Without an id that of the last run. */
export async function runReportCommand(asked: Asked, runId: string | undefined, seams: Seams): Promise<ExitName> {
  return inSession(seams, { ...asked, anyProfile: true, looksOnly: true }, async (session) => {
    const { records } = session.composition;
    const record = await recordOf(records, runId, session.context);
    const refuse = (thrown: unknown) => {
      throw notOurs(thrown, record.runId);
    };
    const { clusterUid } = session.context;
    const flags = withRecorded(asked.carried, record, clusterUid);
    if (!isDone(record)) for (const line of recordedLines('run', flags, record, clusterUid)) session.say(line);
    const document = await recordedReport(session, record).catch(refuse);
    const now = session.composition.clock.now();
    const lines = (wide: boolean) => [
      headLine(recordHead(record), session.outPalette),
      `run ${record.runId}, begun ${agoText(record.startedAt, now)} by ${record.startedBy}`,
      ...(document.parts ?? []).map(
        ({ commandLine, startedAt, exit }) => `${agoText(startedAt, now)}: ${exit.code} (exit ${exit.number}): ${commandLine}`,
      ),
      ...runLines({ ...document, exit: document.exit.code }, { ...endViewOf(session), release: record.intent.to, wide, full: false }),
    ];
    const closing = async () => ['Nothing was changed by this command.'];
    await present(session, document, lines, { closing }).catch(refuse);
    return 'done';
  });
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
