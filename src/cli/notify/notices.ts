import { messageOf } from '../../kernel/fault.ts';
import { withoutAddressCredentials, withoutCredentials } from '../../kernel/hidden.ts';
import type { Notifier } from '../../kernel/ports.ts';
import { visible } from '../../kernel/visible.ts';
import type { OutputDocument } from '../documents.ts';
import { type Begun, endNotice, type Failure, failureNotice, type Notification, startNotice } from './document.ts';

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
