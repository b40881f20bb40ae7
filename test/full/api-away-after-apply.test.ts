import assert from 'node:assert/strict';
import { installManifest } from '../control-plane/install.ts';
import { playServiceApiServer, type ServiceApiServer } from '../control-plane/service-api-server.ts';
import { until } from '../control-plane/until.ts';
import { type InstalledCluster, installedCluster } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const FROM = 'v3.27.5';
const TO = CALICO_TARGET;
const API_SERVICE = '/apis/apiregistration.k8s.io/v1/apiservices/v3.projectcalico.org';
const HTTPS = 443;
const NOBODY = 9;

describe('the v3 API, away after its server was replaced', function () {
  this.timeout(280_000);
  let cluster: InstalledCluster;
  let server: ServiceApiServer;

  beforeEach(async () => {
    cluster = await installedCluster({ manifest: manifestFile(FROM, 'calico.yaml'), nodes: 2, clusterNetwork: true });
    await installManifest(cluster.plane, manifestFile(FROM, 'apiserver.yaml'));
    server = await playServiceApiServer(cluster.plane);
  });
  afterEach(async () => {
    await server?.stop();
    await cluster?.stop();
  });

  const reach = (port: number) => cluster.plane.api.send('PATCH', API_SERVICE, { spec: { service: { port } } });

  /** Resolves once the new server's manifest is applied and nobody is reached any more. */
  async function cutOff(): Promise<void> {
    await until('the new API server is applied', async () => {
      const image = await cluster.read('deployment -n calico-apiserver calico-apiserver', '{.spec.template.spec.containers[0].image}');
      return image.endsWith(TO);
    });
    await reach(NOBODY);
  }

  const run = (...flags: readonly string[]) =>
    cluster.upgrade('run', '--yes', '--skip', 'cli', '--profile', 'calico', '--release', TO, '--manifest-url', releases, ...flags);

  it('is waited for: the run goes on when it answers again', async () => {
    const away = cutOff().then(() => new Promise((resolve) => setTimeout(resolve, 1_500)));
    const [{ exitCode, stdout, stderr }] = await Promise.all([run(), away.then(() => reach(HTTPS))]);
    assert.equal(exitCode, 0, `${stdout}\n${stderr}`);
    assert.match(stderr, /wait until APIService v3\.projectcalico\.org is available/);
    assert.doesNotMatch(stdout, /× NS-741/);
  });

  it('is not waited for without end: the run says what is wrong, and no acceptance is offered', async () => {
    const [{ exitCode, stdout, stderr }] = await Promise.all([run('--timeout', '15s'), cutOff()]);
    assert.equal(exitCode, 124, `${stdout}\n${stderr}`);
    assert.match(stderr, /APIService not available after 15 s: v3\.projectcalico\.org: /);
    assert.match(stdout, /kubectl describe apiservice v3\.projectcalico\.org/);
    assert.doesNotMatch(`${stdout}${stderr}`, /--accept NS-741/);
    await reach(HTTPS);
    assertSucceeded(await run());
  });
});
