import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../control-plane/until.ts';
import { shared } from '../support/installed-cluster.ts';
import { operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const FROM = 'v3.30.7';
const CALICO = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const RUN = ['run', '--yes', '--skip', 'cli', '--until', 'agents', '--max-unavailable', '2', ...CALICO] as const;
const COMMIT = ['commit', '--yes', '--skip', 'cli', ...CALICO] as const;
const IMAGE = '{.spec.template.spec.containers[0].image}';
const IGNORED = 'unsupported.operator.tigera.io/ignore';
const RELEASED = [`${IGNORED}-`, 'netsvc-upgrade/held-by-'];
/** All signs have to stay for 15 s. */
const LONGER_MS = 25_000;
const ONE = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };

/** One story, in order, with no program of the real service: the operator, the agents and the v3 API server are played. */
describe('--until agents under an operator, on a real control plane', function () {
  this.timeout(400_000);
  let serve: () => void = () => undefined;
  const served = new Promise<void>((resolve) => {
    serve = resolve;
  });
  const hold = async (step: string) => (step === 'bring the API server' ? served : undefined);
  const cluster = shared(() => operatedCluster({ mode: 'well', pace: 0.1, hold }, { release: FROM, apiServer: true }));
  const release = async (what: string) => (await cluster.read(`${what} -n calico-system`, IMAGE)).split(':').at(-1);
  const looked = async () => {
    const status = await cluster.upgrade('status');
    assertSucceeded(status);
    return status.stdout.replaceAll(/\s+/g, ' ');
  };
  /** As somebody does who applies it on the server. */
  const applied = async (nodeUpdateStrategy: object) => {
    const installation = {
      apiVersion: 'operator.tigera.io/v1',
      kind: 'Installation',
      metadata: { name: 'default' },
      spec: { nodeUpdateStrategy },
    };
    assertSucceeded(
      await cluster.plane.kubectl(['apply', '--server-side', '--field-manager=helm', '-f', '-'], JSON.stringify(installation)),
    );
  };
  const releaseHold = (name: string) => cluster.plane.kubectl(['annotate', 'deploy', name, '-n', 'calico-system', ...RELEASED]);

  it('ends only once the v3 API server is the new one', async () => {
    await applied(ONE);
    let isOver = false;
    const run = cluster.upgrade(...RUN).finally(() => {
      isOver = true;
    });
    const agents = '{.status.updatedNumberScheduled}/{.status.numberAvailable}';
    await until('all agents are new', async () => {
      const isNew = (await release('ds calico-node')) === CALICO_TARGET;
      return isNew && (await cluster.read('ds -n calico-system calico-node', agents)) === '3/3';
    });
    await pause(LONGER_MS);
    assert.equal(isOver, false);
    serve();
    assertSucceeded(await run);
    assert.equal(await cluster.read('apiservice v3.projectcalico.org', '{.spec.service.namespace}'), 'calico-system');
    assert.deepEqual([await release('deploy calico-typha'), await release('deploy calico-kube-controllers')], [FROM, FROM]);
  });

  it('leaves its pace to whoever owned it', async () => {
    assert.equal(await cluster.read('installation default', '{.spec.nodeUpdateStrategy.rollingUpdate.maxUnavailable}'), '1');
    const managers = await cluster.plane.kubectl(['get', 'installation', 'default', '--show-managed-fields', '-o', 'json']);
    assert.doesNotMatch(managers.stdout, /netsvc-upgrade/);
    await applied({ ...ONE, rollingUpdate: { maxUnavailable: 3 } });
  });

  it('is over in status once somebody has removed its hold, and commit continues', async () => {
    assert.match(await looked(), /stopped on purpose, --until agents, for \S+ Open: Typha, controllers, wait,/);
    assertSucceeded(await releaseHold('calico-typha'));
    await until('Typha is new', async () => (await release('deploy calico-typha')) === CALICO_TARGET);
    assert.match(await looked(), /stopped on purpose, --until agents, for \S+ Open: controllers, wait,/);
    assertSucceeded(await releaseHold('calico-kube-controllers'));
    await until('the controllers are new', async () => (await release('deploy calico-kube-controllers')) === CALICO_TARGET);
    assert.match(await looked(), /--until agents is over: Typha and the controllers have the new release by now\. Open: wait,/);
    assertSucceeded(await cluster.upgrade(...COMMIT));
    assert.doesNotMatch(await looked(), /--until/);
  });
});
