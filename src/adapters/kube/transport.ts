import type { IncomingMessage } from 'node:http';
import type { Interruption } from '../../kernel/interruption.ts';
import { ApiFailure, TOO_MUCH } from '../../kernel/ports.ts';
import { readText } from '../bounded-body.ts';
import { uptimeMs } from '../clock.ts';
import type { Connection } from '../kubeconfig/connection.ts';
import { giveMemoryBack } from '../memory.ts';
import { type Call, LEVEL, type Trace, traceExchange, traceSilence } from '../trace.ts';
import { type Authorizer, authorizerOf, type Credential, impersonationHeaders, warningTexts } from './auth.ts';
import { changes, exchange, isResettable, Patience, type Refused, RequestCut, type RequestEnd, retryableStatus } from './exchange.ts';
import { failureOf, noAnswer } from './failure.ts';
import { type Answer, InFlight } from './in-flight.ts';
import { openWire, type Wire } from './wire.ts';

export interface TransportOptions {
  /** Version of this program, for User-Agent. */
  readonly version: string;
  /** Told once each: warnings of the server about a write (those about our reads and dry runs do not concern the user), and that it refuses. */
  readonly warn?: (text: string) => void;
  /** The user is at the terminal: credential plugins may ask. */
  readonly terminal?: boolean;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Longest time for one whole answer, however it drips in; five minutes unless said. Milliseconds. */
  readonly answerMs?: number;
  /** Asked right before a write is sent, and before it is sent again; throws where nothing may be written any more. */
  readonly mayWrite?: () => void;
  /** Ctrl-C. */
  readonly interruption?: Pick<Interruption, 'soft' | 'hard' | 'late'> | undefined;
  /** Who wants to see the requests. */
  readonly trace?: Trace | undefined;
}

/** How far the server's clock and ours are apart, as one answer told it. */
export interface Skew {
  /** Server clock − ours; milliseconds. */
  readonly ms: number;
  /** Time between request and answer, milliseconds: half of it is uncertain. */
  readonly tookMs: number;
  /** When, by this process's uptime: milliseconds of a clock that nobody sets. */
  readonly at: number;
}

const TOO_MUCH_TEXT = 'the API server has too much to do (429): fewer requests are sent at a time, and this takes longer';
/** The server itself ends an ordinary request after a minute; the rest is for a slow line. */
const ANSWER_MS = 300_000;

/** What the lock is renewed by, with the server's time: a search of every kind must not keep it waiting. */
const isOfLock = ({ path }: Call): boolean => path === '/version' || path.startsWith('/apis/coordination.k8s.io/v1/namespaces/');

type Attempt<T> = { readonly value: T } | Refused;

/** Requests to one API server over kept-alive connections, with credentials, retries and warnings. */
export class Transport {
  readonly #connection: Connection;
  readonly #options: TransportOptions;
  readonly #authorizer: Authorizer;
  readonly #warned = new Set<string>();
  readonly #cut: RequestCut;
  readonly #inFlight = new InFlight();
  #wire: { readonly certificate: string | undefined; readonly opened: Promise<Wire> } | undefined;
  /** The last answer that told the server's time; undefined before the first. */
  skew: Skew | undefined;

  constructor(connection: Connection, options: TransportOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#cut = new RequestCut(options.interruption);
    this.#authorizer = authorizerOf(connection, { terminal: options.terminal ?? false, interruption: options.interruption });
  }

  /** The body of a successful answer. Throws ApiFailure, or what the signal was aborted with. */
  async text(call: Call): Promise<string> {
    return this.read(call, (message) => readText(message, call.most?.bytes));
  }

  /** What `use` makes of the body of a successful answer; from a new answer if the connection breaks in it. */
  async read<T>(call: Call, use: (message: IncomingMessage) => Promise<T>): Promise<T> {
    return this.#repeat(call, use);
  }

