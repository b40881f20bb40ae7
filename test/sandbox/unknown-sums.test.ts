import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openArtifacts } from '../../src/adapters/artifacts/artifacts.ts';
import { givenSums } from '../../src/adapters/artifacts/known-digests.ts';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import { chain } from '../../src/features/chain.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { commandBench } from '../support/command-bench.ts';
import { type Loopback, serve } from '../support/loopback-server.ts';
import { ownReleases } from '../support/releases.ts';
import { runOclif } from '../support/run-oclif.ts';
import { compositionOf } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

/** A release server on loopback, whose sums nobody has. */
describe('a target whose sums do not come with this program', function () {
  this.timeout(120_000);
  let server: Loopback;
  let scenario: Scenario;
  let changed = false;

  before(async () => {
    server = await serve(async ({ url }, response) => {
      if (/\/bin\/netsvcctl-[a-z0-9-]+(?:\.exe)?$/.test(url)) return void response.end(`netsvcctl ${NETSVC_TARGET}\n`);
      const text = await readFile(join(ownReleases, url.slice(1)), 'utf8').catch(() => undefined);
      if (text === undefined) return void response.writeHead(404).end('none');
      response.end(changed ? `${text}# changed\n` : text);
    });
  });
  after(() => server.close());
  beforeEach(async () => {
    changed = false;
    scenario = await installedSandbox();
  });

  /** `typed` as a user types it, the flags that a suggestion has included. */
  async function command(typed: string) {
    const bench = commandBench(chain, { HOME: '/home', PATH: '/bin' });
    const compose = async (request: ComposeRequest) => {
      const composition = compositionOf(scenario, request, netsvc);
      const given = await givenSums(request.flags['artifact-digest'] ?? []);
      const sums = { target: composition.context.goal.release, shipped: async () => undefined, given };
      const artifacts = openArtifacts({ source: server.url, env: {}, lastKnownRelease: NETSVC_TARGET, sums, retries: 0 });
      return { ...composition, artifacts };
    };
    const exit = await runOclif(typed.split(' '), { ...bench.seams, compose });
    return { exit, lines: bench.screen(), text: bench.screen().join('\n') };
  }

  it('is named with all sums that were fetched, and one command with all of them, which leads to the end', async () => {
    const refused = await command(`preflight --release ${NETSVC_TARGET}`);
    assert.equal(refused.exit, 3, refused.text);
    assert.match(refused.text, /× NS-601 .* does not know which one v3\.32\.2 publishes: it is not used$/m);
    const files = [...refused.text.matchAll(/^ +(\S+) sha256 ([0-9a-f]{64}) from http:\S+$/gm)].map(([, file, sum]) => `${file}=${sum}`);
    assert.deepEqual(
      files.map((one) => one.replace(/-(?:linux|darwin|windows)-.*|=.*/, '')),
      ['netsvc.yaml', 'netsvcctl'],
    );
    const [, next = ''] = /^Next: kubectl netsvc-upgrade (preflight .*)$/m.exec(refused.text) ?? [];
    for (const one of files) assert.ok(next.includes(`--artifact-digest ${one}`), next);

    const ready = await command(next);
    assert.equal(ready.exit, 0, ready.text);
    const flags = next.replace(/^preflight /, '');
    const done = await command(`run --yes ${flags}`);
    assert.equal(done.exit, 0, done.text);
    assert.match(done.text, /install it as \/usr\/local\/bin\/netsvcctl/);
  });

  it('is refused with other bytes than those that were accepted, and what one run accepted makes it known to no other', async () => {
    const { text } = await command(`preflight --release ${NETSVC_TARGET}`);
    const [, flags = ''] = /^Next: kubectl netsvc-upgrade preflight (.*)$/m.exec(text) ?? [];
    scenario.cluster.nodes.fault('node-02', 'crash-loop');
    assert.notEqual((await command(`run --yes ${flags}`)).exit, 0);
    scenario.cluster.nodes.fault('node-02', 'none');
    const elsewhere = await command('run --yes');
    assert.equal(elsewhere.exit, 3, elsewhere.text);
    assert.match(elsewhere.text, /does not know which one v3\.32\.2 publishes: it is not used/);
    changed = true;
    const other = await command(`run --yes ${flags}`);
    assert.notEqual(other.exit, 0, other.text);
    assert.match(other.text, /but --artifact-digest says [0-9a-f]{64}: it is not used/);
    changed = false;
    assert.equal((await command(`run --yes ${flags}`)).exit, 0);
  });
});
