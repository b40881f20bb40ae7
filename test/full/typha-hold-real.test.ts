import assert from 'node:assert/strict';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { CALICO, simulateService } from '../control-plane/service-simulator.ts';
import { until } from '../control-plane/until.ts';
import { clusterAround, folderFor, opened, PATHS, shared } from '../support/installed-cluster.ts';
import { installOperated } from '../support/real-operated.ts';
import { runOperators } from '../support/real-operator.ts';
import { realProgram } from '../support/real-service.ts';
import { playRefusedAgents } from '../support/refused-agents.ts';
import { releases } from '../support/releases.ts';
import { CALICO_OPERATOR, CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const TARGET = { release: CALICO_TARGET, operator: CALICO_OPERATOR };
const SOURCES = [
  { release: 'v3.27.5', operator: 'v1.32.12' },
  { release: 'v3.23.5', operator: 'v1.27.17' },
];
const NODES = 30;
/** As real agents: they turn not ready so long after Typha refused them. Were all new before that, nothing would be lost without the hold. */
const [REFUSED_MS, READY_MS] = [90_000, 10_000];
const TYPHAS = '{.status.readyReplicas}/{.status.replicas}';
const { deployments, agents: daemonSets, installations: INSTALLATIONS } = PATHS;
const RUN = ['run', '--yes', '--skip', 'cli', '--profile', 'calico', '--release', TARGET.release, '--manifest-url', releases] as const;

for (const { release, operator } of SOURCES)
  describe(`the real operators ${operator} and ${TARGET.operator}: Typha is held while the agents are upgraded`, function () {
    this.timeout(1_500_000);
    const [old, target] = [realProgram('operator', operator), realProgram('operator', TARGET.operator)];
    if ('missing' in old || 'missing' in target) {
      it(`loses one agent at a time: ${'missing' in old ? old.missing : 'missing' in target ? target.missing : ''}`);
      return;
    }
    const cluster = shared(() =>
      opened(async (endBy) => {
        const home = await folderFor(endBy);
        const plane = await startControlPlane({ readyAfterMs: READY_MS, maxMinutes: 30 });
        endBy(plane.stop);
        const operators = runOperators(plane, { [operator]: old.program, [TARGET.operator]: target.program });
        endBy(operators.stop);
        const releasing = simulateService(plane.api, CALICO);
        endBy(releasing.stop);
        await plane.addNodes(NODES);
        await installOperated(plane, release, operator);
        const agents = playRefusedAgents(plane.api, REFUSED_MS);
        endBy(agents.stop);
        const around = clusterAround(plane, [deployments, daemonSets, INSTALLATIONS], { home });
        // Operators up to v1.27 note no release in the status.
        const good = () => around.read('tigerastatus calico', '{.status.conditions[?(@.type=="Available")].status}');
        await until(`${release} runs`, async () => (await good()) === 'True', 300_000);
        // The operator scales Typha after it has said that all is available.
        await until('Typha runs', async () => (await around.read('deploy calico-typha -n calico-system', TYPHAS)) === '3/3', 120_000);
        return { ...around, agents };
      }),
    );

    it('loses one agent at a time, and ends at the target with nothing held', async () => {
      cluster.agents.begin();
      assertSucceeded(await cluster.upgrade(...RUN));
      assert.equal(cluster.agents.lowest(), NODES - 1, 'maxUnavailable is 1');
      for (const what of ['ds calico-node', 'deploy calico-typha'])
        assert.match(
          await cluster.read(`${what} -n calico-system`, '{.spec.template.spec.containers[0].image}'),
          pattern`:${CALICO_TARGET}$`,
        );
      const { stdout } = await cluster.plane.kubectl(['get', 'deploy,rs,ds', '-n', 'calico-system', '-o', 'yaml']);
      assert.doesNotMatch(stdout, /unsupported\.operator\.tigera\.io\/ignore|netsvc-upgrade\/held-by/);
    });
  });
