import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { hepStage } from '../../src/features/hosts/stage.ts';
import type { EnginePorts } from '../../src/kernel/effect-type.ts';
import type { EngineEvent } from '../../src/kernel/event.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { Killed } from '../../src/sandbox/api-faults.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { labelled, removed, switched } from '../support/hep-kept.ts';
import { endpoints, kindOf, nodeLabels, oldEndpoint, stateOf, upgraded, watchForGaps } from '../support/hep-sandbox.ts';
import { performIn, sandboxPorts } from '../support/sandbox-ports.ts';

interface Played {
  readonly outcome: ChainOutcome | undefined;
  readonly events: readonly EngineEvent[];
}

type Change = (ports: EnginePorts) => EnginePorts;

/** A new process that migrates, or takes back; `change` is what happens around it. */
async function play(scenario: Scenario, undo: boolean, change: Change = (same) => same, accept: readonly string[] = []): Promise<Played> {
  const events: EngineEvent[] = [];
  const around = { ports: change(sandboxPorts(scenario)), observe: (event: EngineEvent) => void events.push(event) };
  const outcome = await performIn(scenario, [hepStage], { undo, accept }, around).catch(() => undefined);
  return { outcome, events };
}

const names = (scenario: Scenario) => endpoints(scenario).map(({ metadata }) => metadata.name);
const oldOnes = (scenario: Scenario) => names(scenario).filter((name) => !name.endsWith('-auto-hep'));

/** The controllers start again with another value of the variable, and say so. */
function giveVariable({ cluster }: Scenario, value: string | undefined): void {
  const kind = kindOf(cluster, 'kubecontrollersconfigurations');
  const live = cluster.store.get(kind, 'default');
  assert.ok(live);
  cluster.endpointFaults.variable = value;
  const environmentVars = value === undefined ? {} : { AUTO_HOST_ENDPOINTS: value };
  cluster.store.update(kind, { ...live, status: { environmentVars } });
}

/** By hand. */
function switchTo({ cluster }: Scenario, autoCreate: 'Enabled' | 'Disabled'): void {
  const kind = kindOf(cluster, 'kubecontrollersconfigurations');
  const live = cluster.store.get(kind, 'default');
  assert.ok(live);
  cluster.store.update(kind, { ...live, spec: { controllers: { node: { syncLabels: 'Enabled', hostEndpoint: { autoCreate } } } } });
}

/** Off is not the same as never set, and means the same. */
function withoutSwitch(state: unknown): unknown {
  return JSON.parse(JSON.stringify(state).replace(/,?"hostEndpoint":\{"autoCreate":"Disabled"\}/, ''));
}

function removeByHand({ cluster }: Scenario, name: string): void {
  const kind = kindOf(cluster, 'hostendpoints');
  cluster.store.delete(kind, name);
}

/** While the removal of that endpoint is being recorded, something happens. */
const whileRecorded =
  (name: string, happen: () => void): Change =>
  (ports) => {
    let happened = false;
    const append: typeof ports.records.append = async (lines) => {
      await ports.records.append(lines);
      if (happened || !lines.some(({ content }) => JSON.stringify(content ?? null).includes(`"name":"${name}"`))) return;
      happened = true;
      happen();
    };
    return { ...ports, records: { ...ports.records, append } };
  };

/** Between the last look at that endpoint and its removal, something happens. */
const beforeRemoved =
  (name: string, happen: () => void): Change =>
  (ports) => {
    let happened = false;
    const run: typeof ports.tools.run = async (invocation, options) => {
      if (!happened && invocation.args[0] === 'delete' && invocation.args.includes(name)) {
        happened = true;
        happen();
      }
      return ports.tools.run(invocation, options);
    };
    return { ...ports, tools: { ...ports.tools, run } };
  };

