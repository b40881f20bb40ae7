import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../control-plane/until.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const [OLD, NEW] = ['v3.27.5', CALICO_TARGET];
const folder = join(releases, NEW, 'manifests', 'alp');

describe('alp with every published template on a real control plane', function () {
  this.timeout(1_800_000);
  const cluster = shared(() => installedCluster({ manifest: manifestFile(NEW, 'calico.yaml'), nodes: 1 }));

  before(async () => {
    await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'istio-system' } });
    const labels = { app: 'istiod' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'discovery', image: 'docker.io/istio/pilot:0.0.0' }] } };
    await create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'istiod', namespace: 'istio-system' },
      spec: { selector: { matchLabels: labels }, template },
    });
  });

  const create = (object: object) => cluster.plane.kubectl(['create', '-f', '-'], JSON.stringify(object));
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.startsWith('istio-inject-configmap-')) : [];

  for (const file of files) {
    it(`${file}: the older sidecar's template becomes the target's, word for word, and comes back`, async () => {
      const version = /configmap-(.*)\.yaml/.exec(file)?.[1] ?? '';
      const mesh = version.split('.').length === 3 ? version : `${version}.4`;
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'istio-sidecar-injector', namespace: 'istio-system' } };
      await cluster.plane.kubectl(['create', '--save-config=false', '-f', '-'], JSON.stringify(map)).catch(() => undefined);
      const wanted = await patched(readFileSync(join(folder, file), 'utf8'));
      const old = wanted.replaceAll(`dikastes:${NEW}`, `dikastes:${OLD}`);
      assert.notEqual(old, wanted);
      await cluster.plane.kubectl([
        'patch',
        'configmap',
        map.metadata.name,
        '-n',
        'istio-system',
        '--type=merge',
        '-p',
        JSON.stringify({ data: { config: old } }),
      ]);
      await meshRuns(mesh);
      const result = await cluster.upgrade(
        'alp',
        '--only-template',
        '--yes',
        '--release',
        NEW,
        '--accept',
        'NS-733',
        '--manifest-url',
        releases,
      );
      assertSucceeded(result);
      assert.equal(await config(), wanted);
      assertSucceeded(await cluster.upgrade('alp', '--undo', '--yes', '--release', NEW, '--manifest-url', releases));
      assert.equal(await config(), old);
    });
  }

  /** The mesh's own upgrade, to its end: until then `alp` rightly refuses. */
  async function meshRuns(version: string): Promise<void> {
    const image = `docker.io/istio/pilot:${version}`;
    await cluster.plane.kubectl(['set', 'image', 'deployment/istiod', '-n', 'istio-system', `discovery=${image}`]);
    const images = () => cluster.read('pods -n istio-system -l app=istiod', '{.items[*].spec.containers[*].image}');
    await until(`only ${image} runs`, async () => (await images()) === image, 60_000);
  }

  const config = () => cluster.read('configmap istio-sidecar-injector -n istio-system', '{.data.config}');

  /** What kubectl itself makes of the file. */
  async function patched(text: string): Promise<string> {
    const args = [
      'patch',
      'configmap',
      'istio-sidecar-injector',
      '-n',
      'istio-system',
      '--dry-run=client',
      '-o',
      'jsonpath={.data.config}',
      '--patch',
      text,
    ];
    return (await cluster.plane.kubectl(args)).stdout;
  }
});
