import assert from 'node:assert/strict';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenCluster, openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import { storedManifests } from '../../src/adapters/stored-bases.ts';
import { withCarried } from '../../src/features/install-manifest/carried.ts';
import { readEdits, readListRules } from '../../src/features/install-manifest/edits.ts';
import { readReleasedTarget } from '../../src/features/install-manifest/target.ts';
import type { Installation } from '../../src/kernel/installation.ts';
import { refText } from '../../src/kernel/object.ts';
import { ApiFailure, type Sources } from '../../src/kernel/ports.ts';
import { mergeKeys, type SchemaRule } from '../../src/kube/list-keys.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { calico } from '../../src/profiles/calico.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { contextOf, installation } from '../fixtures/facts.ts';
import { folderArtifacts } from '../support/apply-bench.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const FROM = 'v3.27.5';
const AGENT = 'DaemonSet/kube-system/calico-node spec.template.spec.containers[calico-node]';
const TYPHA = 'Deployment/kube-system/calico-typha';

const keysOf = (rule: SchemaRule | undefined) => (typeof rule === 'object' ? rule.keys : rule);

describe('edits on a real control plane', function () {
  this.timeout(600_000);
  const file = manifestFile(FROM, 'calico-typha.yaml');
  let plane: ControlPlane;
  let cluster: OpenCluster;

  beforeEach(async () => {
    plane = await startControlPlane();
    cluster = openCluster(await readConnection({ kubeconfig: plane.kubeconfigPath }, process.env), { version: 'test' });
  });
  afterEach(async () => {
    await cluster?.close();
    await plane?.stop();
  });

  const kubectl = async (...args: readonly string[]) => {
    assertSucceeded(await plane.kubectl(args));
  };

  /** What is found, and the target with it. */
  async function told() {
    const sources = {
      cluster,
      artifacts: folderArtifacts(releases, [FROM, CALICO_TARGET]),
      stored: storedManifests('calico'),
    } as unknown as Sources;
    const context = contextOf({ release: CALICO_TARGET }, calico);
    const what: Installation = { ...installation, variant: 'calico-typha', release: FROM, hasApiServer: false, hasCsiDriver: false };
    const target = await readReleasedTarget(sources, context, what);
    const { edits, carried } = await readEdits(sources, context, what, target);
    return { edits, target: withCarried(target, carried ?? assert.fail('nothing merged')) };
  }

  /** Every edit that is found, as `outcome object path`. */
  async function found(): Promise<readonly string[]> {
    const { edits } = await told();
    return edits.map((edit) => `${edit.outcome} ${refText(edit.ref)} ${edit.path}`).toSorted();
  }

  const ways = [
    { title: 'applied', args: ['apply', '-f', file] },
    { title: 'created', args: ['create', '-f', file] },
    { title: 'applied server-side', args: ['apply', '--server-side', '-f', file] },
  ];
  for (const { title, args } of ways) {
    it(`are none on a release that was just ${title}`, async () => {
      await kubectl(...args);
      assert.deepEqual(await found(), []);
    });
  }

  it('are exactly those that people made with kubectl', async () => {
    await kubectl('apply', '-f', file);
    await kubectl('-n', 'kube-system', 'set', 'env', 'ds/calico-node', '-c', 'calico-node', 'IP_AUTODETECTION_METHOD=first-found', 'IP-');
    await kubectl('-n', 'kube-system', 'scale', 'deploy/calico-typha', '--replicas=3');
    await kubectl('-n', 'kube-system', 'patch', 'cm/calico-config', '-p', '{"data":{"veth_mtu":"1400"}}');
    await kubectl('-n', 'kube-system', 'rollout', 'restart', 'ds/calico-node');
    assert.deepEqual(await found(), [
      'kept ConfigMap/kube-system/calico-config data.veth_mtu',
      `kept ${AGENT}.env[IP]`,
      `kept ${AGENT}.env[IP_AUTODETECTION_METHOD]`,
      `kept ${TYPHA} spec.replicas`,
    ]);
  });

  it('are told by the keys that the server merges by: those of the table, wherever both speak', async () => {
    const documents = parseManifest(await readFile(file, 'utf8'), file).documents.map(({ object }) => object);
    const rules = await readListRules(cluster, documents);
    const agents = rules.get('apps/v1 DaemonSet') ?? assert.fail('no schema of DaemonSets');
    const pod = 'spec.template.spec';
    assert.deepEqual(agents.get(`${pod}.containers.ports`), { keys: ['containerPort', 'protocol'], defaults: { protocol: 'TCP' } });
    assert.deepEqual(
      ['tolerations', 'containers.args', 'containers.envFrom'].map((list) => agents.get(`${pod}.${list}`)),
      ['atomic', 'atomic', 'atomic'],
    );
    const service = rules.get('v1 Service')?.get('spec.ports');
    assert.deepEqual(service, { keys: ['port', 'protocol'], defaults: { protocol: 'TCP' } });
    const item = { name: '', mountPath: '', devicePath: '', ip: '', topologyKey: '', whenUnsatisfiable: '', containerPort: 1 };
    for (const list of ['containers', 'initContainers', 'volumes', 'imagePullSecrets', 'hostAliases', 'topologySpreadConstraints'])
      assert.deepEqual(keysOf(agents.get(`${pod}.${list}`)), mergeKeys(list, item), list);
    for (const list of ['env', 'volumeMounts', 'volumeDevices', 'ports'])
      assert.deepEqual(keysOf(agents.get(`${pod}.containers.${list}`)), mergeKeys(list, item), list);
  });

  it('are told where the account may not read the schema: then by the table alone', async () => {
    const refused = { raw: () => Promise.reject(new ApiFailure(403, 'Forbidden', 'no')) };
    assert.equal(
      (
        await readListRules(
          refused,
          parseManifest(await readFile(file, 'utf8'), file).documents.map(({ object }) => object),
        )
      ).size,
      0,
    );
  });

  it('are not what controllers wrote: an autoscaler keeps its number, and what the target does not say stays without the file', async () => {
    await kubectl('apply', '-f', file);
    const patch = ['-n', 'kube-system', 'patch', 'deploy/calico-typha', '-p', '{"spec":{"replicas":3}}'];
    await kubectl(...patch, '--subresource=scale', '--type=merge', '--field-manager=kube-controller-manager');
    await kubectl('-n', 'kube-system', 'annotate', 'ds/calico-node', 'sidecar.istio.io/rev=canary', '--field-manager=istiod');
    await kubectl('-n', 'kube-system', 'annotate', 'ds/calico-node', 'example.org/owner=me');
    const { edits, target } = await told();
    assert.deepEqual(
      edits
        .map(({ outcome, ref, path, source }) => [outcome, ref.name, path, source.manager, source.writer].join(' ').trimEnd())
        .toSorted(),
      [
        'kept calico-node metadata.annotations kubectl-annotate',
        'kept calico-typha spec.replicas kube-controller-manager a HorizontalPodAutoscaler',
        'left calico-node metadata.annotations[sidecar.istio.io/rev] istiod the mesh Istio',
      ],
    );
    assert.doesNotMatch(target.text, /sidecar\.istio\.io/);
    const upgrade = join(await mkdtemp(join(tmpdir(), 'edits-')), 'upgrade.yaml');
    await writeFile(upgrade, target.text);
    await kubectl('apply', '--server-side', '--force-conflicts', '-f', upgrade);
    const read = async (kind: string, name: string, field: string) =>
      (await plane.kubectl(['-n', 'kube-system', 'get', kind, name, '-o', `jsonpath={${field}}`])).stdout;
    assert.equal(await read('ds', 'calico-node', '.metadata.annotations.sidecar\\.istio\\.io/rev'), 'canary');
    assert.equal(await read('ds', 'calico-node', '.metadata.annotations.example\\.org/owner'), 'me');
    assert.equal(await read('deploy', 'calico-typha', '.spec.replicas'), '3');
  });
});
