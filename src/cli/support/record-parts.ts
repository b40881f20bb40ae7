import { reasonOf, type SupportPart } from '../../features/support/index.ts';
import { actionTexts } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import { withoutHiddenValues } from '../../kernel/hidden-values.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { outputText } from '../output.ts';
import { recordedReport, recordOf } from '../report/recorded.ts';
import type { Session } from '../session.ts';

export interface RecordParts {
  readonly record?: RunRecord;
  readonly parts: readonly SupportPart[];
}

/** What the run left in the cluster: its record, its report and the lock. Without a run that is said. Throws Fault('usage') for an id of no run. */
export async function recordParts(session: Session, runId: string | undefined): Promise<RecordParts> {
  const lock = await lockPart(session);
  try {
    const record = await recordOf(session.composition.records, runId);
    const kept: SupportPart = { path: 'record.json', what: `the record of run ${record.runId}`, content: record };
    return { record, parts: [...(await reportParts(session, record)), kept, lock] };
  } catch (thrown) {
    if (runId !== undefined && thrown instanceof Fault && thrown.code === 'usage') throw thrown;
    return { parts: [{ path: 'record.json', what: 'the record and the report of a run', unread: reasonOf(thrown) }, lock] };
  }
}

async function lockPart({ composition }: Session): Promise<SupportPart> {
  const named = { path: 'lock.yaml', what: 'who holds the lock' };
  try {
    const holder = await composition.lock.holder();
    return { ...named, content: holder ?? { lock: 'free' } };
  } catch (thrown) {
    return { ...named, unread: reasonOf(thrown) };
  }
}

async function reportParts(session: Session, record: RunRecord): Promise<readonly SupportPart[]> {
  const what = `the report of run ${record.runId}`;
  const named = (['json', 'md', 'html'] as const).map((suffix) => ({ path: `report.${suffix}`, what }));
  try {
    const document = withoutHiddenValues({ ...(await recordedReport(session, record)), made: session.made() });
    const textOf = async () => actionTexts(await session.seams.loadEffects(), session.composition.tools.programOf);
    const texts = await Promise.all((['markdown', 'html'] as const).map((format) => outputText(document, format, () => [], textOf)));
    const contents = [document, ...texts];
    return named.map((part, index) => ({ ...part, content: contents[index] ?? '' }));
  } catch (thrown) {
    // What is kept of a report may hold what this program never writes.
    const isForeign = thrown instanceof TypeError || thrown instanceof RangeError;
    const unread = isForeign ? 'it cannot be shown: something else wrote into what was kept of it' : reasonOf(thrown);
    return named.map((part) => ({ ...part, unread }));
  }
}
