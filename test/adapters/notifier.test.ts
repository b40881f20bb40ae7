import assert from 'node:assert/strict';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { openNotifier, post } from '../../src/adapters/notifier.ts';
import { createAuthority } from '../control-plane/certificates.ts';
import { testFolder } from '../support/folders.ts';
import { type Loopback, type ServerIdentity, serve } from '../support/loopback-server.ts';
import { unverified } from '../support/unverified.ts';

const never = new AbortController().signal;

describe('a notification by POST', () => {
  const servers: Loopback[] = [];
  const serving = async (answer: (response: ServerResponse, nth: number) => void, tls?: ServerIdentity) => {
    const server: Loopback = await serve((_request, response) => answer(response, server.seen.length), tls);
    servers.push(server);
    return server;
  };
  const sent = async ({ url }: Loopback, cut = never) => (await openNotifier(`${url}/T/secret`, process.env)).send('{"a":"ä"}', cut);

  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  it('is one JSON document', async () => {
    const server = await serving((response) => void response.end('ok'));
    await sent(server);
    assert.deepEqual(
      server.seen.map(({ method, url, headers, body }) => [method, url, headers['content-type'], body]),
      [['POST', '/T/secret', 'application/json', '{"a":"ä"}']],
    );
  });

  it('is sent once more to a server that is busy', async () => {
    const server = await serving((response, nth) => void response.writeHead(nth === 1 ? 503 : 204).end());
    await sent(server);
    assert.equal(server.seen.length, 2);
  });

  it('fails after the second attempt', async () => {
    const server = await serving((response) => void response.writeHead(500).end());
    await assert.rejects(sent(server), /^Error: the server answered 500$/);
    assert.equal(server.seen.length, 2);
  });

  it('is not repeated where the server has refused it', async () => {
    const server = await serving((response) => void response.writeHead(404).end());
    await assert.rejects(sent(server), /the server answered 404/);
    assert.equal(server.seen.length, 1);
  });

  it('follows no redirect', async () => {
    const other = await serving((response) => void response.end());
    const server = await serving((response) => void response.writeHead(307, { location: `${other.url}/` }).end());
    await assert.rejects(sent(server), /answered 307, and redirects are not followed/);
    assert.deepEqual([server.seen.length, other.seen.length], [1, 0]);
  });

  it('does not wait for a body without an end', async () => {
    const server = await serving((response) => void response.write('more'));
    await sent(server);
  });

  it('ends with the command', async () => {
    const cut = new AbortController();
    const server = await serving(() => cut.abort());
    await assert.rejects(sent(server, cut.signal));
    assert.equal(server.seen.length, 1);
  });

  it('gives up on a server that does not answer', async () => {
    const server = await serving(() => undefined);
    const sending = post(new URL(server.url), '{}', { env: {}, cut: never, limitMs: 100 });
    await assert.rejects(sending, /no answer within 0.1 s/);
    assert.equal(server.seen.length, 2);
  });

  it('does not go to a server whose certificate is not trusted, whatever the environment says', async () => {
    const identity = createAuthority('unknown').issue({ commonName: 'hooks', hosts: ['127.0.0.1'] });
    const server = await serving((response) => void response.end(), identity);
    await unverified(() => assert.rejects(sent(server), /certificate/));
    assert.equal(server.seen.length, 0);
  });
});

describe('a notification to a program', () => {
  const folder = testFolder('notify-');
  const hook = (script: string) => {
    const file = join(folder, 'hook.sh');
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return openNotifier(file, { PATH: process.env.PATH, MARK: 'from-env' });
  };

  it('is its standard input, with no arguments', async () => {
    const told = join(folder, 'told');
    await (await hook(`{ echo "$# $MARK"; cat; } > ${told}`)).send('{"a":1}', never);
    assert.equal(readFileSync(told, 'utf8'), '0 from-env\n{"a":1}');
  });

  it('may be left unread', async () => (await hook('exit 0')).send('x'.repeat(1_000_000), never));

  it('fails with its exit code and its last words, without credentials', async () => {
    const { send } = await hook('echo first >&2; echo "no way: https://anna:geheim@host/" >&2; exit 3');
    await assert.rejects(send('{}', never), /^Error: it ended with exit code 3: no way: https:\/\/\(hidden\)@host\/$/);
  });

  it('fails where it cannot be started', async () => {
    const notifier = await hook('exit 0');
    rmSync(join(folder, 'hook.sh'));
    await assert.rejects(notifier.send('{}', never), /it could not be started/);
  });

  it('ends with the command', async () => {
    const cut = new AbortController();
    const sending = (await hook('sleep 60')).send('{}', cut.signal);
    cut.abort();
    await assert.rejects(sending, /it was ended/);
  });
});
