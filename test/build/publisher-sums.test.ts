import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { integrityOf, type Runtime } from '../../build/pack-runtimes.ts';
import { comparePublished } from '../../build/publisher-sums.ts';
import { tarGz } from '../../build/tar.ts';
import { testFolder } from '../support/folders.ts';
import { type Loopback, serve } from '../support/loopback-server.ts';
import { describeWhere, lacksProgram } from '../support/needs.ts';

const VERSION = '1.2.3';
const PROGRAM = Buffer.from('the program of the publisher');
const sumOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const archiveOf = (program: Uint8Array) => tarGz([{ path: `node-v${VERSION}-linux-x64/bin/node`, content: program }]);
const SUMS = `${sumOf(archiveOf(PROGRAM))}  node-v${VERSION}-linux-x64.tar.gz\n${sumOf(PROGRAM)}  win-arm64/node.exe\n`;

/** A keyring of one new key, and what signs with it. */
function signer() {
  const home = testFolder('netsvc-gpg-');
  chmodSync(home, 0o700);
  const gpg = (args: readonly string[], input = '') =>
    execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', ...args], { input, stdio: ['pipe', 'pipe', 'ignore'] });
  gpg(['--passphrase', '', '--quick-generate-key', 'Release <release@example.org>', 'ed25519', 'sign', 'never']);
  const keys = join(home, 'keys.gpg');
  writeFileSync(keys, gpg(['--export']));
  const close = () => execFileSync('gpgconf', ['--homedir', home, '--kill', 'all']);
  return { keys, sign: (text: string) => gpg(['--clearsign'], text).toString(), close };
}

describeWhere(lacksProgram('gpg') ?? lacksProgram('gpgv'), 'a runtime against the signed sums of its publisher', function () {
  this.timeout(60_000);
  const served = new Map<string, string | Uint8Array>();
  let [ours, theirs]: readonly ReturnType<typeof signer>[] = [];
  let publisher: Loopback;
  const cache = process.env.XDG_CACHE_HOME;
  const folder = testFolder('netsvc-cache-');

  before(async () => {
    process.env.XDG_CACHE_HOME = folder;
    mkdirSync(join(folder, 'netsvc-upgrade-runtimes'));
    [ours, theirs] = [signer(), signer()];
    publisher = await serve(({ url }, response) => {
      const content = served.get(url);
      response.writeHead(content === undefined ? 404 : 200).end(content);
    });
  });
  after(async () => {
    if (cache === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = cache;
    for (const one of [ours, theirs]) one?.close();
    await publisher.close();
  });
  beforeEach(() => publish(ours?.sign(SUMS) ?? ''));

  function publish(sums: string, archive: Uint8Array = archiveOf(PROGRAM)): void {
    served.set(`/v${VERSION}/SHASUMS256.txt.asc`, sums);
    served.set(`/v${VERSION}/node-v${VERSION}-linux-x64.tar.gz`, archive);
  }

  /** What npm has fetched, pinned by its own sum. */
  function packaged(program: Uint8Array, more: Partial<Runtime> = {}): Runtime {
    const runtime = { os: 'linux', arch: 'amd64', package: 'some-node', version: VERSION, file: 'bin/node', ...more } as const;
    const bytes = tarGz([{ path: `package/${runtime.file}`, content: program }]);
    writeFileSync(join(folder, 'netsvc-upgrade-runtimes', `some-node-${VERSION}.tgz`), bytes);
    return { ...runtime, integrity: integrityOf(bytes) };
  }

  const compare = (runtime: Runtime) => comparePublished(runtime, { url: publisher.url, keys: ours?.keys ?? '' });
  const WINDOWS = { os: 'windows', arch: 'arm64', file: 'bin/node.exe' } as const;

  it('agrees, of Windows by the program itself', async () => {
    await compare(packaged(PROGRAM));
    await compare(packaged(PROGRAM, WINDOWS));
  });

  it('is refused where the package carries another program, although the lock pins it', async () => {
    const other = Buffer.from('another program');
    await assert.rejects(compare(packaged(other)), /some-node@1\.2\.3: bin\/node is not the one of node-v1\.2\.3-linux-x64\.tar\.gz/);
    await assert.rejects(compare(packaged(other, WINDOWS)), /some-node@1\.2\.3 is not what was published/);
  });

  it('is refused where the archive is not the signed one, or no sum of it is signed', async () => {
    const other = Buffer.from('another program');
    publish(ours?.sign(SUMS) ?? '', archiveOf(other));
    await assert.rejects(compare(packaged(other)), /the archive of http.* is not what was published/);
    await assert.rejects(compare(packaged(PROGRAM, { ...WINDOWS, arch: 'amd64' })), /win-x64\/node\.exe has no sum/);
  });

  it('is refused where somebody else signed the sums, and where nothing is served', async () => {
    publish(theirs?.sign(SUMS) ?? '');
    await assert.rejects(compare(packaged(PROGRAM)), /gpgv/);
    served.clear();
    await assert.rejects(compare(packaged(PROGRAM)), /SHASUMS256\.txt\.asc: 404/);
  });

  it('reads nothing that stands outside of the signed text', async () => {
    const signed = ours?.sign(SUMS.replaceAll(/^[0-9a-f]{64}/gm, '0'.repeat(64))) ?? '';
    publish(`${SUMS}\n${signed}\n${SUMS}`);
    await assert.rejects(compare(packaged(PROGRAM)), /is not what was published/);
  });
});