  async json<T>(call: Call): Promise<T> {
    const text = await this.text(call);
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new ApiFailure(200, 'NotJson', `${call.path} is not JSON: ${text.trim().replace(/\s+/g, ' ').slice(0, 200)}`);
    }
  }

  /** The open body of a successful answer, for watches. The caller ends it. */
  async stream(call: Call): Promise<IncomingMessage> {
    return this.#repeat(call, async (message) => message);
  }

  async close(): Promise<void> {
    this.#authorizer.close();
    (await this.#wire?.opened)?.close();
    this.#wire = undefined;
  }

  async #repeat<T>(call: Call, use: (message: IncomingMessage) => Promise<T>): Promise<T> {
    const end = this.#cut.open(call.signal);
    try {
      return await this.#untilAnswered({ ...call, signal: end.signal }, end, use);
    } finally {
      end.close();
      giveMemoryBack();
    }
  }

  async #untilAnswered<T>(call: Call, end: RequestEnd, use: (message: IncomingMessage) => Promise<T>): Promise<T> {
    const patience = new Patience();
    let renewed = false;
    for (;;) {
      end.throwIfEnded();
      const current = this.#authorizer.current();
      const credential = current instanceof Promise ? await end.whileOpen(current) : current;
      const outcome = await this.#inTurn(call, end, patience, () => this.#attempt(call, end, credential, use));
      if ('value' in outcome) return outcome.value;
      const { failure } = outcome;
      if (failure.status === 401 && !renewed && this.#authorizer.refresh(credential)) {
        renewed = true;
        continue;
      }
      const soft = this.#options.interruption?.soft;
      const pauseMs = patience.pauseAfter(outcome, soft?.aborted === true);
      if (pauseMs === undefined) throw failure;
      if (patience.isLong) this.#warnOnce(TOO_MUCH_TEXT);
      await this.#pause(pauseMs, end, failure.status === TOO_MUCH && soft?.aborted === false ? soft : undefined);
    }
  }

  /** `soft`: Ctrl-C ends the pause, and the request is sent at once. */
  async #pause(ms: number, end: RequestEnd, soft?: AbortSignal): Promise<void> {
    const signal = soft ? AbortSignal.any([end.signal, soft]) : end.signal;
    await this.#options.sleep(ms, signal).catch((thrown: unknown) => {
      end.throwIfEnded();
      if (!soft?.aborted) throw thrown;
    });
  }

  /** Where the server has asked for fewer requests at a time, this one waits for its turn. */
  async #inTurn<T>(call: Call, end: RequestEnd, { wasRefused }: Patience, attempt: () => Promise<Attempt<T>>): Promise<Attempt<T>> {
    const inFlight = this.#inFlight;
    const rank = isOfLock(call) ? 'lock' : changes(call) ? 'write' : 'read';
    // The lock waits for its turn only where the server has refused it: what is in flight may take long.
    const turn = inFlight.enter(rank, rank === 'lock' && !wasRefused);
    if (turn)
      await end.whileOpen(turn).catch((thrown: unknown) => {
        void turn.then(() => inFlight.leave(inFlight.sent(), 'other'));
        throw thrown;
      });
    const sent = inFlight.sent();
    let answer: Answer = 'other';
    try {
      if (changes(call)) this.#options.mayWrite?.();
      const outcome = await attempt();
      answer = 'value' in outcome ? 'good' : outcome.failure.status === TOO_MUCH ? 'too much' : 'other';
      return outcome;
    } finally {
      inFlight.leave(sent, answer);
    }
  }

  async #attempt<T>(
    call: Call,
    end: RequestEnd,
    credential: Credential,
    use: (message: IncomingMessage) => Promise<T>,
  ): Promise<Attempt<T>> {
    const repeatable = call.repeatable ?? (call.method ?? 'GET') === 'GET';
    const { trace } = this.#options;
    const wire = await this.#wireFor(credential);
    const startedAt = Date.now();
    const inTime = this.#limit(call, end);
    try {
      const headers = this.#headers(call, credential, wire);
      const message = await exchange(wire, call, headers, this.#connection.requestTimeoutMs);
      this.#notice(message, startedAt, changes(call));
      traceExchange(trace, this.#connection.server, { call, headers, message, startedAt });
      const status = message.statusCode ?? 0;
      if (status < 400) return { value: await use(message) };
      const retryAfter = message.headers['retry-after'];
      const failure = failureOf(status, await readText(message, call.most?.bytes));
      return {
        failure,
        again: retryableStatus(status, call.method ?? 'GET', repeatable, retryAfter),
        ...(retryAfter ? { retryAfter } : {}),
      };
    } catch (thrown) {
      end.throwIfEnded();
      if (thrown instanceof ApiFailure) throw thrown;
      traceSilence(trace, this.#connection.server, { call, startedAt });
      return { failure: noAnswer(thrown, this.#connection.server), again: repeatable && isResettable(thrown) };
    } finally {
      inTime();
    }
  }

  /** A silence is noticed elsewhere; this limits an answer that arrives byte by byte. Of a watch only the head counts. */
  #limit({ path, most }: Call, end: RequestEnd): () => void {
    const answerMs = Math.min(most?.ms ?? ANSWER_MS, this.#options.answerMs ?? ANSWER_MS);
    const text = () => `no whole answer within ${answerMs / 1000} s from ${this.#connection.server} to ${path}`;
    return end.endAfter(answerMs, () => new ApiFailure(0, 'ETIMEDOUT', text()));
  }

  /** A renewed client certificate needs new connections; everything else shares them. */
  #wireFor(credential: Credential): Promise<Wire> {
    if (!this.#wire || this.#wire.certificate !== credential.certificate)
      this.#wire = { certificate: credential.certificate, opened: openWire(this.#connection, credential) };
    return this.#wire.opened;
  }

  #headers(call: Call, credential: Credential, wire: Wire): Record<string, string | string[]> {
    return {
      Accept: call.accept ?? 'application/json',
      'User-Agent': `kubectl-netsvc_upgrade/${this.#options.version}`,
      ...(wire.compressed && !this.#tellsBodies ? { 'Accept-Encoding': 'gzip' } : {}),
      ...(credential.authorization ? { Authorization: credential.authorization } : {}),
      ...(call.body === undefined ? {} : { 'Content-Type': call.contentType ?? 'application/json' }),
      ...impersonationHeaders(this.#connection),
    };
  }

  /** Bodies are told as they come: they must come readable. */
  get #tellsBodies(): boolean {
    return (this.#options.trace?.level ?? 0) >= LEVEL.bodies;
  }

  #notice(message: IncomingMessage, startedAt: number, changing: boolean): void {
    const date = Date.parse(message.headers.date ?? '');
    // The header has whole seconds: half of one is added, half of the round trip removed.
    const now = Date.now();
    if (!Number.isNaN(date)) this.skew = { ms: Math.round(date + 500 - (startedAt + now) / 2), tookMs: now - startedAt, at: uptimeMs() };
    if (!changing) return;
    for (const text of warningTexts(message.rawHeaders)) this.#warnOnce(text);
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#options.warn?.(text);
  }
}
