import { isOfCanary } from '../../features/canary/index.ts';
import type { Context } from '../../kernel/context.ts';
import type { EngineEvent, Observer } from '../../kernel/event.ts';
import { EXIT, type ExitName, type Fault, messageOf } from '../../kernel/fault.ts';
import { mask } from '../../kernel/hidden.ts';
import { type IntentKind, intentWords } from '../../kernel/intent.ts';
import type { Notifier } from '../../kernel/ports.ts';
import { continues, type Records, runIdOf, type StageRecord, waitsForUser } from '../../kernel/run-record.ts';
import type { Step } from '../../kernel/step.ts';
import { visible } from '../../kernel/visible.ts';
import { type DocumentHead, nextOf, OUTPUT_VERSION, type OutputDocument } from '../documents.ts';
import { toldOf } from '../ending/kinds.ts';
import type { RunFlags } from '../flags.ts';
import type { Seams } from '../seams.ts';

export type NotifiedEvent =
  | 'started'
  | 'soak-over'
  | 'canary-held'
  | 'canary-failed'
  | 'stuck'
  | 'stopped'
  | 'failed'
  | 'part-done'
  | 'done'
  | 'interrupted';

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

/** What `--notify` sends: one document for the start of a run, one for its end, and one for each soak that is over. */
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
  /** The same as data. */
  readonly steps?: readonly Step[];
  /** The next command. */
  readonly next?: string;
  /** The same as data. */
  readonly nextStep?: Step;
  readonly at: string;
}

type End = Omit<Partial<Notification>, 'context' | 'clusterUid' | 'to'>;

/** Of the document that the command ends with. */
function endOf(document: OutputDocument, begun: Begun): End {
  const { exit, next, nextStep } = document;
  const { from = begun.from, runId = begun.runId, message, suggestions, steps, stages = [] } = toldOf(document);
  const stage = stages.findLast(({ state }) => ['failed', 'interrupted', 'held'].includes(state))?.id;
  const hints = suggestions?.length === 0 ? {} : { suggestions, steps };
  return { from, runId, stage, message, exit, ...hints, next, nextStep };
}

/** What tells one end of a command from another with the same exit code. */
interface EndedHow {
  /** The run that it is a part of is not finished. */
  readonly isPart: boolean;
  /** Pods that are not ready stopped it. */
  readonly isStuck: boolean;
}

/** True if pods that are not ready stopped one of the stages. */
const isStuckIn = (stages: readonly Pick<StageRecord, 'pod'>[]): boolean => stages.some(({ pod }) => pod !== undefined);

/** Everything that is neither done nor broken waits for the user. */
export function eventOf(exit: ExitName, { isPart, isStuck }: EndedHow): NotifiedEvent {
  if (exit === 'done') return isPart ? 'part-done' : exit;
  if (exit === 'interrupted') return exit;
  if (isStuck && (exit === 'stopped' || exit === 'timeout')) return 'stuck';
  return exit === 'failed' || exit === 'timeout' || exit === 'usage' ? 'failed' : 'stopped';
}

function notice(event: NotifiedEvent, kind: IntentKind, begun: Begun, end: End, at: Date): Notification {
  const known = { ...begun, ...end };
  return { apiVersion: OUTPUT_VERSION, kind: 'Notification', event, text: sentence(event, kind, known), ...known, at: at.toISOString() };
}

/** After `Upgrade v3.27.5 → v3.32.1`. */
export const SAID: Readonly<Record<NotifiedEvent, string>> = {
  started: 'started',
  'soak-over': 'has watched its new agents, and continues',
  'canary-held': 'holds its canary, and waits for you',
  'canary-failed': 'stopped, because its canary failed',
  stuck: 'is stuck: pods do not become ready',
  stopped: 'stopped and needs your decision',
  failed: 'failed',
  'part-done': 'is done as far as it was asked for',
  done: 'is done',
  interrupted: 'was interrupted',
};

/** `Upgrade v3.27.5 → v3.32.1 of context "prod" failed at stage wait: …`. */
function sentence(event: NotifiedEvent, kind: IntentKind, { context, from, to, stage, message }: Begun & End): string {
  const releases = to === undefined ? '' : ` ${from ?? '(unknown release)'} → ${to}`;
  const where = context === undefined || context === '' ? '' : ` of context "${context}"`;
  const at = stage === undefined ? '' : ` at stage ${stage}`;
  return `${intentWords({ kind }).title}${releases}${where} ${SAID[event]}${at}${message === undefined ? '' : `: ${message}`}`;
}

export interface NoticesDeps {
  /** What the command is for. */
  readonly intent: IntentKind;
  /** The command ends without what is not delivered by then. */
  readonly cut: AbortSignal;
  now(): Date;
  warn(text: string): void;
  /** Without commands of the user: they are nobody else's. */
  withoutCommands<T>(document: T): T;
}

