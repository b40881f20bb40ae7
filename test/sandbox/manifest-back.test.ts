import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import { podSpecOf, recordsIn } from '../../src/manifest/prepare.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { back, describeKilledBack, forward, installed, stateOf, upgraded } from '../support/describe-manifest-back.ts';
import { assertDone, isRead } from '../support/owner-faults.ts';
import { storedNames } from '../support/rolled-back.ts';
import { sandboxPorts } from '../support/sandbox-ports.ts';
import { seedOf } from '../support/seed.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const AGENTS = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'netsvc-node' };

/** Two that the release sets itself: a value that a person wrote over its own is lost where nobody carries it. */
const [BEFORE, AMIDST, SINCE] = ['NETSVC_LOG_SEVERITY', 'OWN_VARIABLE', 'NETSVC_HEALTH_ENABLED'] as const;

/** As a person does with `kubectl set env`, who waits until the agents have it. */
async function edit({ cluster, clock }: Scenario, variable: string): Promise<void> {
  const live = cluster.store.get(K.DaemonSet, AGENTS.name, AGENTS.namespace) ?? assert.fail();
  const env = recordsIn(recordsIn(podSpecOf(live)?.containers)[0]?.env);
  const at = env.findIndex(({ name }) => name === variable);
  const all = '/spec/template/spec/containers/0/env';
  const patch =
    at < 0
      ? ({ op: 'add', path: `${all}/-`, value: { name: variable, value: 'mine' } } as const)
      : ({ op: 'replace', path: `${all}/${at}/value`, value: 'mine' } as const);
  await cluster.patch(K.DaemonSet, AGENTS, [patch], 'kubectl-set');
  await clock.sleep(60_000);
}

const OF_TARGET = new RegExp(`:${NETSVC_TARGET}"`);
const agentsOf = ({ cluster: { store } }: Scenario) => JSON.stringify(store.get(K.DaemonSet, AGENTS.name, AGENTS.namespace));

describe('going back on the manifest path, on the sandbox', function () {
  this.timeout(600_000);

  it('gives every object its former state; again, it writes nothing', async () => {
    const scenario = await installed();
    const before = stateOf(scenario);
    await upgraded(scenario);
    assertDone((await back(scenario)).outcome, 'rollback');
    assert.deepEqual([stateOf(scenario), storedNames(scenario)], [before, ['default.web']]);
    const again = await back(scenario);
    assertDone(again.outcome, 'again');
    assert.deepEqual(
      again.requests.filter((what) => !isRead(what) && !/^(record|keep|append|watch)/.test(what)),
      [],
    );
  });

  it('carries what people changed before the upgrade, in the middle of it, and since', async () => {
    const scenario = await installed();
    await edit(scenario, BEFORE);
    const { requests } = await forward(await installed());
    const at = requests.lastIndexOf('kubectl apply --server-side --force-conflicts', requests.indexOf('watch daemonsets/')) + 1;
    assert.equal((await forward(scenario, { at, type: 'kill-after' })).outcome?.stoppedAt, 'apply');
    assert.match(agentsOf(scenario), OF_TARGET);
    sandboxPorts(scenario); // Another process: what was locked is free.
    await edit(scenario, AMIDST);
    await upgraded(scenario);
    await edit(scenario, SINCE);
    assertDone((await back(scenario)).outcome, 'rollback');
    const agents = agentsOf(scenario);
    assert.doesNotMatch(agents, OF_TARGET);
    const own = [...agents.matchAll(/"name":"(\w+)","value":"mine"/g)].map(([, name]) => name);
    assert.deepEqual(own.toSorted(), [SINCE, BEFORE, AMIDST]);
  });

  it('takes back an upgrade behind which a stage was performed alone', async () => {
    const scenario = await installed();
    const before = stateOf(scenario);
    await upgraded(scenario);
    const { records } = sandboxPorts(scenario);
    const upgrade = (await records.load()) ?? assert.fail();
    const { finishedAt: _, ...open } = upgrade;
    const intent = { kind: 'upgrade', to: NETSVC_TARGET, from: NETSVC_TARGET } as const;
    await records.append([{ id: `${upgrade.runId}/record`, content: upgrade }]);
    await records.save({ ...open, intent, runId: upgrade.runId.replace(/^\d/, '9'), wrote: ['hep'], kept: [] });
    assertDone((await back(scenario)).outcome, 'rollback');
    assert.deepEqual(stateOf(scenario), before);
  });
});

describeKilledBack({ others: 8, seed: seedOf(process.env, 49) });
