import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { localCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import { interrupted } from '../../kernel/interruption.ts';
import { isPassingStatus } from '../../kernel/ports.ts';
import { look, or, text } from '../../kernel/step.ts';
import { boundedBody, headOf, TooLarge } from '../bounded-body.ts';
import { isLoopback, proxyOf } from '../kube/wire.ts';
import type { Environment } from '../kubeconfig/connection.ts';
import type { Trace } from '../trace.ts';

export interface FetchOptions {
  readonly env: Environment;
  /** CA file trusted besides the system's. */
  readonly certificateAuthority?: string;
  /** Longest silence of the other side; 30 s unless said. */
  readonly fetchTimeoutMs?: number;
  /** Milliseconds for the whole file, redirects and retries included. Default: a minute, and a second for each 500 kB of its limit. */
  readonly fetchTotalMs?: number;
  /** Attempts after the first; 3 unless said. */
  readonly retries?: number;
  /** First pause between attempts, doubled each time; 500 ms unless said. */
  readonly pauseMs?: number;
  /** Ctrl-C. */
  readonly cut?: AbortSignal | undefined;
  /** Who wants to see what is fetched. */
  readonly trace?: Trace | undefined;
}

/** The other side says that there is no such file. */
export class NotThere extends Error {}

/** Worth another attempt: no answer, a cut-off one, or the other side is busy. */
class Passing extends Error {}

/** No answer, and none within seconds: the name resolves to nothing here. A machine without internet would wait at every plan. */
class Unknown extends Passing {}

const REDIRECTS = 5;

/** Gets a file over https (or http on loopback). Throws NotThere for 404 and 410, Fault for everything else. */
export async function fetchBytes(url: URL, options: FetchOptions, limit: number, method: 'GET' | 'HEAD' = 'GET'): Promise<Uint8Array> {
  const totalMs = options.fetchTotalMs ?? 60_000 + limit / 500;
  const over = new AbortController();
  const late = setTimeout(() => over.abort(tooSlow(url, totalMs)), totalMs);
  const cut = options.cut ? AbortSignal.any([options.cut, over.signal]) : over.signal;
  try {
    return await fetchAgain(url, { ...options, cut }, limit, method);
  } catch (thrown) {
    if (options.cut?.aborted) throw interrupted();
    if (over.signal.aborted) throw over.signal.reason;
    throw thrown;
  } finally {
    clearTimeout(late);
  }
}

/** Bytes that arrive too slowly are no silence, but would hold a command for ever. */
function tooSlow(url: URL, totalMs: number): Fault {
  return new Fault('failed', `${url.href} was not whole after ${totalMs / 1000} s`, [
    'check the network and the proxy, then run again',
    or('fetch it yourself, and give a folder of the same layout with --manifest-url DIR'),
  ]);
}

type Cuttable = FetchOptions & { readonly cut: AbortSignal };

async function fetchAgain(url: URL, options: Cuttable, limit: number, method: string): Promise<Uint8Array> {
  const retries = options.retries ?? 3;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await follow(url, options, limit, method);
    } catch (thrown) {
      if (options.cut.aborted || !(thrown instanceof Passing)) throw thrown;
      if (attempt >= retries || thrown instanceof Unknown)
        throw new Fault(
          'failed',
          `${url.href} could not be fetched: ${thrown.message} (${counted(attempt + 1, 'attempt')})`,
          [
            'check the address, the network and the proxy, then run again',
            or('give a folder of the same layout with --manifest-url DIR'),
            look(text`see what this machine is answered: ${localCommand`curl -fsSIL ${url.href}`}`),
          ],
          thrown,
        );
      await wait((options.pauseMs ?? 500) * 2 ** attempt, undefined, { signal: options.cut });
    }
  }
}

async function follow(first: URL, options: Cuttable, limit: number, method: string): Promise<Uint8Array> {
  let url = first;
  for (let hop = 0; hop <= REDIRECTS; hop += 1) {
    const answer = await request(url, options, method);
    const status = answer.statusCode ?? 0;
    options.trace?.say(`${method} ${url.href} ${status}`);
    if (status >= 300 && status < 400 && answer.headers.location) {
      answer.resume();
      url = nextOf(url, answer.headers.location);
      continue;
    }
    if (status === 200 && method === 'GET') return collect(answer, limit, url, options.cut);
    answer.resume();
    if (status !== 200) throw refusedWith(status, url);
    return new Uint8Array();
  }
  throw new Fault('failed', `${first.href} redirects more than ${REDIRECTS} times`, ['name the real address with --manifest-url']);
}

