import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type FetchOptions, fetchBytes } from '../../../src/adapters/artifacts/https-fetch.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { createAuthority } from '../../control-plane/certificates.ts';
import { listening } from '../../control-plane/listening.ts';
import { testFolder } from '../../support/folders.ts';
import { type Loopback, serve } from '../../support/loopback-server.ts';
import { patient } from '../../support/patience.ts';
import { drippingProxy, serveSocks } from '../../support/socks-server.ts';
import { unverified } from '../../support/unverified.ts';

const LIMIT = 1000;
const fault = (code: string, text: RegExp) => (thrown: unknown) =>
  thrown instanceof Fault && thrown.code === code && text.test(thrown.message);
const get = (url: string, more: Partial<FetchOptions> = {}) =>
  fetchBytes(new URL(url), { env: {}, retries: 2, pauseMs: 1, ...more }, LIMIT);

describe('fetchBytes over TLS', () => {
  const authority = createAuthority('mirror authority');
  const folder = testFolder('fetch ca-');
  let mirror: Loopback;
  before(async () => {
    await writeFile(join(folder, 'right.pem'), authority.certificate);
    await writeFile(join(folder, 'wrong.pem'), createAuthority('another').certificate);
    mirror = await serve(
      ({ url }, response) =>
        void (url === '/clear' ? response.writeHead(302, { location: 'http://127.0.0.1:9/x' }).end() : response.end('kind: A')),
      authority.issue({ commonName: 'mirror', hosts: ['127.0.0.1'] }),
    );
  });
  after(async () => {
    await mirror.close();
  });
  const ca = (name: string) => ({ certificateAuthority: join(folder, name) });

  it('takes a file from a mirror whose authority is given', async () => {
    assert.equal(Buffer.from(await get(`${mirror.url}/a`, ca('right.pem'))).toString(), 'kind: A');
  });

  for (const [title, options] of [
    ['another authority', () => ca('wrong.pem')],
    ['no authority', () => ({})],
  ] as const)
    it(`sends no request to a mirror with ${title}, and tries once`, async () => {
      const [asked, connected] = [mirror.seen.length, mirror.connections()];
      await assert.rejects(get(`${mirror.url}/a`, options()), fault('failed', /certificate of 127\.0\.0\.1:\d+ is not trusted/));
      assert.equal(mirror.seen.length, asked);
      assert.ok(mirror.connections() - connected <= 1);
    });

  it('trusts no other certificate because a variable of Node says so', async () => {
    await unverified(() => assert.rejects(get(`${mirror.url}/a`, {}), fault('failed', /is not trusted/)));
  });

  it('names a file of authorities that is not there', async () => {
    await assert.rejects(get(`${mirror.url}/a`, ca('none.pem')), fault('usage', /none\.pem cannot be read/));
  });

  it('goes through a SOCKS proxy of the environment', async () => {
    const far = await serve((_, response) => void response.end('kind: A'), authority.issue({ commonName: 'm', hosts: ['mirror.invalid'] }));
    const socks = await serveSocks(Number(new URL(far.url).port));
    try {
      const fetched = await get('https://mirror.invalid/a', { ...ca('right.pem'), env: { HTTPS_PROXY: socks.url } });
      assert.equal(Buffer.from(fetched).toString(), 'kind: A');
      assert.deepEqual(socks.asked, ['mirror.invalid']);
    } finally {
      await Promise.all([socks.close(), far.close()]);
    }
  });

  it('does not follow from https to clear text', async () => {
    await assert.rejects(get(`${mirror.url}/clear`, ca('right.pem')), fault('failed', /redirects to http:.* not https/));
  });
});

describe('fetchBytes from loopback', () => {
  for (const location of ['http://mirror.example/x', 'ftp://127.0.0.1/x', 'http://']) {
    it(`does not follow a redirect to ${location}`, async () => {
      const server = await serve((_, response) => void response.writeHead(302, { location }).end());
      await assert.rejects(get(server.url), fault('failed', /which is not https/)).finally(() => server.close());
      assert.equal(server.seen.length, 1);
    });
  }

  for (const [title, answer] of Object.entries<(response: ServerResponse) => void>({
    'an answer that does not come': () => undefined,
    'an answer that stops in the middle': (response) => void response.writeHead(200, { 'content-length': '9' }).write('kind'),
    'the pause before another attempt': (response) => void response.writeHead(503).end(),
  })) {
    it(`does not wait for ${title} at Ctrl-C`, async () => {
      const cut = new AbortController();
      const server = await serve((_, response) => {
        answer(response);
        setTimeout(() => cut.abort(), 50);
      });
      const fetched = get(server.url, { cut: cut.signal, pauseMs: 60_000 });
      await assert.rejects(fetched, fault('interrupted', /^stopped at once/)).finally(() => server.close());
    });
  }

  it('gives up on an answer that stops in the middle', async () => {
    const server = await serve((_, response) => void response.writeHead(200, { 'content-length': '9' }).write('kind'));
    const fetched = get(server.url, { fetchTimeoutMs: 50, retries: 1 });
    await assert.rejects(fetched, fault('failed', /\(2 attempts\)/)).finally(() => server.close());
    assert.equal(server.seen.length, 2);
  });
});

