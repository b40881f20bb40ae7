import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openArtifacts } from '../../../src/adapters/artifacts/artifacts.ts';
import type { Sums } from '../../../src/adapters/artifacts/checked.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { testFolder } from '../../support/folders.ts';
import { NO_SUMS } from '../../support/no-sums.ts';

const FILE = 'manifests/netsvc.yaml';
const fault = (text: RegExp, advice?: RegExp) => (thrown: unknown) =>
  thrown instanceof Fault && text.test(thrown.message) && (advice === undefined || advice.test(thrown.suggestions.join('\n')));

describe('artifacts over the network', () => {
  let server: Server;
  let source = '';
  let answers: ((request: IncomingMessage, response: ServerResponse) => void)[] = [];
  let asked: string[] = [];

  before(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      answer?.(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    asked = [];
  });

  const open = (over = {}) =>
    openArtifacts({ source, env: {}, lastKnownRelease: 'v3.32.1', sums: NO_SUMS, retries: 2, pauseMs: 1, ...over });
  const body = (text: string) => (_: IncomingMessage, response: ServerResponse) => response.end(text);
  const status =
    (code: number, headers = {}) =>
    (_: IncomingMessage, response: ServerResponse) =>
      response.writeHead(code, headers).end('x');

  it('uses a file whose sum is known with that sum only', async () => {
    answers = [body('kind: A\n')];
    const sum = (await open().fetch('v3.32.2', FILE)).sha256;
    const known = (sums: Partial<Sums>) => open({ sums: { ...NO_SUMS, target: 'v3.32.2', ...sums } }).fetch('v3.32.2', FILE);
    const shipped = async () => '0'.repeat(64);
    assert.equal((await known({ shipped: async () => sum })).sha256, sum);
    assert.equal((await known({ given: new Map([['netsvc.yaml', sum]]) })).sha256, sum);
    await assert.rejects(known({ shipped }), fault(/has sha256 \w+, but this program says 0{64}: it is not used$/, /--upgrade-file/));
    await assert.rejects(
      known({ given: new Map([['netsvc.yaml', '1'.repeat(64)]]) }),
      fault(/has sha256 \w+, but --artifact-digest says 1{64}: it is not used$/),
    );
    await assert.rejects(
      known({ shipped, given: new Map([['netsvc.yaml', sum]]) }),
      fault(/--artifact-digest says sha256 \w+ of netsvc\.yaml, but v3\.32\.2 publishes 0{64}$/),
    );
  });

  it('knows a sum that the user gives for a chart also where no release files have a source', async () => {
    const given = new Map([['netsvc-operator-v3.32.2.tgz', '1'.repeat(64)]]);
    const artifacts = open({ source: '', sums: { ...NO_SUMS, target: 'v3.32.2', given } });
    assert.equal((await artifacts.sumOf('v3.32.2', 'netsvc-operator-v3.32.2.tgz'))?.sha256, '1'.repeat(64));
    await assert.rejects(artifacts.fetch('v3.32.2', FILE), fault(/no source of release files is known/));
  });

  it('uses no manifest of the target that nobody knows the sum of, and says its sum', async () => {
    answers = [body('kind: A\n')];
    const sum = (await open().fetch('v3.32.2', FILE)).sha256;
    const unknown = open({ sums: { ...NO_SUMS, target: 'v3.32.2', given: new Map([['other.yaml', sum]]) } });
    await assert.rejects(unknown.fetch('v3.32.2', FILE), (thrown: unknown) => {
      assert.ok(thrown instanceof Fault && thrown.code === 'blocked', String(thrown));
      assert.match(
        thrown.message,
        new RegExp(`has sha256 ${sum}, and this program does not know which one v3\\.32\\.2 publishes: it is not used$`),
      );
      assert.match(thrown.suggestions.join(' '), new RegExp(`--artifact-digest netsvc\\.yaml=${sum}`));
      return true;
    });
    // What edits are compared with is applied to nothing, and a program is checked by whoever installs it.
    assert.equal((await unknown.fetch('v3.26.4', FILE)).sha256, sum);
    assert.equal((await unknown.fetch('v3.32.2', 'bin/netsvcctl')).sha256, sum);
  });

  it('asks for {source}/<release>/<path> and knows the sum of what it got', async () => {
    answers = [body('kind: A\n')];
    const artifact = await open().fetch('v3.32.2', FILE);
    assert.deepEqual(asked, [`GET /base/v3.32.2/${FILE}`]);
    assert.equal(Buffer.from(artifact.bytes).toString(), 'kind: A\n');
    assert.match(artifact.sha256, /^[0-9a-f]{64}$/);
  });

  it('names the address and the last known release when there is no such file, and does not try again', async () => {
    answers = [status(404)];
    await assert.rejects(open().fetch('v3.99.0', FILE), fault(/base\/v3\.99\.0\/manifests\/netsvc\.yaml does not exist/, /v3\.32\.1/));
    assert.equal(asked.length, 1);
    assert.equal(await open().has('v3.99.0', FILE), false);
  });

  it('tries again after a server error and goes on', async () => {
    answers = [status(503), status(429), body('ok: 1')];
    assert.equal((await open().fetch('v1.0.0', FILE)).bytes.length, 5);
    assert.equal(asked.length, 3);
  });

  const refused: [string, (request: IncomingMessage, response: ServerResponse) => void, RegExp][] = [
    ['an empty answer', body(''), /is empty/],
    ['a web page', body('<!DOCTYPE html><html>login</html>'), /is a web page/],
    ['a login', status(401), /answered 401/],
    ['a server that never recovers', status(500), /answered 500 \(3 attempts\)/],
    [
      'an answer that is cut off',
      (_, response) => void response.writeHead(200, { 'content-length': '100' }).write('kind', () => response.destroy()),
      /incomplete|interrupted/,
    ],
    ['silence', () => undefined, /no answer for 100 ms/],
    ['a circle of redirects', status(302, { location: '/base/again' }), /redirects more than 5 times/],
  ];
  for (const [title, answer, text] of refused) {
    it(`refuses ${title}`, async () => {
      answers = [answer];
      // Only silence is to be noticed: a busy machine must not turn the others into it.
      await assert.rejects(open(title === 'silence' ? { fetchTimeoutMs: 100 } : {}).fetch('v1.0.0', FILE), fault(text));
    });
  }

  it('follows a redirect', async () => {
    answers = [status(302, { location: '/elsewhere' }), body('kind: A')];
    assert.equal((await open().fetch('v1.0.0', FILE)).bytes.length, 7);
    assert.deepEqual(asked, [`GET /base/v1.0.0/${FILE}`, 'GET /elsewhere']);
  });

  it('stops at the size limit, announced or not', async () => {
    answers = [body('x'.repeat(200))];
    await assert.rejects(open().fetch('v1.0.0', FILE, 100), fault(/larger than the limit of 100 bytes/));
    answers = [
      (_, response) => {
        response.write('x'.repeat(150));
        response.end('x'.repeat(150));
      },
    ];
    await assert.rejects(open().fetch('v1.0.0', FILE, 100), fault(/larger than the limit of 100 bytes/));
  });

  it('does not take artifacts in clear text from another machine', () => {
    assert.throws(
      () => openArtifacts({ source: 'http://mirror.example', env: {}, lastKnownRelease: 'v1.0.0', sums: NO_SUMS }),
      fault(/can be changed on their way/),
    );
  });

  it('says which certificate it does not trust, without trying again', async () => {
    // A TLS client against a clear-text port fails in the handshake: no answer, so it is tried again and then told.
    const https = source.replace('http://', 'https://');
    await assert.rejects(open({ source: https }).fetch('v1.0.0', FILE), fault(/could not be fetched/));
  });
});