/** Only to https; a loopback server may send to loopback. */
function nextOf(url: URL, location: string): URL {
  const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  const local = next?.protocol === 'http:' && url.protocol === 'http:' && isLoopback(next.hostname);
  if (next && (next.protocol === 'https:' || local)) return next;
  throw new Fault('failed', `${url.href} redirects to ${location}, which is not https`, ['name the real address with --manifest-url']);
}

function refusedWith(status: number, url: URL): Error {
  if (status === 404 || status === 410) return new NotThere(`${url.href}: ${status}`);
  if (isPassingStatus(status)) return new Passing(`the server answered ${status}`);
  return new Fault('failed', `${url.href}: the server answered ${status}`, [
    'check the address and whether it asks for a login',
    look(text`see what it answers: ${localCommand`curl -sSIL ${url.href}`}`),
  ]);
}

async function collect(answer: IncomingMessage, limit: number, url: URL, cut: AbortSignal): Promise<Uint8Array> {
  const announced = Number(answer.headers['content-length'] ?? Number.NaN);
  const tooBig = () => new Fault('failed', `${url.href} is larger than the limit of ${limit} bytes`, ['check that it is the right file']);
  if (announced > limit) {
    answer.destroy();
    throw tooBig();
  }
  const whole = await boundedBody(answer, limit, cut).catch((thrown: unknown) => {
    throw thrown instanceof TooLarge ? tooBig() : new Passing(`interrupted: ${messageOf(thrown)}`);
  });
  if (!Number.isNaN(announced) && whole.length !== announced) throw new Passing(`incomplete: ${whole.length} of ${announced} bytes`);
  return whole;
}

async function request(url: URL, options: Cuttable, method: string): Promise<IncomingMessage> {
  const timeout = options.fetchTimeoutMs ?? 30_000;
  const trusted = await trust(options);
  const settings = { method, timeout, signal: options.cut, ...trusted, ...(await proxyAgent(url, options, trusted.ca)) };
  // The request's own limit begins with its socket, which a silent proxy never gives. It is over with the head: a large file takes longer.
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), timeout);
  try {
    return await headOf(url, settings, AbortSignal.any([options.cut, silence.signal]));
  } catch (thrown) {
    if (options.cut.aborted) throw thrown;
    const { code = '' } = thrown as NodeJS.ErrnoException;
    if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)) throw untrusted(url, thrown as Error);
    if (code === 'ENOTFOUND') throw new Unknown(messageOf(thrown));
    throw new Passing(silence.signal.aborted ? `no answer for ${timeout} ms` : messageOf(thrown));
  } finally {
    clearTimeout(timer);
  }
}

/** The given CA comes on top of the system's: a mirror must not stop public sources from working. */
async function trust({ certificateAuthority }: FetchOptions): Promise<{ ca?: string[] }> {
  if (certificateAuthority === undefined) return {};
  const { rootCertificates } = await import('node:tls');
  const own = await readFile(certificateAuthority, 'utf8').catch((thrown: unknown) => {
    throw new Fault(
      'usage',
      `${certificateAuthority} cannot be read: ${messageOf(thrown)}`,
      ['correct --manifest-ca, or --certificate-authority where that is not given'],
      thrown,
    );
  });
  return { ca: [...rootCertificates, own] };
}

/** How a request reaches its server where the environment names a proxy. */
export async function proxyAgent(
  url: URL,
  { env }: Pick<FetchOptions, 'env'>,
  ca?: readonly string[],
): Promise<Pick<RequestOptions, 'agent'>> {
  const address = proxyOf({ cluster: {}, env }, url);
  if (address === undefined) return {};
  if (address.startsWith('socks')) {
    const { socksAgent } = await import('../kube/client-node.ts');
    // Such an agent goes by its own authorities, not by those of the request.
    const cluster = ca ? { 'certificate-authority-data': Buffer.from(ca.join('\n')).toString('base64') } : {};
    return { agent: await socksAgent({ server: url.origin, cluster }, address) };
  }
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  return { agent: new HttpsProxyAgent(address) };
}

function untrusted(url: URL, thrown: Error): Fault {
  return new Fault(
    'failed',
    `the certificate of ${url.host} is not trusted: ${thrown.message}`,
    ['name its CA with --manifest-ca FILE', look(text`see who signed it: ${localCommand`curl -vsSI ${url.href}`}`)],
    thrown,
  );
}