const about = (played: Played, id = 'NS-724') =>
  played.outcome?.findings
    .find((one) => one.id === id)
    ?.evidence.map(({ text, detail = '' }) => `${text} ${/created again|stays away/.exec(detail)?.[0]}`);

describe('hep --undo of a host that had no endpoint', () => {
  it('says in its plan that the host ends with none', async () => {
    const scenario = await upgraded();
    removeByHand(scenario, 'old-3');
    const there = await play(scenario, false, undefined, ['NS-711', 'NS-712', 'NS-713']);
    assert.equal(there.outcome?.exit, 'done');
    const back = await play(scenario, true);
    assert.equal(back.outcome?.exit, 'done');
    assert.match(JSON.stringify(back.events), /left without a host endpoint, as no old one is recorded: node-03"/);
  });

  it('says nothing of it where each has one', async () => {
    const scenario = await upgraded();
    await play(scenario, false);
    assert.doesNotMatch(JSON.stringify((await play(scenario, true)).events), /left without a host endpoint/);
  });
});

describe('hep --undo with controllers that have a variable of their own', () => {
  const labelled = (scenario: Scenario) => nodeLabels(scenario).filter(({ role }) => role === 'host').length;

  it('takes no label off and creates nothing while it keeps automatic endpoints on, and comes to the start once it is gone', async () => {
    const scenario = await upgraded();
    const start = stateOf(scenario);
    assert.equal((await play(scenario, false)).outcome?.exit, 'done');
    giveVariable(scenario, 'enabled');
    const migrated = stateOf(scenario);
    const stopped = await play(scenario, true);
    assert.deepEqual([stopped.outcome?.exit, about(stopped, 'NS-715')?.length], ['blocked', 1]);
    assert.deepEqual(stateOf(scenario), migrated);
    giveVariable(scenario, undefined);
    assert.equal((await play(scenario, true)).outcome?.exit, 'done');
    await scenario.clock.sleep(5_000);
    assert.deepEqual(withoutSwitch(stateOf(scenario)), withoutSwitch(start));
  });

  it('creates the old endpoints first where the setting is off, and no host is without one once the variable is gone', async () => {
    const scenario = await upgraded();
    const start = stateOf(scenario);
    await play(scenario, false);
    giveVariable(scenario, 'enabled');
    switchTo(scenario, 'Disabled');
    const gaps = watchForGaps(scenario);
    const stopped = await play(scenario, true);
    assert.deepEqual([stopped.outcome?.exit, about(stopped, 'NS-715')?.length], ['blocked', 1]);
    assert.deepEqual([labelled(scenario), oldOnes(scenario)], [3, ['old-1', 'old-2', 'old-3']]);
    giveVariable(scenario, undefined);
    await scenario.clock.sleep(5_000);
    assert.deepEqual([names(scenario), gaps], [['old-1', 'old-2', 'old-3'], []]);
    assert.equal((await play(scenario, true)).outcome?.exit, 'done');
    assert.deepEqual(withoutSwitch(stateOf(scenario)), withoutSwitch(start));
  });

  it('has nothing to say of it where all was taken back before: who then wants them by the variable keeps them', async () => {
    const scenario = await upgraded();
    await play(scenario, false);
    await play(scenario, true);
    giveVariable(scenario, 'enabled');
    const { outcome } = await play(scenario, true);
    assert.deepEqual(
      [outcome?.exit, outcome?.writes, outcome?.stages[0]?.because],
      ['done', 0, 'everything that the migration changed is as it was before'],
    );
  });

  it('stops no more once the old ones are created again where no label is left to remove, and says that automatic ones stay', async () => {
    const scenario = await upgraded();
    await play(scenario, false);
    giveVariable(scenario, 'enabled');
    switchTo(scenario, 'Disabled');
    for (const node of scenario.cluster.store.list(K.Node)) {
      const { role: _, ...labels } = node.metadata.labels ?? {};
      scenario.cluster.store.update(K.Node, { ...node, metadata: { ...node.metadata, labels } });
    }
    const { outcome } = await play(scenario, true);
    assert.deepEqual([outcome?.exit, oldOnes(scenario)], ['done', ['old-1', 'old-2', 'old-3']]);
    assert.equal(outcome?.plans[0]?.notes.at(-1), 'a variable of the controllers keeps automatic endpoints on, and is not changed');
  });

  it('takes no label off even where the check is accepted: the automatic endpoints are in force, and their policies need it', async () => {
    const scenario = await upgraded();
    await play(scenario, false);
    giveVariable(scenario, 'enabled');
    const { outcome } = await play(scenario, true, undefined, ['NS-715']);
    assert.equal(outcome?.exit, 'failed');
    assert.match(outcome?.message ?? '', /^hep keeps changing: AUTO_HOST_ENDPOINTS=enabled of the controllers that run beats default: /);
    assert.doesNotMatch(outcome?.steps.join() ?? '', /managed-fields/);
    assert.deepEqual([labelled(scenario), oldOnes(scenario)], [3, ['old-1', 'old-2', 'old-3']]);
  });
});

describe('what hep --undo creates again', () => {
  it('is not what a person deleted while its removal was being recorded: it is named, with what it was', async () => {
    const scenario = await upgraded();
    const first = await play(
      scenario,
      false,
      whileRecorded('old-2', () => removeByHand(scenario, 'old-2')),
    );
    assert.deepEqual([first.outcome?.exit, oldOnes(scenario)], ['done', []]);
    const back = await play(scenario, true);
    assert.deepEqual([back.outcome?.exit, oldOnes(scenario), about(back)], ['done', ['old-1', 'old-3'], ['old-2 stays away']]);
    const told = back.outcome?.findings.find(({ id }) => id === 'NS-724')?.evidence[0];
    assert.match(`${told?.detail}`, /"kind":"HostEndpoint","metadata":\{"name":"old-2","labels":\{"role":"host"\}/);
    const again = await play(scenario, true);
    assert.deepEqual(
      [again.outcome?.writes, again.outcome?.stages[0]?.because],
      [0, 'everything that the migration changed is as it was before'],
    );
  });

  it('is not what a person deleted right before the program did, of two on a node the other alone', async () => {
    const scenario = await upgraded(2);
    oldEndpoint(scenario, 'zz-2', 'node-02', { role: 'host' });
    const change = beforeRemoved('zz-2', () => removeByHand(scenario, 'zz-2'));
    const first = await play(scenario, false, change);
    assert.deepEqual([first.outcome?.exit, first.outcome?.message, oldOnes(scenario)], ['done', undefined, []]);
    const back = await play(scenario, true);
    assert.deepEqual([oldOnes(scenario), about(back)], [['old-1', 'old-2'], ['zz-2 stays away']]);
  });

  it('is all of it where the program was killed and nobody can tell, and that is said', async () => {
    const scenario = await upgraded();
    const killed = whileRecorded('old-2', () => {
      removeByHand(scenario, 'old-2');
      scenario.cluster.faults.killed = true;
      throw new Killed();
    });
    await play(scenario, false, killed);
    const rest = await play(scenario, false);
    assert.deepEqual([rest.outcome?.exit, oldOnes(scenario)], ['done', []]);
    const { events, outcome } = await play(scenario, true);
    assert.deepEqual([outcome?.exit, oldOnes(scenario)], ['done', ['old-1', 'old-2', 'old-3']]);
    const titles = events.flatMap((event) => (event.type === 'action-done' ? [event.action.title] : []));
    assert.deepEqual(
      titles.filter((title) => title.includes('not recorded')),
      [
        'create the host endpoint old-2 again (who removed it was not recorded): node node-02, addresses 10.0.0.1, profiles none, labels role=host',
      ],
    );
    const judged = events.flatMap((event) => (event.type === 'judged' ? event.findings : [])).find(({ id }) => id === 'NS-724');
    assert.match(`${judged?.message}`, /^1 host endpoint without a record of who removed them, created again: old-2$/);
  });

  it('is not what a person deleted after it was back', async () => {
    const scenario = await upgraded(2);
    await play(scenario, false);
    await play(scenario, true);
    removeByHand(scenario, 'old-1');
    const again = await play(scenario, true);
    assert.deepEqual([again.outcome?.writes, oldOnes(scenario), about(again)], [0, ['old-2'], ['old-1 stays away']]);
  });
});

describe('hep --undo by a record that somebody forged', () => {
  const RUN = '20200101T000000Z-forged00';
  const keep = ({ state }: Scenario, id: string, content: unknown) => {
    state.kept.set(`${RUN}/hep/${id}`, JSON.stringify(content));
    state.outcomes.set(`${RUN}/hep/${id}`, { done: true });
  };
  const endpoint = (name: string, spec: object, labels = {}): KubeObject => ({
    apiVersion: 'crd.netsvc.io/v1',
    kind: 'HostEndpoint',
    metadata: { name, labels },
    spec: { node: 'node-01', interfaceName: '*', ...spec },
  });

  /** Labels of others on a node of a cluster on which nothing was ever migrated, and a record that says they were copied. */
  async function forged(...endpoints: readonly KubeObject[]): Promise<Scenario> {
    const scenario = await upgraded(2);
    const { store } = scenario.cluster;
    const node = store.get(K.Node, 'node-01');
    assert.ok(node);
    const labels = { ...node.metadata.labels, pool: 'gpu', 'node-role.kubernetes.io/worker': 'x' };
    store.update(K.Node, { ...node, metadata: { ...node.metadata, labels } });
    const copied = { pool: 'gpu', 'node-role.kubernetes.io/worker': 'x' };
    keep(
      scenario,
      'labels#1',
      labelled(copied, ['node-01'], () => node.metadata.uid ?? ''),
    );
    keep(scenario, 'delete-1#2', removed(...endpoints));
    return scenario;
  }

  it('takes no label off that the server says others wrote, creates no endpoint that the migration cannot have deleted, and names them', async () => {
    const scenario = await forged(
      endpoint('eth', { interfaceName: 'eth0' }),
      endpoint('node-09-auto-hep', {}, { 'netsvc.io/created-by': 'netsvc-kube-controllers' }),
      endpoint('outside', { node: 'elsewhere' }),
      endpoint('Not a name', {}),
      { ...endpoint('other-kind', {}), kind: 'ClusterRoleBinding' },
    );
    const before = stateOf(scenario);
    const { outcome } = await play(scenario, true);
    assert.deepEqual([outcome?.exit, outcome?.writes], ['blocked', 0]);
    const finding = outcome?.findings.find(({ id }) => id === 'NS-738');
    const subjects = finding?.evidence.map(({ text }) => text) ?? [];
    assert.deepEqual(subjects.toSorted(), [
      'HostEndpoint/Not a name',
      'HostEndpoint/eth',
      'HostEndpoint/node-09-auto-hep',
      'HostEndpoint/outside',
      'Node/node-01 node-role.kubernetes.io/worker',
      'Node/node-01 pool',
    ]);
    assert.deepEqual(stateOf(scenario), before);
    const accepted = await play(scenario, true, undefined, ['NS-738']);
    assert.deepEqual([accepted.outcome?.exit, accepted.outcome?.writes], ['done', 0]);
    assert.deepEqual(stateOf(scenario), before, 'accepted, they are still left alone');
  });

  it('passes over what has not the form of the migration’s own notes', async () => {
    const scenario = await upgraded(2);
    const before = stateOf(scenario);
    const [setting] = switched('Enabled').changes;
    const changes = [{ ...setting, ref: { ...setting?.ref, name: '--config=/x' } }];
    for (const [index, content] of [null, 7, [], { changes: 'x' }, { changes: [null, 7] }, { changes }].entries())
      keep(scenario, `x#${index + 1}`, content);
    const { outcome } = await play(scenario, true);
    assert.deepEqual([outcome?.exit, outcome?.writes], ['done', 0]);
    assert.deepEqual(stateOf(scenario), before);
  });

  it('shows object by object what it will do', async () => {
    const scenario = await upgraded(1);
    await play(scenario, false);
    const { outcome } = await play(scenario, true);
    const titles = outcome?.plans.flatMap(({ actions }) => actions.map(({ title }) => title)) ?? [];
    assert.ok(
      titles.includes('create the host endpoint old-1 again: node node-01, addresses 10.0.0.1, profiles none, labels role=host'),
      titles.join('\n'),
    );
    assert.ok(titles.includes('remove the copied labels from 1 node: node-01 role=host'), titles.join('\n'));
  });
});

describe('a second hep --undo', () => {
  const VERDICTS = ['NS-711', 'NS-712', 'NS-713'];
  const isOn = (scenario: Scenario) => /"autoCreate":"Enabled"/.test(JSON.stringify(stateOf(scenario)));

  /** A migration that was taken back, and another since automatic endpoints were switched on by hand. */
  async function migratedAgain(byHand: (scenario: Scenario) => void = () => undefined): Promise<Scenario> {
    const scenario = await upgraded(3);
    await play(scenario, false);
    assert.equal((await play(scenario, true)).outcome?.exit, 'done');
    await scenario.clock.sleep(10_000);
    switchTo(scenario, 'Enabled');
    byHand(scenario);
    await scenario.clock.sleep(10_000);
    const again = await play(scenario, false, undefined, VERDICTS);
    assert.deepEqual([again.outcome?.exit, again.outcome?.message, oldOnes(scenario)], ['done', undefined, []]);
    return scenario;
  }

  it('leaves automatic endpoints on that a person switched on since the first', async () => {
    const scenario = await migratedAgain();
    const { outcome } = await play(scenario, true);
    await scenario.clock.sleep(10_000);
    assert.deepEqual([outcome?.exit, outcome?.message, isOn(scenario), names(scenario).length], ['done', undefined, true, 6]);
    assert.ok(nodeLabels(scenario).every(({ role }) => role === undefined));
  });

  it('leaves a label on its node that a person put back since the first', async () => {
    const scenario = await migratedAgain(({ cluster: { store } }) => {
      const node = store.get(K.Node, 'node-01') ?? assert.fail();
      store.update(K.Node, { ...node, metadata: { ...node.metadata, labels: { ...node.metadata.labels, role: 'host' } } });
    });
    assert.equal((await play(scenario, true)).outcome?.exit, 'done');
    assert.deepEqual(
      nodeLabels(scenario).map(({ role }) => role),
      ['host', undefined, undefined],
    );
  });
});

describe('the first old endpoint that is removed', () => {
  const looks = ({ events }: Played) =>
    events.flatMap((event) => (event.type === 'note' ? (/re-checks .*: delete .* (old-\d) of/.exec(String(event.text))?.[1] ?? []) : []));

  it('is removed alone', async () => {
    assert.deepEqual(looks(await play(await upgraded(4), false)), ['old-1', 'old-2']);
  });

  it('is the second one where the first was gone before', async () => {
    const scenario = await upgraded(4);
    const played = await play(
      scenario,
      false,
      whileRecorded('old-1', () => removeByHand(scenario, 'old-1')),
    );
    assert.deepEqual([played.outcome?.exit, looks(played)], ['done', ['old-1', 'old-3']]);
  });

  it('is the first again in a migration after one that was taken back', async () => {
    const scenario = await upgraded(3);
    await play(scenario, false);
    await play(scenario, true);
    await scenario.clock.sleep(10_000);
    assert.deepEqual(looks(await play(scenario, false)), ['old-1', 'old-2']);
  });
});