describe('artifacts from a folder', () => {
  const folder = testFolder('artifacts with space-');
  before(async () => {
    for (const release of ['v3.9.0', 'v3.32.2', 'v3.27.5', 'notes']) await mkdir(join(folder, release, 'manifests'), { recursive: true });
    await writeFile(join(folder, 'v3.32.2', FILE), 'kind: A');
  });
  const open = (source = folder, over = {}) => openArtifacts({ source, env: {}, lastKnownRelease: 'v3.32.1', sums: NO_SUMS, ...over });

  it('reads the same layout and lists releases by age', async () => {
    assert.equal((await open().fetch('v3.32.2', FILE)).bytes.length, 7);
    assert.equal((await open(`file://${folder.replaceAll(' ', '%20')}`).fetch('v3.32.2', FILE)).bytes.length, 7);
    assert.deepEqual(await open().releases(), ['v3.9.0', 'v3.27.5', 'v3.32.2']);
    assert.equal(await open().has('v3.32.2', FILE), true);
    assert.equal(await open().has('v3.27.5', FILE), false);
  });

  it('names the releases that are there when one is missing', async () => {
    await assert.rejects(open().fetch('v3.40.0', FILE), fault(/v3\.40\.0.* does not exist/, /v3\.9\.0, v3\.27\.5, v3\.32\.2/));
    await assert.rejects(open(join(folder, 'nowhere')).fetch('v3.32.2', FILE), fault(/does not exist/, /has no release folders/));
  });

  it('never leaves the folder', async () => {
    await assert.rejects(open().fetch('v3.32.2', '../../secret'), fault(/leaves/));
    await assert.rejects(open().fetch('../..', FILE), fault(/leaves/));
  });

  it('asks for a source where none is known', async () => {
    await assert.rejects(open('').fetch('v3.32.2', FILE), fault(/no source/, /--manifest-url/));
  });
});
