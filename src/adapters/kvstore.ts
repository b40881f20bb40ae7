import { Fault, messageOf } from '../kernel/fault.ts';
import type { StoreCertificates, StoreHealth, StoreProbe } from '../kernel/ports.ts';
import { boundedBody, HungUp, headOf, TooLarge } from './bounded-body.ts';

/** From the first byte sent to the last one read: a store that answers too slowly is as unhealthy as a silent one. */
const LIMIT_MS = 3000;
/** The answer about its health is one line. */
const HEALTH_BYTES = 4096;
/** A stored value: an object has at most a megabyte and a half, base64 makes it larger. */
const VALUE_BYTES = 4 * 1024 * 1024;

/** The key-value store at work, with the user's own certificates, which stay in memory. */
export const kvstoreProbe: StoreProbe = { ask: askStore, value: readValue };

/** Asks one endpoint of the key-value store how it is. Never throws; at most three seconds. */
export async function askStore(endpoint: string, certificates: StoreCertificates): Promise<StoreHealth> {
  try {
    const { text } = await ask({ endpoint, path: '/health', certificates, limitBytes: HEALTH_BYTES });
    const healthy = /"health":\s*"?true/.test(text);
    return { endpoint, state: healthy ? 'healthy' : 'unhealthy', because: healthy ? '' : text.trim().slice(0, 200) };
  } catch (thrown) {
    return { endpoint, state: stateOf(thrown, endpoint), because: messageOf(thrown) };
  }
}

async function readValue(endpoint: string, certificates: StoreCertificates, key: string): Promise<string | undefined> {
  const body = JSON.stringify({ key: Buffer.from(key).toString('base64') });
  try {
    const { status, text } = await ask({ endpoint, path: '/v3/kv/range', body, certificates, limitBytes: VALUE_BYTES });
    if (status !== 200) throw new Error(`it answered ${status}: ${text.trim().slice(0, 200)}`);
    const { kvs = [] } = JSON.parse(text) as { readonly kvs?: readonly { readonly value: string }[] };
    return kvs[0] && Buffer.from(kvs[0].value, 'base64').toString();
  } catch (thrown) {
    throw new Fault('failed', `the key-value store does not say: ${messageOf(thrown)}`, [], thrown);
  }
}

/** Too slow or too long: something answers, but it is no working store. */
class Ill extends Error {}

function stateOf(thrown: unknown, endpoint: string): StoreHealth['state'] {
  if (thrown instanceof Ill || thrown instanceof TooLarge) return 'unhealthy';
  const code = (thrown as NodeJS.ErrnoException).code ?? '';
  // With TLS 1.3 a server that does not take the client's certificate hangs up after the handshake.
  const hungUp = code === 'ECONNRESET' && endpoint.startsWith('https:');
  return hungUp || REFUSALS.test(code) ? 'refused' : 'unreached';
}

/** Failures of the handshake: somebody was there and did not agree. */
const REFUSALS = /^(ERR_SSL|ERR_TLS|ERR_OSSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HPE_)/;

interface Question {
  readonly endpoint: string;
  readonly path: string;
  /** JSON to post; a GET without it. */
  readonly body?: string;
  readonly certificates: StoreCertificates;
  readonly limitBytes: number;
}

async function ask({ endpoint, path, body, certificates, limitBytes }: Question) {
  const url = new URL(path, endpoint);
  const { ca, cert, key } = certificates;
  const over = new AbortController();
  let answered = false;
  const timer = setTimeout(() => {
    const seconds = LIMIT_MS / 1000;
    over.abort(answered ? new Ill(`its answer has no end after ${seconds} s`) : new Error(`no answer within ${seconds} s`));
  }, LIMIT_MS);
  try {
    const given = { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
    const posted = body === undefined ? {} : { method: 'POST', headers: { 'Content-Type': 'application/json' } };
    const answer = await headOf(url, { ...given, ...posted, agent: false }, over.signal, body);
    answered = true;
    return { status: answer.statusCode ?? 0, text: (await boundedBody(answer, limitBytes, over.signal)).toString('utf8') };
  } catch (thrown) {
    if (thrown instanceof HungUp) throw new Ill('it answered in another protocol');
    throw answered && !(thrown instanceof Ill || thrown instanceof TooLarge) ? new Ill('the connection ended within its answer') : thrown;
  } finally {
    clearTimeout(timer);
  }
}
