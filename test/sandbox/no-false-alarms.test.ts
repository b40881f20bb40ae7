import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openStoredBases, type StoredBases, storedManifests } from '../../src/adapters/stored-bases.ts';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import { preflightChecks } from '../../src/features/preflight/catalogue.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { manifestText, parseManifest } from '../../src/manifest/manifest.ts';
import { calico } from '../../src/profiles/calico.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { findKind } from '../../src/sandbox/kinds.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { netsvcScenario, type Scenario } from '../../src/sandbox/scenario.ts';
import { createAuthority } from '../control-plane/certificates.ts';
import { diceOf } from '../support/edit-places.ts';
import { editedManifest, editedManifests } from '../support/edited-manifests.ts';
import { groundOf, kindIn, put } from '../support/incident-grounds.ts';
import { objectOf } from '../support/inventory.ts';
import { manifestFile } from '../support/releases.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { isTrue } from '../support/true-conditions.ts';

const TARGET = calico.defaultRelease;
/** So many of the published releases, others each day; the nightly run has all. */
const SAMPLE = Number(process.env.SAMPLE) || 6;
const NIGHTLY = process.env.NIGHTLY !== undefined;
const SEED = Number(process.env.SEED) || Math.floor(Date.now() / 86_400_000);

const MIRROR = 'NS-606';
const CONFLICT = 'NS-201';
/** Images of one release, and a text that is nearer to another. */
const TWO_RELEASES = 'NS-207';
/** What is true of the manifests of people: most come from another registry than the target. */
const TRUE: Readonly<Record<string, readonly string[]>> = {
  'calico-etcd-v3.18.1-dotbalo': [MIRROR, TWO_RELEASES, 'NS-209', 'NS-706'],
  // It has a number for the MTU.
  'calico-v3.15.0-andrewmackrodt': [MIRROR, 'NS-607'],
  'calico-v3.17.1-mhmxs': [MIRROR, CONFLICT],
  'calico-v3.19.1-kubecube-io': [MIRROR, CONFLICT],
  'calico-v3.23.3-yuikuen': [MIRROR, TWO_RELEASES, CONFLICT],
  'calico-v3.27.2-kubevirt': [],
  'calico-v3.31.2-shixiaochuangdev': [],
  // Without a ConfigMap and a CNI plugin it may be two variants.
  'policy-only-v3.17.1-aws': ['NS-102'],
  'vxlan-v3.28.1-canonical': ['NS-109', MIRROR, TWO_RELEASES, CONFLICT],
};

/** Of charts, of a store that answers, and of nodes that tell their processors: none of these is played here. */
const ELSEWHERE = ['NS-804', 'NS-608', 'NS-212', 'NS-425'];

