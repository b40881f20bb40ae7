import assert from 'node:assert/strict';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import type { Scenario } from '../../../src/sandbox/scenario.ts';
import { sandboxCommand } from '../../support/sandbox-command.ts';
import { installedSandbox } from '../../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

const AGENT = { namespace: 'kube-system', name: 'netsvc-node' };

interface Told extends KubeObject {
  readonly involvedObject: { readonly kind: string; readonly namespace: string; readonly name: string; readonly uid: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly reportingComponent: string;
}

const open = () => installedSandbox({ cli: false });

const eventsOf = ({ cluster }: Scenario): readonly Told[] =>
  (cluster.store.list(K.Event) as unknown as Told[])
    .filter(({ reportingComponent }) => reportingComponent === 'kubectl-netsvc-upgrade')
    .toSorted((one, other) => Number(one.metadata.resourceVersion) - Number(other.metadata.resourceVersion));
const toldIn = (scenario: Scenario) => eventsOf(scenario).map(({ type, reason, message }) => `${type} ${reason} ${message}`);

const RUN = String.raw`\(run \d{8}T\d{6}Z-00000000, by [^)]+\)`;

describe('events of the agents’ DaemonSet', function () {
  this.timeout(60_000);

  it('tell where an upgrade begins and ends, from what to what, by whom', async () => {
    const scenario = await open();
    assert.equal(await sandboxCommand(scenario).run('run', '--yes'), 0);
    const [begun = '', ended = '', ...more] = toldIn(scenario);
    assert.match(begun, new RegExp(`^Normal NetsvcUpgradeStarted Upgrade v3.26.4 → ${NETSVC_TARGET} started at stage apply ${RUN}$`));
    assert.match(ended, new RegExp(`^Normal NetsvcUpgradeCompleted Upgrade v3.26.4 → ${NETSVC_TARGET} is done ${RUN}$`));
    assert.deepEqual(more, []);
    const uid = scenario.cluster.store.get(K.DaemonSet, AGENT.name, AGENT.namespace)?.metadata.uid;
    for (const { involvedObject, metadata } of eventsOf(scenario)) {
      assert.deepEqual(involvedObject, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENT, uid });
      assert.equal(metadata.namespace, AGENT.namespace);
    }
  });

  it('are none where nothing is written: in a plan, in dry runs, and once everything is done', async () => {
    const scenario = await open();
    for (const argv of [['plan'], ['run', '--dry-run=server'], ['run', '--dry-run=client'], ['preflight']])
      await sandboxCommand(scenario).run(...argv);
    const declined = sandboxCommand(scenario);
    declined.answers = [false];
    assert.equal(await declined.run('run'), 5);
    assert.deepEqual(toldIn(scenario), []);
    await sandboxCommand(scenario).run('run', '--yes');
    const after = toldIn(scenario);
    await sandboxCommand(scenario).run('run', '--yes');
    assert.deepEqual(toldIn(scenario), after);
  });

  it('tell of a single stage that it is done, and of the upgrade once it is proved', async () => {
    const scenario = await open();
    assert.equal(await sandboxCommand(scenario).run('apply', '--yes'), 0);
    const [begun = '', ended = ''] = toldIn(scenario);
    assert.match(begun, / started at stage apply /);
    assert.match(ended, new RegExp(`^Normal NetsvcUpgradeStageCompleted Upgrade v3.26.4 → ${NETSVC_TARGET}: stage apply is done ${RUN}$`));
    await sandboxCommand(scenario).run('run', '--yes');
    assert.match(toldIn(scenario).slice(2).join('\n'), /^Normal NetsvcUpgradeCompleted .* is done [^\n]*$/);
  });

  it('tell of a failure with its stage and cause, and of nothing that a Secret holds', async () => {
    const scenario = await open();
    const { registry } = scenario.cluster;
    const apply = registry.apply.bind(registry);
    Object.assign(registry, {
      apply: (...given: Parameters<typeof apply>) => {
        const [kind, , options] = given;
        if (kind.kind === 'DaemonSet' && options.dryRun !== true)
          throw new ApiFailure(500, 'InternalError', `admission says no to https://user:geheim@hook/${'x'.repeat(3000)}`);
        return apply(...given);
      },
    });
    assert.equal(await sandboxCommand(scenario).run('run', '--yes'), 1);
    const ended = toldIn(scenario).at(-1) ?? '';
    assert.match(ended, new RegExp(`^Warning NetsvcUpgradeFailed Upgrade v3.26.4 → ${NETSVC_TARGET} failed at stage apply ${RUN}: `));
    assert.doesNotMatch(ended, /geheim/);
    for (const { message } of eventsOf(scenario)) assert.ok(Buffer.byteLength(message) <= 1024);
    Object.assign(registry, { apply });
    await scenario.clock.sleep(1_000);
    assert.equal(await sandboxCommand(scenario).run('run', '--yes'), 0);
    assert.match(
      toldIn(scenario)[2] ?? '',
      new RegExp(`^Normal NetsvcUpgradeStarted Upgrade v3.26.4 → ${NETSVC_TARGET} resumed at stage apply ${RUN}$`),
    );
  });

  it('change nothing where the account may make none', async () => {
    const scenario = await open();
    const { registry } = scenario.cluster;
    const create = registry.create.bind(registry);
    Object.assign(registry, {
      create: (...given: Parameters<typeof create>) => {
        if (given[0].kind === 'Event') throw new ApiFailure(403, 'Forbidden', 'may not create events');
        return create(...given);
      },
    });
    const bench = sandboxCommand(scenario);
    assert.equal(await bench.run('run', '--yes'), 0, bench.err());
    assert.doesNotMatch(bench.out() + bench.err(), /event/i);
    assert.deepEqual(toldIn(scenario), []);
  });

  it('keep the reason of a wait for pods that took too long, which --notify calls stuck', async () => {
    const scenario = await open();
    scenario.cluster.nodes.fault('node-02', 'not-ready');
    assert.equal(await sandboxCommand(scenario).run('run', '--yes', '--timeout', '1m'), 124);
    assert.match(toldIn(scenario).at(-1) ?? '', /^Warning NetsvcUpgradeFailed .* failed at stage apply /);
  });
});
