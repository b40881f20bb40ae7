import { request as https } from 'node:https';
import { messageOf } from '../core/fault.ts';
import type { StoreCertificates, StoreHealth } from '../core/kvstore.ts';
import { plainHttp } from './plain-http.ts';

const LIMIT_MS = 3000;
const LIMIT_BYTES = 4096;

/** Asks one endpoint of the key-value store how it is, with the person's own certificates, which stay in memory. */
export async function askStore(endpoint: string, certificates: StoreCertificates): Promise<StoreHealth> {
  const { ca, cert, key } = certificates;
  try {
    const url = new URL('/health', endpoint);
    const text = await ask(url, { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) });
    const healthy = /"health":\s*"?true/.test(text);
    return { endpoint, state: healthy ? 'healthy' : 'unhealthy', because: healthy ? '' : text.trim().slice(0, 200) };
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code ?? '';
    // With TLS 1.3 a server that does not take the client's certificate hangs up after the handshake.
    const hungUp = code === 'ECONNRESET' && endpoint.startsWith('https:');
    return { endpoint, state: hungUp || REFUSALS.test(code) ? 'refused' : 'unreached', because: messageOf(thrown) };
  }
}

/** Failures of the handshake: somebody was there and did not agree. */
const REFUSALS = /^(ERR_SSL|ERR_TLS|ERR_OSSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HPE_)/;

function ask(url: URL, certificates: StoreCertificates): Promise<string> {
  const start = url.protocol === 'https:' ? https : plainHttp().request;
  return new Promise((resolve, reject) => {
    const asked = start(url, { ...certificates, agent: false, timeout: LIMIT_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > LIMIT_BYTES) response.destroy();
      });
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${LIMIT_MS / 1000} s`)));
    asked.on('error', reject);
    asked.end();
  });
}
