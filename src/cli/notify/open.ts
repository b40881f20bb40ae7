import type { Context } from '../../kernel/context.ts';
import type { Observer } from '../../kernel/event.ts';
import { continues, runIdOf } from '../../kernel/run-record.ts';
import { inWordsOf } from '../name.ts';
import type { CommonFlags, Composition, Seams } from '../seams.ts';
import { Notices, type NoticesDeps } from './notices.ts';

type OpenNotices = (deps: Omit<NoticesDeps, 'inWords'>) => Notices;

/** What `--notify` names, before the cluster is asked anything. Undefined for a dry run: it is nobody's news. */
export async function openNotices(seams: Seams, flags: CommonFlags): Promise<OpenNotices | undefined> {
  if (flags.notify === undefined || (flags['dry-run'] ?? 'none') !== 'none') return undefined;
  const notifier = await seams.openNotifier(flags.notify);
  return (deps) => new Notices(notifier, { ...deps, inWords: (text) => inWordsOf(seams.name, text) });
}

interface Starting {
  readonly composition: Pick<Composition, 'records'>;
  readonly context: Context;
  readonly notices: Notices | undefined;
}

/** While the run continues: what is not delivered is a note in it. */
export async function notifyStart(
  { composition, context, notices }: Starting,
  source: string | undefined,
  observe: Observer,
): Promise<void> {
  const record = await composition.records.load().catch(() => undefined);
  const resumed = continues(record, context) ? record : undefined;
  const from = resumed?.source ?? source;
  const runId = resumed?.runId ?? runIdOf(context.startedAt, context.clusterUid);
  const problem = await notices?.started({ runId, ...(from === undefined ? {} : { from }) });
  if (problem !== undefined) observe({ type: 'note', stage: '', level: 'warning', text: problem });
}
