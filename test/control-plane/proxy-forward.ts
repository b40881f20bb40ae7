import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Agent, request as ask } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { type Answer, type ArmedFault, answerOf, type FaultKind } from './proxy-faults.ts';
import { type Entry, type LoggedRequest, purposeOf, RequestLog } from './proxy-log.ts';

interface Forwarding {
  readonly agent: Agent;
  readonly server: string;
  readonly bodies: boolean;
  readonly silenceMs: number;
  /** Breaks every connection of clients that is open. */
  readonly cut: () => void;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly entry: Entry;
}

/** Takes each request to the server and its answer back, unless a fault is in the way. */
export class ProxyForward {
  readonly #log = new RequestLog();
  /** Every request since the start, in order of arrival; entries grow as their answers come. */
  readonly requests: readonly LoggedRequest[] = this.#log.requests;
  /** No client is let in. */
  isCut = false;
  readonly #deps: Forwarding;
  /** First answer to each question: the oldest truth there is. */
  readonly #first = new Map<string, Answer>();
  readonly #audit = randomUUID().slice(0, 28);

  #armed: ArmedFault | undefined;
  #matched = 0;
  #struck: LoggedRequest | undefined;

  constructor(deps: Forwarding) {
    this.#deps = deps;
  }

  /** Spoils one request from now on, in place of any other armed fault. */
  arm(fault: ArmedFault): void {
    this.disarm();
    this.#armed = fault;
  }

  /** Ends the fault and lets clients through again; the request that it struck, if it did. */
  disarm(): LoggedRequest | undefined {
    const struck = this.#struck;
    this.#armed = undefined;
    this.#struck = undefined;
    this.#matched = 0;
    this.isCut = false;
    return struck;
  }

  /** The next answer to each question is its first one: work that is repeated counts its repeated reads as it did the first time. */
  forgetAnswers(): void {
    this.#first.clear();
  }

  /** Id under which the server's audit log has a request of this proxy. */
  auditId = ({ number }: LoggedRequest): string => `${this.#audit}${String(number).padStart(8, '0')}`;

  /** Never rejects: what goes wrong breaks the client's connection, and nothing else. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    try {
      const body = await buffer(request);
      const entry = this.#arrive(request, body);
      const exchange = { request, response, body, entry };
      if (this.#isTheOne(entry)) await this.#spoil(exchange, entry.fault);
      else if (entry.purpose === 'watch') await this.#stream(exchange);
      else this.#reply(exchange, await this.#server(exchange));
    } catch {
      request.socket.destroy();
    }
  }

  #arrive(request: IncomingMessage, body: Buffer): Entry {
    const { method = 'GET', url: path = '/' } = request;
    const purpose = purposeOf(method, path);
    const isRepeated = purpose === 'read' && this.#first.has(questionOf(request));
    const seen = { method, path, purpose, isRepeated, userAgent: request.headers['user-agent'] ?? '' };
    const isKept = this.#deps.bodies && body.length > 0 && (purpose === 'write' || purpose === 'ask');
    return this.#log.arrive(isKept ? { ...seen, body: body.toString('utf8') } : seen);
  }

  /** Whether the armed fault is for this request; it strikes only once. */
  #isTheOne(entry: Entry): entry is Entry & { fault: FaultKind } {
    if (!this.#armed || this.#struck || !this.#armed.matches(entry)) return false;
    this.#matched += 1;
    if (this.#matched < this.#armed.nth) return false;
    this.#struck = entry;
    entry.fault = this.#armed.kind;
    return true;
  }

  async #spoil(exchange: Exchange, fault: FaultKind): Promise<void> {
    const { entry, request } = exchange;
    if (fault.endsWith('-after')) await this.#server(exchange);
    const instead = fault === 'stale' ? this.#first.get(questionOf(request)) : answerOf(fault, entry.path);
    if (instead) return this.#reply(exchange, instead);
    if (fault.startsWith('kill-')) return this.#kill();
    if (fault === 'silence-after') await new Promise((resolve) => setTimeout(resolve, this.#deps.silenceMs));
    request.socket.destroy();
  }

  /** Ends the client, and with it everything that it started: nobody gets through any more. */
  #kill(): void {
    this.isCut = true;
    this.#armed?.kill?.();
    this.#deps.cut();
  }

  #reply({ entry, response }: Exchange, { status, headers, body }: Answer): void {
    response.writeHead(status, { ...headers, 'content-length': body.length });
    response.end(body);
    this.#log.answered(entry, status);
  }

  /** The server's whole answer; the first to each question is remembered. */
  async #server(exchange: Exchange): Promise<Answer> {
    const message = await this.#ask(exchange);
    const answer = { status: message.statusCode ?? 0, headers: carried(message.headers), body: await buffer(message) };
    const { entry, request } = exchange;
    entry.serverStatus = answer.status;
    const question = questionOf(request);
    if (entry.purpose === 'read' && answer.status === 200 && !this.#first.has(question)) this.#first.set(question, answer);
    return answer;
  }

  async #stream(exchange: Exchange): Promise<void> {
    const { entry, response } = exchange;
    const message = await this.#ask(exchange);
    const status = message.statusCode ?? 0;
    entry.serverStatus = status;
    response.writeHead(status, carried(message.headers));
    response.flushHeaders();
    this.#log.answered(entry, status);
    message.on('error', () => response.destroy());
    message.pipe(response);
  }

  async #ask({ request, response, body, entry }: Exchange): Promise<IncomingMessage> {
    const { agent, server } = this.#deps;
    const headers = { ...carried(request.headers), 'audit-id': this.auditId(entry) };
    const { method, path } = entry;
    const asked = ask(server + path, { agent, method, headers: body.length > 0 ? { ...headers, 'content-length': body.length } : headers });
    // A client that leaves takes an open watch with it; a write that is on its way is let through, as on a real network.
    response.on('close', () => {
      if (entry.purpose === 'watch') asked.destroy();
    });
    asked.end(body);
    const [message] = (await once(asked, 'response')) as [IncomingMessage];
    asked.on('error', () => undefined);
    return message;
  }
}

/** The question as the client may hear its answer: what it accepts is part of it. */
function questionOf({ url = '/', headers }: IncomingMessage): string {
  return [url, headers.accept, headers['accept-encoding']].join(' ');
}

const OF_ONE_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host', 'upgrade', 'te', 'trailer']);

function carried(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.has(name)));
}
