import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openArtifacts } from '../../src/adapters/artifacts/artifacts.ts';
import { givenSums, knownDigest } from '../../src/adapters/artifacts/known-digests.ts';
import { openStored } from '../../src/cli/compose.ts';
import type { ComposeRequest, Composition } from '../../src/cli/seams.ts';
import { chain } from '../../src/features/chain.ts';
import { readInstalled } from '../../src/features/survey/index.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { BIN_DIR } from '../../src/sandbox/sandbox-tools.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { cliFile } from '../../src/sandbox/service-cli.ts';
import { commandBench } from '../support/command-bench.ts';
import { type GroundName, groundOf, put } from '../support/incident-grounds.ts';
import { objectOf } from '../support/inventory.ts';
import { type Loopback, serve } from '../support/loopback-server.ts';
import { fileOf, meshObjects, OLD, templateOf } from '../support/mesh-objects.ts';
import { folderReleases, ownReleases, releases } from '../support/releases.ts';
import { runOclif } from '../support/run-oclif.ts';
import { compositionOf } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { CALICO_TARGET, NETSVC_TARGET, pattern } from '../support/target.ts';
import { operates } from './ailing-pods.ts';

/** A release server on loopback, whose sums nobody has. */
describe('a target whose sums do not come with this program', function () {
  this.timeout(120_000);
  let server: Loopback;
  let scenario: Scenario;
  let changed = false;

  before(async () => {
    server = await serve(async ({ url }, response) => {
      if (/\/bin\/netsvcctl-[a-z0-9-]+(?:\.exe)?$/.test(url)) return void response.end(`netsvcctl ${NETSVC_TARGET}\n`);
      if (url.endsWith('/alp/istio-inject-configmap-1.15.yaml')) return void response.end(fileOf(NETSVC_TARGET));
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
  async function command(typed: string, source = server.url) {
    const bench = commandBench(chain, { HOME: '/home', PATH: '/bin' });
    const compose = async (request: ComposeRequest) => {
      const composition = compositionOf(scenario, request, netsvc);
      const given = await givenSums(request.flags['artifact-digest'] ?? []);
      const sums = { target: composition.context.goal.release, shipped: async () => undefined, given };
      const artifacts = openArtifacts({ source, env: {}, lastKnownRelease: NETSVC_TARGET, sums, retries: 0 });
      return { ...composition, artifacts };
    };
    const exit = await runOclif(typed.split(' '), { ...bench.seams, compose });
    return { exit, lines: bench.screen(), text: bench.screen().join('\n') };
  }

  it('is named with all sums that were fetched, and one command with all of them, which leads to the end', async () => {
    const refused = await command(`preflight --release ${NETSVC_TARGET}`);
    assert.equal(refused.exit, 3, refused.text);
    assert.match(refused.text, pattern`(?m:× NS-601 .* does not know which one ${NETSVC_TARGET} publishes: it is not used$)`);
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

  it('has the template of the mesh among them where the policy sidecar is in use', async () => {
    const { store } = scenario.cluster;
    for (const object of meshObjects(templateOf(OLD)) as readonly KubeObject[])
      store.insert(object.kind === 'ConfigMap' ? K.ConfigMap : K.Deployment, object);
    const { text } = await command(`preflight --release ${NETSVC_TARGET}`);
    const [, flags = ''] = /^Next: kubectl netsvc-upgrade preflight (.*)$/m.exec(text) ?? [];
    assert.match(flags, /--artifact-digest istio-inject-configmap-1\.15\.yaml=/);
    const planned = await command(`plan ${flags}`);
    assert.match(planned.text, /^\d+ +alp +kubectl apply -f \S+\/istio-sidecar-injector-template\.yaml$/m);
  });

  it('is one finding among the others where nothing of it can be fetched', async () => {
    const { exit, text } = await command(`preflight --release ${NETSVC_TARGET}`, 'http://127.0.0.1:1');
    assert.equal(exit, 3, text);
    assert.match(text, /^× NS-601 .* could not be fetched: connect ECONNREFUSED/m);
    assert.match(text, /^√ /m);
  });

  it('is refused with other bytes than those that were accepted, and what one run accepted makes it known to no other', async () => {
    const { text } = await command(`preflight --release ${NETSVC_TARGET}`);
    const [, flags = ''] = /^Next: kubectl netsvc-upgrade preflight (.*)$/m.exec(text) ?? [];
    scenario.cluster.nodes.fault('node-02', 'crash-loop');
    assert.notEqual((await command(`run --yes ${flags}`)).exit, 0);
    scenario.cluster.nodes.fault('node-02', 'none');
    const elsewhere = await command('run --yes');
    assert.equal(elsewhere.exit, 3, elsewhere.text);
    assert.match(elsewhere.text, pattern`does not know which one ${NETSVC_TARGET} publishes: it is not used`);
    changed = true;
    const other = await command(`run --yes ${flags}`);
    assert.notEqual(other.exit, 0, other.text);
    assert.match(other.text, /but --artifact-digest says [0-9a-f]{64}: it is not used/);
    changed = false;
    assert.equal((await command(`run --yes ${flags}`)).exit, 0);
  });
});

/** The next patch release of Calico: nothing of it comes with this program, and only its own files can be had. */
describe('the next patch of Calico, whose sums do not come with this program', function () {
  this.timeout(240_000);
  const NEXT = 'v3.32.2';
  const TARGETS = [calico.defaultRelease, NEXT];
  let server: Loopback;
  let scenario: Scenario;

  before(async () => {
    server = await serve(async ({ url }, response) => {
      const [, release = '', path = ''] = /^\/(v[^/]+)\/(.*)$/.exec(url) ?? [];
      if (!TARGETS.includes(release)) return void response.writeHead(404).end('none');
      if (/^bin\/calicoctl-[a-z0-9-]+$/.test(path)) return void response.end(cliFile(calico, release));
      // Of the default target as it was published: its sums are known.
      const bytes = await (release === NEXT ? scenario.releases : folderReleases(releases)).read(release, path);
      if (bytes === undefined) return void response.writeHead(404).end('none');
      response.end(bytes);
    });
  });
  after(() => server.close());

  const open = async (ground: GroundName) => {
    scenario = (await groundOf(ground)).scenario;
    scenario.files.write(`${BIN_DIR}/calicoctl`, cliFile(calico, 'v3.27.5'), true);
  };

  /** As on a cluster: what comes with this program, and the server for all else. */
  async function command(typed: string) {
    const bench = commandBench(chain, { HOME: '/home', PATH: '/bin' });
    const compose = async (request: ComposeRequest) => {
      const composition = compositionOf(scenario, request, calico);
      const given = await givenSums(request.flags['artifact-digest'] ?? []);
      const shipped = (release: string, path: string) => knownDigest(calico.name, release, path);
      const sums = { target: composition.context.goal.release, shipped, given };
      const artifacts = openArtifacts({ source: server.url, env: {}, lastKnownRelease: calico.defaultRelease, sums, retries: 0 });
      return { ...composition, artifacts, stored: openStored(calico.name) };
    };
    const installed = (composition: Composition) => readInstalled(composition, composition.context);
    const exit = await runOclif(typed.split(' '), { ...bench.seams, compose, installed });
    return { exit, text: bench.screen().join('\n') };
  }

  /** What preflight of the unknown target leads to, with the files of which it told the sums. */
  async function accepted(): Promise<{ readonly flags: string; readonly files: readonly string[] }> {
    const refused = await command(`preflight --release ${NEXT}`);
    assert.equal(refused.exit, 3, refused.text);
    assert.match(
      refused.text,
      pattern`No sums of v3\.32\.2 come with this program; the default, ${CALICO_TARGET}, is the newest release whose sums do`,
    );
    assert.match(refused.text, /SHA256SUMS of https:\/\/github\.com\/projectcalico\/calico\/releases\/tag\/v3\.32\.2/);
    const files = [...refused.text.matchAll(/^ +(\S+) sha256 [0-9a-f]{64} from http:\S+$/gm)].map(([, file = '']) => file);
    const [, flags = ''] = /^Next: kubectl netsvc-upgrade preflight (.*)$/m.exec(refused.text) ?? [];
    for (const file of files) assert.ok(flags.includes(`--artifact-digest ${file}=`), flags);
    return { flags, files };
  }

  it('is what NS-609 advises, and that advice leads to the end of the upgrade: base, images and CLI', async () => {
    await open('typha');
    const spec = { serviceLoadBalancerIPs: [{ cidr: '192.0.2.0/24' }] };
    put(scenario.cluster, objectOf('crd.projectcalico.org/v1', 'BGPConfiguration', 'default', { spec }));
    const { text } = await command('preflight');
    const [, release = ''] = /NS-609[\s\S]*Fixed in \S+: --release (v\S+),/.exec(text) ?? [];
    assert.equal(release, NEXT, text);

    const { flags, files } = await accepted();
    assert.deepEqual(
      files.map((file) => file.replace(/(?<=calicoctl)-.*/, '')),
      ['calico-typha.yaml', 'calicoctl'],
    );
    const ready = await command(`preflight ${flags}`);
    assert.equal(ready.exit, 0, ready.text);
    assert.doesNotMatch(ready.text, /NS-609/);
    assert.match(ready.text, /NS-606[\s\S]*quay\.io\/calico\/node:v3\.32\.2$/m);
    const planned = await command(`plan ${flags}`);
    assert.match(planned.text, /^NOTE +base: the manifest of v3\.27\.5; your changes are what you have changed since$/m);

    const done = await command(`run --yes ${flags}`);
    assert.equal(done.exit, 0, done.text);
    assert.match(done.text, /^✔ Calico v3\.27\.5 → v3\.32\.2 on 2 nodes/m);
    assert.equal(scenario.files.text(`${BIN_DIR}/calicoctl`), cliFile(calico, NEXT));
    const verified = await command(`verify ${flags}`);
    assert.equal(verified.exit, 0, verified.text);
    const images = scenario.cluster.store
      .list(K.Pod)
      .flatMap(({ spec }) => JSON.stringify(spec).match(/quay\.io\/calico\/[\w-]+:v[\d.]+/g) ?? []);
    assert.deepEqual([...new Set(images.map((one) => one.replace(/.*:/, '')))], [NEXT]);
  });

  it('on an operator takes the manifest of the operator, the CRDs and the CLI, and leads to the end as well', async () => {
    await open('operator');
    operates(scenario.cluster, scenario, NEXT);
    const { flags, files } = await accepted();
    assert.deepEqual(
      files.map((file) => file.replace(/(?<=calicoctl)-.*/, '')),
      ['tigera-operator.yaml', 'v1_crd_projectcalico_org.yaml', 'calicoctl'],
    );
    // The CRDs of this ground have no schemas: by them alone its base would be another release.
    const planned = await command(`plan --base v3.27.5 ${flags}`);
    assert.equal(planned.exit, 0, planned.text);
    assert.match(planned.text, /v3\.27\.5 → v3\.32\.2/);
    const done = await command(`run --yes --base v3.27.5 ${flags}`);
    assert.equal(done.exit, 0, done.text);
    assert.match(done.text, /^✔ Calico v3\.27\.5 → v3\.32\.2 /m);
    assert.equal(scenario.files.text(`${BIN_DIR}/calicoctl`), cliFile(calico, NEXT));
    const images = JSON.stringify(scenario.cluster.store.list(K.DaemonSet)).match(/calico\/node:v[\d.]+/g);
    assert.deepEqual([...new Set(images)], [`calico/node:${NEXT}`]);
  });
});