describe('a cluster with a manifest as it was published, or as people edited it', function () {
  this.timeout(NIGHTLY ? 3_600_000 : 120_000);
  let stored: StoredBases;
  /** Checks that were evaluated somewhere. */
  const evaluated = new Set<string>();
  const folder = mkdtempSync(join(tmpdir(), 'untouched-'));
  const targets = join(folder, 'targets');
  before(async () => {
    stored = (await openStoredBases('calico')) ?? assert.fail('nothing stored');
    for (const { file } of calico.variants) write(manifestFile(TARGET, file, targets), stored.documentsOf(TARGET, file) ?? []);
  });
  after(() => rmSync(folder, { recursive: true }));

  const ofVariants = Object.entries(editedManifests).filter(([, { file }]) => calico.variants.some((one) => one.file === file));
  for (const [name, { release, file }] of ofVariants)
    it(`raises nothing but what is true of ${name}`, async () => {
      const { documents } = parseManifest(editedManifest(name), name);
      const scenario = await installed(
        documents.map(({ object }) => object),
        release,
        file,
      );
      assert.deepEqual(
        (await raised(scenario)).map(({ id }) => id),
        TRUE[name] ?? [MIRROR],
      );
    });

  it(`raises nothing but what is true of published releases (SEED=${SEED})`, async () => {
    const all = calico.variants.flatMap(({ file }) => stored.releasesOf(file).map((release) => ({ file, release })));
    const dice = diceOf(SEED);
    const chosen = NIGHTLY ? all : Array.from({ length: SAMPLE }, () => all[dice(all.length)] ?? assert.fail());
    const wrong: string[] = [];
    for (const { file, release } of chosen) {
      const scenario = await installed(stored.documentsOf(release, file) ?? [], release, file);
      const found = (await raised(scenario)).filter(({ id }) => !isTrue(id, file, release));
      wrong.push(...found.map(({ text }) => `${file} ${release}: ${text}`));
    }
    assert.deepEqual(wrong, []);
  });

  it('raises nothing but the order of Typha and the move of the API server where an operator installed it', async () => {
    const { scenario } = await groundOf('operator');
    const { cluster } = scenario;
    const pool = { name: 'pods', cidr: '10.244.0.0/16' };
    const installation = cluster.store.list(kindIn(cluster, { apiVersion: 'operator.tigera.io/v1', kind: 'Installation' }))[0];
    const spec = { calicoNetwork: { ipPools: [pool] } };
    if (installation) cluster.store.update(kindIn(cluster, installation), { ...installation, spec } as KubeObject);
    put(cluster, objectOf('crd.projectcalico.org/v1', 'IPPool', pool.name, { spec: { cidr: pool.cidr } }));
    const data = { ClusterConfiguration: `networking:\n  podSubnet: ${pool.cidr}\n` };
    put(cluster, objectOf('v1', 'ConfigMap', 'kubeadm-config', { metadata: { namespace: 'kube-system' }, data }));
    const { certificate } = createAuthority('tigera-operator-signer').issue({ commonName: 'api', hosts: ['calico-api'] });
    const metadata = { namespace: 'tigera-operator' };
    put(cluster, objectOf('v1', 'Secret', 'calico-apiserver-certs', { metadata, data: { 'tls.crt': btoa(certificate) } }));
    const raisedHere = (await raised(scenario)).map(({ id }) => id);
    assert.deepEqual(raisedHere.toSorted(), ['NS-251', 'NS-405', 'NS-621']);
  });

  it('has evaluated every check', () => {
    const ids = preflightChecks.map(({ id }) => id);
    assert.deepEqual(
      ids.filter((id) => !evaluated.has(id) && !ELSEWHERE.includes(id)),
      [],
    );
  });

  async function raised(scenario: Scenario): Promise<readonly { readonly id: string; readonly text: string }[]> {
    const bench = sandboxCommand(scenario, calico);
    const { compose } = bench.seams;
    const bases = storedManifests(calico.name);
    Object.assign(bench.seams, { compose: async (request: ComposeRequest) => ({ ...(await compose(request)), stored: bases }) });
    await bench.run('preflight', '-o', 'wide', '--release', TARGET);
    for (const [, id = ''] of bench.out().matchAll(/^[√×‼i~] (NS-\d+)/gm)) evaluated.add(id);
    return [...bench.out().matchAll(/^[×‼] (NS-\d+) .*$/gm)].map(([text, id = '']) => ({ id, text }));
  }

  /** On a server of today, which no longer has some kinds of old releases. */
  async function installed(objects: readonly KubeObject[], release: string, file: string): Promise<Scenario> {
    const served = objects.filter(({ apiVersion }) => !apiVersion.endsWith('beta1'));
    write(
      manifestFile(release, file, folder),
      served.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a))),
    );
    const clock = virtualClock({ start: new Date() });
    const scenario = await netsvcScenario({ nodes: 2, releasesFolder: folder, clock, cli: false, installed: release, file });
    makeOrdinary(scenario.cluster);
    return { ...scenario, releasesFolder: targets };
  }
});

/** What nodes report of themselves, and what agents and people store, where nothing is the matter. */
function makeOrdinary(cluster: SandboxCluster): void {
  for (const [index, node] of cluster.store.list(K.Node).entries()) {
    const address = `10.0.0.${index + 1}`;
    const annotations = { 'projectcalico.org/IPv4Address': `${address}/24` };
    const status = node.status as { readonly nodeInfo: object };
    const nodeInfo = { ...status.nodeInfo, osImage: 'Debian GNU/Linux 13 (trixie)', containerRuntimeVersion: 'containerd://2.1.4' };
    const addresses = [{ type: 'InternalIP', address }];
    cluster.store.update(K.Node, {
      ...node,
      metadata: { ...node.metadata, annotations },
      status: { ...status, nodeInfo, addresses },
    } as KubeObject);
  }
  const specs = {
    'IPPool/default-ipv4-ippool': { cidr: '192.168.0.0/16', ipipMode: 'Always', natOutgoing: true },
    'FelixConfiguration/default': { logSeverityScreen: 'Info', reportingInterval: '0s' },
    'BGPConfiguration/default': { asNumber: 64512, nodeToNodeMeshEnabled: true },
    'GlobalNetworkPolicy/default.dns': { selector: 'all()', types: ['Egress'], egress: [{ action: 'Allow' }] },
    'GlobalNetworkSet/partners': { nets: ['203.0.113.0/24'] },
  };
  for (const [text, spec] of Object.entries(specs)) {
    const [kind = '', name = ''] = text.split('/');
    const object = objectOf('crd.projectcalico.org/v1', kind, name, { spec });
    const isServed = findKind(cluster.kinds(), object.apiVersion, kind) !== undefined;
    // Some manifests bring the first of them.
    if (isServed && !cluster.store.get(kindIn(cluster, object), name)) put(cluster, object);
  }
}

const isFirst = ({ kind }: KubeObject) => kind === 'Namespace' || kind === 'CustomResourceDefinition';

function write(path: string, objects: readonly KubeObject[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, manifestText(objects));
}
