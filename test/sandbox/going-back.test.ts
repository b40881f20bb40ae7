import assert from 'node:assert/strict';
import { chains } from '../../src/features/chain.ts';
import {
  readMissed,
  rollbackCheckStage,
  rollbackLabelsStage,
  rollbackNamesStage,
  rollbackStopStage,
} from '../../src/features/going-back/index.ts';
import { readInstalled } from '../../src/features/survey/index.ts';
import { jsonAt } from '../../src/kernel/json.ts';
import { K } from '../../src/kernel/kinds.ts';
import { crdName } from '../../src/kernel/object.ts';
import type { AccessRequest } from '../../src/kernel/ports.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { assertDone, faultPoints, isRead, openFindings } from '../support/owner-faults.ts';
import { elsewhere } from '../support/owner-lock.ts';
import { sampled } from '../support/owner-sweep.ts';
import {
  addPolicy,
  controllersOf,
  goingBackStages,
  inForce,
  kindOf,
  OLD,
  POLICIES,
  podsOf,
  renamed,
  rollBack,
  storedNames,
  upgradedSandbox,
} from '../support/rolled-back.ts';
import { contextIn, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { seedOf } from '../support/seed.ts';

/** Of the faults that end no process. */
const SAMPLE = 30;

const MADE = '2026-01-01T00:00:00Z';
const BACK = [...POLICIES, 'kept'].map((name) => `default.${name}`).sort();

const replicasOf = (scenario: Scenario) => jsonAt(controllersOf(scenario)?.spec, 'replicas');

describe('the stages of a rollback, on the sandbox', function () {
  this.timeout(120_000);

  it('stop the controllers, show labels and put names back; again, they write nothing', async () => {
    const scenario = await upgradedSandbox();
    const before = inForce(scenario);
    const { outcome } = await rollBack(scenario);
    assertDone(outcome, 'rollback');
    assert.deepEqual([replicasOf(scenario), podsOf(scenario)], [0, []]);
    assert.deepEqual([storedNames(scenario), storedNames(scenario, 'NetworkPolicy')], [BACK, ['default.web']]);
    assert.deepEqual(inForce(scenario), before);
    const web = scenario.cluster.store.get(kindOf(scenario, 'GlobalNetworkPolicy'), 'default.web');
    assert.deepEqual(web?.metadata.labels, { of: 'web' });
    const again = await rollBack(scenario);
    assertDone(again.outcome, 'again');
    assert.deepEqual(
      again.requests.filter((what) => !isRead(what)),
      [],
    );
  });

  it('are performed again where something was written meanwhile for the newer release, which is named until then', async () => {
    const scenario = await upgradedSandbox();
    assertDone((await rollBack(scenario)).outcome, 'rollback');
    const missed = async () => {
      const context = { ...contextIn(scenario, { release: OLD }, renamed), intent: { kind: 'rollback' } as const };
      const ports = sandboxPorts(scenario);
      const found = await readMissed(ports, context, await readInstalled(ports, context));
      return 'value' in found ? found.value?.map(({ object, detail }) => `${object.name}: ${detail}`) : found.unread;
    };
    assert.deepEqual(await missed(), []);
    addPolicy(scenario, 'default.late', { noted: { labels: { of: 'late' }, creationTimestamp: '2020-01-01T00:00:00Z' } });
    addPolicy(scenario, 'later', { noted: { name: 'later', creationTimestamp: '2020-01-01T00:00:00Z' } });
    assert.deepEqual(await missed(), ['default.late: not seen: of', 'later: asked for as default.later']);
    assertDone((await rollBack(scenario)).outcome, 'again');
    assert.deepEqual(await missed(), []);
  });

  it('do nothing in an upgrade', async () => {
    const scenario = await upgradedSandbox();
    const outcome = await performIn(scenario, goingBackStages);
    assertDone(outcome, 'upgrade');
    assert.equal(replicasOf(scenario), 1);
    assert.deepEqual(storedNames(scenario), ['cache', 'db', 'default.kept', 'web']);
  });

  it('note how many controllers there were, before they are stopped', async () => {
    const scenario = await upgradedSandbox();
    await rollBack(scenario, { stages: [rollbackStopStage] });
    const [kept] = [...scenario.state.kept]
      .filter(([id]) => id.includes('/rollback-stop/'))
      .map(([, content]) => JSON.parse(content) as unknown);
    const { changes } = kept as { readonly changes: readonly { readonly before: object; readonly after: object }[] };
    assert.deepEqual(
      changes.map(({ before, after }) => [before, after]),
      [[{ '/spec/replicas': 1 }, { '/spec/replicas': 0 }]],
    );
  });

  it('leave controllers alone that are of the old release', async () => {
    const scenario = await upgradedSandbox();
    const { outcome } = await rollBack(scenario, { stages: [rollbackStopStage], flags: { release: 'v3.26.4' } });
    assertDone(outcome, 'rollback');
    assert.equal(replicasOf(scenario), 1);
  });

  it('put no name back while controllers run that rename again', async () => {
    const scenario = await upgradedSandbox();
    const { outcome } = await rollBack(scenario, { stages: [rollbackNamesStage] });
    assert.equal(outcome.exit, 'blocked');
    assert.match(
      outcome.message ?? '',
      /rename policies again as soon as they run: Deployment\/kube-system\/netsvc-kube-controllers wants 1/,
    );
    assert.deepEqual(storedNames(scenario), ['cache', 'db', 'default.kept', 'web']);
  });

  it('put none back either once somebody starts them in between', async () => {
    const scenario = await upgradedSandbox();
    assertDone((await rollBack(scenario, { stages: [rollbackStopStage] })).outcome, 'stop');
    const { store } = scenario.cluster;
    let isStarted = false;
    const { outcome } = await rollBack(scenario, {
      stages: [rollbackNamesStage],
      flags: { parallel: 1 },
      onWritten: async () => {
        const deployment = controllersOf(scenario);
        if (isStarted || !deployment || storedNames(scenario).includes('web')) return;
        isStarted = true;
        store.update(K.Deployment, { ...deployment, spec: { ...(deployment.spec as object), replicas: 1 } });
      },
    });
    assert.equal(outcome.exit, 'blocked', outcome.message);
    const names = [...storedNames(scenario), ...storedNames(scenario, 'NetworkPolicy')];
    assert.ok(isStarted && names.some((name) => !name.startsWith('default.')), names.join());
  });

  it('are all performed: none waits to be asked for', () => {
    assert.deepEqual(
      chains.rollback.filter(({ optional }) => optional).map(({ id }) => id),
      [],
    );
  });

  it('say that a migration of host endpoints stays, and how it is taken back', async () => {
    const scenario = await upgradedSandbox();
    const notesWhere = async (wrote: readonly string[]) => {
      const takesBack = { runId: 'r', from: OLD, to: 'v3.26.0', wrote, startedAt: MADE };
      const context = { ...contextIn(scenario, { release: OLD }, renamed), goal: { release: OLD, takesBack } };
      const plan = (await rollbackCheckStage.open(sandboxPorts(scenario), { ...context, intent: { kind: 'rollback' } })).plan();
      return 'skip' in plan ? plan.skip : (plan.notes ?? []).map(String);
    };
    assert.deepEqual(await notesWhere(['apply']), []);
    assert.match((await notesWhere(['apply', 'hep']))[0] ?? '', /automatic host endpoints stay.*kubectl netsvc-upgrade hep --undo$/);
  });

  it('refuse an account without a right that only a rollback needs, before anything is written', async () => {
    const scenario = await upgradedSandbox();
    const [first] = chains.rollback;
    assert.ok(first);
    const allowed = await rollBack(scenario, { stages: [first] });
    assertDone(allowed.outcome, 'with all rights');
    const { writes } = scenario.cluster.faults;
    Object.assign(scenario.cluster, {
      reviewAccess: async (requests: readonly AccessRequest[]) =>
        requests.map(({ verb, resource }) => !(verb === 'delete' && resource === 'clusterroles')),
    });
    const denied = await rollBack(scenario, { stages: [first] });
    const finding = denied.outcome.findings.find(({ id }) => id === 'NS-009');
    assert.match(finding?.message ?? '', /^1 permission missing: delete clusterroles/);
    assert.match(
      `${finding?.next}`,
      /^kubectl netsvc-upgrade permissions --for rollback --profile \S+ --path manifest .*--release v3\.25\.0$/,
    );
    assert.deepEqual([denied.outcome.exit, scenario.cluster.faults.writes], ['blocked', writes]);
  });

  it('ask for the rights of a network probe, where there is one, and for none to read what is not served', async () => {
    const scenario = await upgradedSandbox();
    const [first] = chains.rollback;
    assert.ok(first);
    const kinds = (await scenario.cluster.discover()).kinds.map(crdName);
    const asked: string[] = [];
    Object.assign(scenario.cluster, {
      reviewAccess: async (requests: readonly AccessRequest[]) => {
        asked.push(
          ...requests.map(({ verb, group, resource, namespace }) => `${verb} ${crdName({ group, plural: resource })} ${namespace}`),
        );
        return requests.map(() => true);
      },
    });
    assertDone((await rollBack(scenario, { stages: [first] })).outcome, 'alone');
    const reads = asked.filter((one) => /^(get|list|watch) /.test(one) && !one.includes('*'));
    assert.deepEqual(
      reads.filter((one) => !kinds.includes(one.split(' ')[1] ?? '')),
      [],
    );
    assert.ok(reads.length > 20 && !asked.includes('create jobs.batch probe'), asked.join('\n'));
    const flags = { 'probe-network': true, 'probe-image': 'registry.example/probe', 'probe-namespace': 'probe' };
    assertDone((await rollBack(scenario, { stages: [first], flags })).outcome, 'with a probe');
    assert.ok(asked.includes('create jobs.batch probe'), asked.join('\n'));
  });

  it('are performed from one terminal at a time: a second one is told who is at work, and writes nothing', async () => {
    const scenario = await upgradedSandbox();
    const others: string[] = [];
    const requests: string[] = [];
    const { outcome } = await rollBack(scenario, {
      onWritten: async () => {
        if (others.length > 0) return;
        others.push('begun');
        const second = await rollBack(scenario, { runner: elsewhere('somebody-else') });
        requests.push(...second.requests);
        others.push(second.outcome.exit, second.outcome.message ?? '');
      },
    });
    assertDone(outcome, 'the first');
    assert.equal(others[1], 'locked');
    assert.match(others[2] ?? '', /\bme\b/);
    assert.deepEqual([storedNames(scenario), requests.filter((what) => !isRead(what))], [BACK, []]);
  });

  it('refuse while a GitOps tool would put the new release back', async () => {
    const scenario = await upgradedSandbox();
    const { store, faults } = scenario.cluster;
    const agents = store.get(K.DaemonSet, 'netsvc-node', 'kube-system') ?? assert.fail('no agents');
    const labels = { ...agents.metadata.labels, 'kustomize.toolkit.fluxcd.io/name': 'network' };
    store.update(K.DaemonSet, { ...agents, metadata: { ...agents.metadata, labels } });
    const { writes } = faults;
    const { outcome } = await rollBack(scenario);
    assert.deepEqual([outcome.exit, faults.writes], ['blocked', writes]);
    assert.match(openFindings(outcome), /^NS-110 the installation is also managed by Flux: it will put back what its repository says$/);
    const finding = outcome.findings.find(({ id }) => id === 'NS-110');
    assert.match(`${finding?.hint}`, /^Take the upgrade back in its source as well/);
    assertDone((await rollBack(scenario, { flags: { accept: ['NS-110'] } })).outcome, 'with the tool stopped');
  });

  it('refuse before anything is written, by name', async () => {
    const scenario = await upgradedSandbox();
    addPolicy(scenario, 'a.b');
    addPolicy(scenario, 'default.web', { spec: { selector: 'other()' } });
    addPolicy(scenario, 'sec.x', { spec: { tier: 'sec' } });
    const before = scenario.cluster.faults.writes;
    const { outcome, requests } = await rollBack(scenario);
    assert.equal(outcome.exit, 'blocked');
    const open = openFindings(outcome);
    assert.match(open, /NS-760 1 policy is in tiers, which v3\.25\.0 does not know: GlobalNetworkPolicy\/sec\.x/);
    assert.match(open, /NS-762 1 policy has no name that v3\.25\.0 could ask for: GlobalNetworkPolicy\/a\.b/);
    assert.match(open, /NS-763 1 policy differs from the one that has its former name: GlobalNetworkPolicy\/web/);
    assert.deepEqual([requests.filter((what) => !isRead(what)), scenario.cluster.faults.writes], [[], before]);
    const accepted = await rollBack(scenario, { stages: [rollbackCheckStage], flags: { accept: ['NS-760', 'NS-762', 'NS-763'] } });
    assert.equal(accepted.outcome.exit, 'blocked', 'nobody can accept them');
  });

  it('refuse labels that Kubernetes does not take, unless that is accepted', async () => {
    const scenario = await upgradedSandbox();
    addPolicy(scenario, 'odd', { noted: { name: 'odd', labels: { 'a b': 'c', d: 'e' } } });
    const refused = await rollBack(scenario, { stages: [rollbackLabelsStage] });
    assert.match(openFindings(refused.outcome), /NS-764 1 object has labels that Kubernetes refuses, .*GlobalNetworkPolicy\/odd/);
    const { outcome } = await rollBack(scenario, { stages: [rollbackLabelsStage], flags: { accept: ['NS-764=GlobalNetworkPolicy/odd'] } });
    assertDone(outcome, 'accepted');
    assert.deepEqual(scenario.cluster.store.get(kindOf(scenario, 'GlobalNetworkPolicy'), 'odd')?.metadata.labels, { d: 'e' });
  });

  it('take a change of a policy with them that is made between its copy and its end', async () => {
    const scenario = await upgradedSandbox();
    assertDone((await rollBack(scenario, { stages: [rollbackStopStage, rollbackLabelsStage] })).outcome, 'first');
    const kind = kindOf(scenario, 'GlobalNetworkPolicy');
    const { store } = scenario.cluster;
    let isChanged = false;
    const cluster = {
      ...scenario.cluster,
      async get(...asked: Parameters<typeof scenario.cluster.get>) {
        const policy = store.get(kind, 'web');
        if (asked[1] === 'default.web' && asked[0].kind === kind.kind && policy && !isChanged) {
          isChanged = true;
          store.update(kind, { ...policy, spec: { selector: 'changed()' } });
        }
        return scenario.cluster.get(...asked);
      },
    };
    const { outcome } = await rollBack(scenario, { stages: [rollbackNamesStage], cluster });
    assertDone(outcome, 'rollback');
    assert.ok(isChanged);
    assert.deepEqual(storedNames(scenario), BACK);
    assert.deepEqual(inForce(scenario)['GlobalNetworkPolicy/web'], ['{"selector":"changed()"}']);
  });

  const seed = seedOf(process.env, 20261128);
  it(`come to the same end wherever they are killed, and at ${SAMPLE} other faults (SEED=${seed}); every policy is in force at every moment`, async () => {
    const stages = [rollbackStopStage, rollbackLabelsStage, rollbackNamesStage];
    const clean = await upgradedSandbox();
    const wanted = inForce(clean);
    const { outcome, requests } = await rollBack(clean, { stages });
    assertDone(outcome, 'clean');
    const writes = faultPoints(requests).filter(({ at }) => !isRead(requests[at - 1] ?? ''));
    const kills = writes.filter(({ type }) => type === 'kill-before' || type === 'kill-after');
    assert.ok(kills.length > 20, requests.join('\n'));
    const points = [
      ...kills,
      ...sampled(
        writes.filter((one) => !kills.includes(one)),
        SAMPLE,
        seed,
      ),
    ];
    for (const fault of points) {
      const scenario = await upgradedSandbox();
      const where = `${fault.type} at request ${fault.at} (${requests[fault.at - 1]})`;
      const onWritten = async () => assert.deepEqual(inForce(scenario), wanted, where);
      await rollBack(scenario, { stages, fault, onWritten }).catch(() => undefined);
      scenario.cluster.faults.killed = false;
      assert.deepEqual(inForce(scenario), wanted, where);
      const again = await rollBack(scenario, { stages, onWritten });
      assertDone(again.outcome, where);
      assert.deepEqual([storedNames(scenario), storedNames(scenario, 'NetworkPolicy')], [BACK, ['default.web']], where);
      assert.deepEqual([inForce(scenario), replicasOf(scenario), podsOf(scenario)], [wanted, 0, []], where);
    }
  });

  it(`know ${OLD} as the release that is gone back to`, async () => {
    const plans: string[] = [];
    await rollBack(await upgradedSandbox(), {
      observe: (event) => {
        if (event.type === 'planned') plans.push(...event.plan.actions.map(({ title }) => title));
      },
    });
    assert.deepEqual(plans, [
      'scale Deployment/kube-system/netsvc-kube-controllers from 1 to 0',
      'wait until no pod of Deployment/kube-system/netsvc-kube-controllers is left',
      'put labels and annotations on 4 stored objects, where v3.25.0 reads them',
      'store 4 policies under the names that v3.25.0 asks for',
    ]);
  });
});
