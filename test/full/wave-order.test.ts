import assert from 'node:assert/strict';
import { installManifest } from '../control-plane/install.ts';
import { playServiceApiServer, type ServiceApiServer } from '../control-plane/service-api-server.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const FROM = 'v3.27.5';
const TO = CALICO_TARGET;

/** The waves by what is in them, in the order that is safe (domain §0.2, §0.6b). */
const WAVES = [
  { wave: 'agents', workloads: ['daemonset -n kube-system calico-node'] },
  { wave: 'typha', workloads: ['deployment -n kube-system calico-typha'] },
  { wave: 'add-ons', workloads: ['deployment -n calico-apiserver calico-apiserver', 'daemonset -n calico-system csi-node-driver'] },
  { wave: 'controllers', workloads: ['deployment -n kube-system calico-kube-controllers'] },
] as const;

interface Times {
  /** When the target was applied to the workload, ms. */
  readonly applied: number;
  /** When its last new pod was made, ms. */
  readonly rolled: number;
}

describe('waves on a real control plane, with Typha, the v3 API server and the CSI driver', function () {
  this.timeout(280_000);
  let server: ServiceApiServer | undefined;
  after(() => server?.stop());
  const manifest = manifestFile(FROM, 'calico-typha.yaml');
  const cluster = shared(() => installedCluster({ manifest, nodes: 4, clusterNetwork: true }));
  before(async () => {
    await installManifest(cluster.plane, manifestFile(FROM, 'apiserver.yaml'));
    await installManifest(cluster.plane, manifestFile(FROM, 'csi-driver.yaml'));
    server = await playServiceApiServer(cluster.plane);
  });

  /** What is not rolled and has to be there before any agent starts. */
  const FIRST_WAVE = [
    'crd bgpfilters.crd.projectcalico.org',
    'clusterrole calico-node',
    'clusterrole calico-kube-controllers',
    'configmap -n kube-system calico-config',
  ];

  async function timesOf(resource: string): Promise<Times> {
    const applied = await appliedAt(resource);
    const [kind = '', ...where] = resource.split(' ');
    const labels = JSON.parse(await cluster.read([kind, ...where].join(' '), '{.spec.selector.matchLabels}')) as Record<string, string>;
    const selector = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    const made = await cluster.read(
      `pods ${where.slice(0, 2).join(' ')} -l ${selector.join(',')}`,
      `{range .items[?(@.status.phase=="Running")]}{.metadata.creationTimestamp}{"\\n"}{end}`,
    );
    return { applied, rolled: latest(made) };
  }

  /** When the target was applied to an object, ms; NaN if it never was. */
  async function appliedAt(resource: string): Promise<number> {
    return latest(await cluster.read(resource, '{range .metadata.managedFields[?(@.manager=="kubectl")]}{.time}{"\\n"}{end}'));
  }

  const latest = (lines: string) => Math.max(...lines.trim().split('\n').map(Date.parse));

  it('finds both add-ons and plans a wave for them', async () => {
    const plan = await cluster.upgrade('plan', '--skip', 'cli', '--profile', 'calico', '--release', TO, '--manifest-url', releases);
    assertSucceeded(plan);
    assert.match(plan.stdout, /configuration → agents → typha → add-ons → controllers/);
  });

  it('are applied one after the other, each when the one before has rolled', async () => {
    assertSucceeded(
      await cluster.upgrade('run', '--yes', '--skip', 'cli', '--profile', 'calico', '--release', TO, '--manifest-url', releases),
    );
    const times: { readonly wave: string; readonly begun: number; readonly ended: number }[] = [];
    for (const { wave, workloads } of WAVES) {
      const each = await Promise.all(workloads.map(timesOf));
      for (const { applied, rolled } of each) assert.ok(Number.isFinite(applied) && Number.isFinite(rolled), wave);
      times.push({ wave, begun: Math.min(...each.map(({ applied }) => applied)), ended: Math.max(...each.map(({ rolled }) => rolled)) });
    }
    for (const [index, { wave, begun }] of times.entries()) {
      const before = times[index - 1];
      if (before) assert.ok(before.ended <= begun, `${wave} begun ${begun}, ${before.wave} ended ${before.ended}`);
    }
    for (const resource of FIRST_WAVE) {
      const applied = await appliedAt(resource);
      assert.ok(applied <= (times[0]?.begun ?? 0), `${resource} applied ${applied}, agents begun ${times[0]?.begun}`);
    }
    assert.equal(new Set(times.map(({ begun }) => begun)).size, WAVES.length, 'each wave at another second');
  });

  it('bring every component to the target', async () => {
    for (const workload of WAVES.flatMap(({ workloads }) => workloads)) {
      const images = await cluster.read(workload, '{.spec.template.spec.containers[*].image}');
      for (const image of images.split(' ')) assert.match(image, new RegExp(`:${TO.replaceAll('.', '\\.')}$`), `${workload}: ${image}`);
    }
  });
});