describe('fetchBytes of a name that resolves to nothing', () => {
  const dns = process.getBuiltinModule('node:dns');
  const { lookup } = dns;
  afterEach(() => {
    dns.lookup = lookup;
  });

  for (const [code, attempts] of [
    ['ENOTFOUND', '1 attempt'],
    ['EAI_AGAIN', '3 attempts'],
  ] as const)
    it(`says so after ${attempts}: ${code}`, async () => {
      const never = (name: string, _: unknown, done: (thrown: Error) => void) =>
        done(Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code }));
      dns.lookup = never as typeof lookup;
      await assert.rejects(
        get('https://mirror.example.org/x'),
        fault('failed', new RegExp(`${code} mirror\\.example\\.org \\(${attempts}\\)$`)),
      );
    });
});

describe('fetchBytes from a slow server', () => {
  it('reads for longer than it waits for an answer, while bytes come', async () => {
    const server = await serve((_, response) => {
      let left = 15;
      const more = setInterval(() => (left-- > 0 ? response.write('a') : response.end()), 100);
      response.on('close', () => clearInterval(more));
    });
    const whole = await get(server.url, { fetchTimeoutMs: 1_000, retries: 0 }).finally(() => server.close());
    assert.equal(whole.length, 15);
  });
});

describe('fetchBytes through a proxy', () => {
  async function proxied(answer: (socket: Socket) => void, then: (proxy: string, asked: string[]) => Promise<void>) {
    const asked: string[] = [];
    const proxy = createServer((socket) => {
      socket.once('data', (data) => {
        asked.push(data.toString().split('\r\n')[0] ?? '');
        answer(socket);
      });
    });
    const { port, close } = await listening(proxy);
    await then(`http://127.0.0.1:${port}`, asked).finally(close);
  }

  it('asks the proxy of the environment, and tells its refusal', () =>
    proxied(
      (socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'),
      async (HTTPS_PROXY, asked) => {
        await assert.rejects(get('https://mirror.invalid/a', { env: { HTTPS_PROXY } }), fault('failed', /answered 407/));
        assert.deepEqual(asked, ['CONNECT mirror.invalid:443 HTTP/1.1']);
      },
    ));

  it('does not wait for ever for a proxy that says nothing', () =>
    proxied(
      () => undefined,
      async (HTTPS_PROXY) => {
        const fetched = get('https://mirror.invalid/a', { env: { HTTPS_PROXY }, fetchTimeoutMs: 50, retries: 0 });
        await assert.rejects(fetched, fault('failed', /no answer for 50 ms/));
      },
    ));
});

describe('fetchBytes from a server that never ends', () => {
  it('gives up once its whole time is over: a proxy that never comes to the end of its answer', async () => {
    const proxy = await drippingProxy();
    const started = performance.now();
    try {
      const options = { fetchTotalMs: 500, env: { HTTPS_PROXY: proxy.url } };
      await assert.rejects(get('https://mirror.invalid/a', options), fault('failed', /\/a was not whole after 0\.5 s/));
      assert.ok(performance.now() - started < patient(3_000));
    } finally {
      proxy.close();
    }
  });

  const drips: Readonly<Record<string, (response: ServerResponse) => void>> = {
    body: (response) => {
      const more = setInterval(() => response.write('a'), 20);
      response.on('close', () => clearInterval(more));
    },
    'head, by one redirect after the other': (response) =>
      void setTimeout(() => response.writeHead(302, { location: `/${Math.random()}` }).end(), 300),
    'promise to be there again soon': (response) => void setTimeout(() => response.writeHead(503).end(), 300),
  };
  for (const [title, answer] of Object.entries(drips))
    it(`gives up once its whole time is over: ${title}`, async () => {
      const server = await serve((_, response) => answer(response));
      const started = performance.now();
      try {
        const options = { fetchTotalMs: 500, retries: 5, pauseMs: 100, fetchTimeoutMs: 400 };
        await assert.rejects(get(`${server.url}/a`, options), fault('failed', /\/a was not whole after 0\.5 s/));
        assert.ok(performance.now() - started < patient(3_000));
      } finally {
        await server.close();
      }
    });
});