/** What `--notify` is sent about one command. What is not delivered is a warning, and never changes how the command ends. */
export class Notices {
  readonly #notifier: Notifier;
  readonly #deps: NoticesDeps;
  /** What was done while agents were held has failed last. */
  #canaryFailed = false;
  /** The soak that is over, until the run continues. */
  #soaked: Pick<End, 'stage' | 'message'> | undefined;
  #sent: Promise<unknown> = Promise.resolve();
  #begun: Begun = {};
  #intent: IntentKind;
  #isEnded = false;

  constructor(notifier: Notifier, deps: NoticesDeps) {
    this.#notifier = notifier;
    this.#deps = deps;
    this.#intent = deps.intent;
  }

  /** What the end says besides. A command that continues a run learns only from its record what for. */
  know(more: Begun, intent?: IntentKind): void {
    this.#begun = { ...this.#begun, ...more };
    this.#intent = intent ?? this.#intent;
  }

  /** While the run continues: what is not delivered is a note in it. */
  async started(records: Pick<Records, 'load'>, context: Context, source: string | undefined, observe: Observer): Promise<void> {
    const record = await records.load().catch(() => undefined);
    const resumed = continues(record, context) ? record : undefined;
    this.know({ runId: resumed?.runId ?? runIdOf(context.startedAt, context.clusterUid), from: resumed?.intent.from ?? source });
    const problem = await this.#send(notice('started', this.#intent, this.#begun, {}, this.#deps.now()));
    if (problem !== undefined) observe({ type: 'note', stage: '', level: 'warning', text: problem });
  }

  /** What is news while the run continues. */
  observe(event: EngineEvent): void {
    if (event.type === 'action-failed') this.#canaryFailed = event.held !== true && isOfCanary(event.action);
    if (event.type === 'action-done' && event.action.watchMs !== undefined)
      this.#soaked = { stage: event.stage, message: event.action.title };
    // What is looked at after it may fail the canary yet.
    if (event.type !== 'action-started' || !this.#soaked || isOfCanary(event.action)) return;
    const news = notice('soak-over', this.#intent, this.#begun, this.#soaked, this.#deps.now());
    this.#soaked = undefined;
    this.#sent = this.#send(news).then((problem) => problem !== undefined && this.#deps.warn(problem));
  }

  /** `isPart`: it is done, and the run that it is a part of is not. */
  ended(document: OutputDocument, isPart: boolean): Promise<void> {
    const { stages = [] } = toldOf(document);
    const { code } = document.exit;
    const isStop = code === 'stopped' || code === 'timeout';
    const ofCanary = waitsForUser({ stages }) ? 'canary-held' : this.#canaryFailed ? 'canary-failed' : undefined;
    const event = (isStop ? ofCanary : undefined) ?? eventOf(code, { isPart, isStuck: isStuckIn(stages) });
    return this.#end(event, endOf(document, this.#begun));
  }

  /** The command ends without a document. */
  failed({ code, message, suggestions, steps, end }: Pick<Fault, 'code' | 'message' | 'suggestions' | 'steps' | 'end'>): Promise<void> {
    const next = end && nextOf(end.next);
    return this.#end(eventOf(code, { isPart: false, isStuck: false }), {
      message,
      exit: { code, number: EXIT[code] },
      suggestions,
      steps,
      ...next,
    });
  }

  async #end(event: NotifiedEvent, end: End): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    await this.#sent;
    const problem = await this.#send(notice(event, this.#intent, this.#begun, end, this.#deps.now()));
    if (problem !== undefined) this.#deps.warn(problem);
  }

  /** Resolves to why it was not delivered; undefined if it was. */
  async #send(notice: Notification): Promise<string | undefined> {
    const text = mask(visible(JSON.stringify(this.#deps.withoutCommands(notice))));
    try {
      this.#deps.cut.throwIfAborted();
      await this.#notifier.send(text, this.#deps.cut);
      return undefined;
    } catch (thrown) {
      const because = this.#deps.cut.aborted ? 'the command was ended' : mask(messageOf(thrown));
      return `the notification "${notice.event}" was not delivered to ${this.#notifier.to}: ${because}`;
    }
  }
}

/** What `--notify` names, before the cluster is asked anything. Undefined for a dry run: it is nobody's news. */
export async function openNotices(seams: Seams, flags: RunFlags) {
  if (flags.notify === undefined || (flags['dry-run'] ?? 'none') !== 'none') return undefined;
  const notifier = await seams.openNotifier(flags.notify);
  return (deps: NoticesDeps) => new Notices(notifier, deps);
}
