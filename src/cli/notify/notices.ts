import type { Context } from '../../kernel/context.ts';
import type { Observer } from '../../kernel/event.ts';
import { EXIT, type ExitName, messageOf } from '../../kernel/fault.ts';
import { withoutAddressCredentials, withoutCredentials } from '../../kernel/hidden.ts';
import type { Notifier } from '../../kernel/ports.ts';
import { continues, runIdOf } from '../../kernel/run-record.ts';
import { visible } from '../../kernel/visible.ts';
import { type DocumentHead, OUTPUT_VERSION, type OutputDocument } from '../documents.ts';
import type { RunFlags } from '../flags.ts';
import { inWordsOf } from '../name.ts';
import type { Composition, Seams } from '../seams.ts';

export type NotifiedEvent = 'started' | 'stopped' | 'failed' | 'done' | 'interrupted';

/** What is known of a run when it begins; nothing where it failed before the cluster was asked. */
interface Begun {
  readonly runId?: string;
  /** Name of the context in the kubeconfig. */
  readonly context?: string;
  readonly clusterUid?: string;
  /** Release before the run. */
  readonly from?: string;
  readonly to?: string;
}

/** What `--notify` sends: one document for the start of a run, one for its end. */
export interface Notification extends Begun {
  readonly apiVersion: typeof OUTPUT_VERSION;
  readonly kind: 'Notification';
  readonly event: NotifiedEvent;
  /** The same in one sentence. */
  readonly text: string;
  /** The stage that did not end. */
  readonly stage?: string;
  readonly message?: string;
  readonly exit?: DocumentHead['exit'];
  readonly suggestions?: readonly string[];
  /** The next command. */
  readonly next?: string;
  readonly at: string;
}

/** Why a command ended, where it has no document. */
interface Failure {
  readonly code: ExitName;
  readonly message: string;
  readonly suggestions: readonly string[];
}

function startNotice(begun: Begun, at: Date): Notification {
  return notice('started', begun, {}, at);
}

/** Of the document that the command ends with. */
function endNotice(document: OutputDocument, begun: Begun, at: Date): Notification {
  const { exit, next } = document;
  const { from = begun.from, runId = begun.runId, stage, message, suggestions } = endOf(document);
  const known = { ...begun, ...(from === undefined ? {} : { from }), ...(runId === undefined ? {} : { runId }) };
  const end = { ...(stage === undefined ? {} : { stage }), ...(message === undefined ? {} : { message }) };
  return notice(eventOf(exit.code), known, { ...end, exit, ...(suggestions?.length ? { suggestions } : {}), next }, at);
}

function failureNotice({ code, message, suggestions }: Failure, begun: Begun, at: Date): Notification {
  return notice(eventOf(code), begun, { message, exit: { code, number: EXIT[code] }, suggestions }, at);
}

interface End {
  readonly from?: string | undefined;
  readonly runId?: string | undefined;
  readonly stage?: string | undefined;
  readonly message?: string | undefined;
  readonly suggestions?: readonly string[] | undefined;
}

function endOf(document: OutputDocument): End {
  if (document.kind === 'Plan') return { from: document.installed.release, message: document.message, suggestions: document.suggestions };
  if (document.kind !== 'RunReport') return {};
  const { runId, versions, message, suggestions, stages } = document;
  const stage = stages.findLast(({ state }) => state === 'failed' || state === 'interrupted')?.id;
  return { from: versions?.before, runId, stage, message, suggestions };
}

/** Everything that is neither done nor broken waits for the user. */
export function eventOf(exit: ExitName): NotifiedEvent {
  if (exit === 'done' || exit === 'interrupted') return exit;
  return exit === 'failed' || exit === 'timeout' || exit === 'usage' ? 'failed' : 'stopped';
}

function notice(event: NotifiedEvent, begun: Begun, end: Omit<Partial<Notification>, keyof Begun>, at: Date): Notification {
  const text = sentence(event, begun, end);
  return { apiVersion: OUTPUT_VERSION, kind: 'Notification', event, text, ...begun, ...end, at: at.toISOString() };
}

/** After `Upgrade v3.27.5 → v3.32.1`. */
export const SAID: Readonly<Record<NotifiedEvent, string>> = {
  started: 'started',
  stopped: 'stopped and needs your decision',
  failed: 'failed',
  done: 'is done',
  interrupted: 'was interrupted',
};

/** `Upgrade v3.27.5 → v3.32.1 of context "prod" failed at stage wait: …`. */
function sentence(event: NotifiedEvent, { context, from, to }: Begun, { stage, message }: Pick<Notification, 'stage' | 'message'>): string {
  const releases = to === undefined ? '' : ` ${from ?? '(unknown release)'} → ${to}`;
  const where = context === undefined || context === '' ? '' : ` of context "${context}"`;
  const at = stage === undefined ? '' : ` at stage ${stage}`;
  return `Upgrade${releases}${where} ${SAID[event]}${at}${message === undefined ? '' : `: ${message}`}`;
}

export interface NoticesDeps {
  /** The command ends without what is not delivered by then. */
  readonly cut: AbortSignal;
  now(): Date;
  warn(text: string): void;
  /** Commands in the words of whoever typed them. */
  inWords(text: string): string;
}

/** What `--notify` is sent about one command. What is not delivered is a warning, and never changes how the command ends. */
export class Notices {
  readonly #notifier: Notifier;
  readonly #deps: NoticesDeps;
  #begun: Begun = {};
  #isEnded = false;

  constructor(notifier: Notifier, deps: NoticesDeps) {
    this.#notifier = notifier;
    this.#deps = deps;
  }

  /** What the end says besides. */
  know(more: Begun): void {
    this.#begun = { ...this.#begun, ...more };
  }

  /** Resolves to why it was not delivered; undefined if it was. */
  started(more: Begun): Promise<string | undefined> {
    this.know(more);
    return this.#send(startNotice(this.#begun, this.#deps.now()));
  }

  ended(document: OutputDocument): Promise<void> {
    return this.#end((at) => endNotice(document, this.#begun, at));
  }

  /** The command ends without a document. */
  failed(failure: Failure): Promise<void> {
    return this.#end((at) => failureNotice(failure, this.#begun, at));
  }

  async #end(notice: (at: Date) => Notification): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const problem = await this.#send(notice(this.#deps.now()));
    if (problem !== undefined) this.#deps.warn(problem);
  }

  async #send(notice: Notification): Promise<string | undefined> {
    const text = this.#deps.inWords(withoutCredentials(visible(JSON.stringify(notice))));
    try {
      this.#deps.cut.throwIfAborted();
      await this.#notifier.send(text, this.#deps.cut);
      return undefined;
    } catch (thrown) {
      const because = this.#deps.cut.aborted ? 'the command was ended' : withoutAddressCredentials(messageOf(thrown));
      return `the notification "${notice.event}" was not delivered to ${this.#notifier.to}: ${because}`;
    }
  }
}

type OpenNotices = (deps: Omit<NoticesDeps, 'inWords'>) => Notices;

/** What `--notify` names, before the cluster is asked anything. Undefined for a dry run: it is nobody's news. */
export async function openNotices(seams: Seams, flags: RunFlags): Promise<OpenNotices | undefined> {
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
