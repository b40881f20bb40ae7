import { type Interruption, interrupted } from '../../kernel/interruption.ts';

/** When a request ends before its answer: its caller's own reason, or Ctrl-C. */
export interface RequestEnd {
  readonly signal: AbortSignal;
  /** Throws what the caller's signal was aborted with, or Fault('interrupted'). */
  throwIfEnded(): void;
  /** The work's value. What it waits for is not waited for once the request has ended; its own failure then says nothing. */
  whileOpen<T>(work: Promise<T>): Promise<T>;
  /** Ends it with this reason after so long, unless what is returned is called before. */
  endAfter(ms: number, reason: () => Error): () => void;
  close(): void;
}

/**
 * Ends the requests of one connection at Ctrl-C: what is under way at once, what is begun after that (the run record, the lock) once its
 * time is over. One listener for all of them: a run sends tens of thousands.
 */
export class RequestCut {
  readonly #interruption: Pick<Interruption, 'hard' | 'late'> | undefined;
  readonly #open = new Set<AbortController>();

  constructor(interruption: Pick<Interruption, 'hard' | 'late'> | undefined) {
    this.#interruption = interruption;
    const cut = () => {
      for (const one of this.#open) one.abort(interrupted());
    };
    interruption?.hard.addEventListener('abort', cut, { once: true });
    interruption?.late.addEventListener('abort', cut, { once: true });
  }

  open(own: AbortSignal | undefined): RequestEnd {
    const cut = new AbortController();
    if (this.#interruption?.late.aborted) cut.abort(interrupted());
    this.#open.add(cut);
    const signal = own ? AbortSignal.any([own, cut.signal]) : cut.signal;
    const throwIfEnded = () => {
      own?.throwIfAborted();
      cut.signal.throwIfAborted();
    };
    return {
      signal,
      throwIfEnded,
      async whileOpen(work) {
        const ended = Promise.withResolvers<never>();
        const end = () => ended.reject(signal.reason);
        signal.addEventListener('abort', end, { once: true });
        try {
          return await Promise.race([work, ended.promise]);
        } catch (thrown) {
          throwIfEnded();
          throw thrown;
        } finally {
          signal.removeEventListener('abort', end);
        }
      },
      endAfter(ms, reason) {
        const timer = setTimeout(() => cut.abort(reason()), ms);
        return () => clearTimeout(timer);
      },
      close: () => this.#open.delete(cut),
    };
  }
}
