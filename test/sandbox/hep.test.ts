import assert from 'node:assert/strict';
import { planChain } from '../../src/engine/plan-chain.ts';
import { hepStage } from '../../src/features/hosts/stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { storedMetadata } from '../../src/kube/stored-metadata.ts';
import { BIN_DIR } from '../../src/sandbox/sandbox-tools.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { endpoints, kindOf, labelByCli, nodeLabels, oldEndpoint, put, stateOf, upgraded, watchForGaps } from '../support/hep-sandbox.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { contextIn, type Flags, performIn, sandboxPorts } from '../support/sandbox-ports.ts';

/** A new process that performs the migration, or what `flags` ask of it. */
const run = (scenario: Scenario, flags: Flags = {}) => performIn(scenario, [hepStage], flags);

const names = (scenario: Scenario) => endpoints(scenario).map(({ metadata }) => metadata.name);
const automatic = ['node-01-auto-hep', 'node-02-auto-hep', 'node-03-auto-hep'];

describe('hep on the sandbox', () => {
  it('does not take verdicts that nobody could read for accepted: it ends as refused, not as done', async () => {
    const scenario = await upgraded();
    put(scenario, 'GlobalNetworkPolicy', 'broken', { selector: 'role ==', types: ['Ingress'] });
    const before = stateOf(scenario);
    const outcome = await run(scenario, { accept: ['NS-711', 'NS-712', 'NS-713', 'NS-736'] });
    assert.equal(outcome.exit, 'blocked', outcome.message);
    assert.match(outcome.message ?? '', /host endpoints cannot be migrated: .*broken/);
    assert.deepEqual(stateOf(scenario), before);
  });

  it('reads each long list once for a plan, cut down as it comes', async () => {
    const scenario = await upgraded();
    const { cluster } = sandboxPorts(scenario);
    const listed: string[] = [];
    const list: typeof cluster.list = (kind, options = {}) => {
      listed.push(`${kind.plural} ${options.metadataOnly ? 'metadata' : options.keep ? 'cut' : 'whole'}`);
      return cluster.list(kind, options);
    };
    const ports = { ...sandboxPorts(scenario), cluster: { ...cluster, list } };
    await planChain([hepStage], ports, contextIn(scenario), () => undefined);
    const long = listed.filter((one) => /^(nodes|hostendpoints|globalnetworkpolicies) /.test(one));
    assert.deepEqual(long.toSorted(), ['globalnetworkpolicies cut', 'hostendpoints cut', 'nodes cut', 'nodes metadata']);
  });

  it('leaves every host with an automatic endpoint that has the labels of the old one', async () => {
    const scenario = await upgraded();
    const outcome = await run(scenario);
    assert.deepEqual([outcome.exit, outcome.message], ['done', undefined]);
    assert.deepEqual(names(scenario), automatic);
    for (const one of endpoints(scenario)) assert.equal(storedMetadata(one, 'netsvc.io').labels.role, 'host');
  });

  it('tells the verdict of every node in its plan, as it was before the first change', async () => {
    const scenario = await upgraded(2);
    oldEndpoint(scenario, 'bare', 'node-03');
    scenario.cluster.store.insert(K.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-03' } });
    const { plans } = await run(scenario, { accept: ['NS-711=node-03'] });
    const hosts = plans.flatMap((plan) => plan.hosts ?? []);
    assert.deepEqual(
      hosts.map(({ node, verdict }) => [node, verdict]),
      [
        ['node-01', 'same'],
        ['node-02', 'same'],
        ['node-03', 'OPEN'],
      ],
    );
    assert.match(hosts[2]?.detail ?? '', /^once host endpoint bare is deleted: |^as soon as enabled: /);
  });

  it('says what it removed, also in a later plan than the first, and writes nothing the second time', async () => {
    const scenario = await upgraded();
    const bench = sandboxCommand(scenario);
    assert.equal(await bench.run('hep', '--yes'), 0);
    assert.match(bench.out(), /^Changed by this command: 3 Nodes \(hep\); removed 3 HostEndpoints \(hep\)\.$/m);
    const { writes } = scenario.cluster.faults;
    const second = await run(scenario);
    assert.deepEqual([second.exit, second.writes, scenario.cluster.faults.writes], ['done', 0, writes]);
  });

  it('refuses to open a host, changes nothing, and goes on when the node is accepted by name', async () => {
    const scenario = await upgraded();
    oldEndpoint(scenario, 'aaa', 'node-02');
    const before = stateOf(scenario);
    put(scenario, 'GlobalNetworkPolicy', 'by-name', { selector: 'kubernetes.io/x == "y"', types: ['Ingress'] });
    const policy = kindOf(scenario.cluster, 'globalnetworkpolicies');
    scenario.cluster.store.delete(policy, 'hosts');
    const refused = await run(scenario);
    assert.equal(refused.exit, 'blocked');
    const finding = refused.findings.find(({ id }) => id === 'NS-711');
    assert.deepEqual(
      finding?.evidence.map(({ text }) => text),
      ['node-01', 'node-02', 'node-03'],
    );
    assert.deepEqual(stateOf(scenario), before);
    assert.equal((await run(scenario, { accept: ['NS-711=node-01', 'NS-711=node-02'] })).exit, 'blocked');
    assert.equal((await run(scenario, { accept: ['NS-711=node-01', 'NS-711=node-02', 'NS-711=node-03'] })).exit, 'done');
    assert.deepEqual(names(scenario), automatic);
  });

  it('names the node that gets no automatic endpoint in time, deletes nothing of it, and continues', async () => {
    const scenario = await upgraded();
    scenario.cluster.endpointFaults.never.add('node-02');
    const outcome = await run(scenario, { timeout: '2m' });
    assert.equal(outcome.exit, 'timeout');
    assert.match(`${outcome.message}`, /node-02: no automatic endpoint yet/);
    assert.ok(names(scenario).includes('old-2'));
    scenario.cluster.endpointFaults.never.clear();
    touch(scenario, 'node-02');
    assert.equal((await run(scenario)).exit, 'done');
    assert.deepEqual(names(scenario), automatic);
  });

  it('waits again for an automatic endpoint that did not come, also where no old one is left', async () => {
    const scenario = await upgraded(2);
    const kind = kindOf(scenario.cluster, 'hostendpoints');
    for (const name of names(scenario)) scenario.cluster.store.delete(kind, name);
    scenario.cluster.endpointFaults.never.add('node-02');
    for (const time of ['first', 'second']) {
      const outcome = await run(scenario, { timeout: '2m' });
      assert.equal(outcome.exit, 'timeout', time);
      assert.match(`${outcome.message}`, /1 of 2 nodes .* node-02: no automatic endpoint yet/);
    }
    scenario.cluster.endpointFaults.never.clear();
    touch(scenario, 'node-02');
    assert.deepEqual([(await run(scenario)).exit, names(scenario)], ['done', automatic.slice(0, 2)]);
    const last = await run(scenario);
    assert.match(`${last.stages[0]?.because}`, /no old one is left/);
  });

  it('does not write over a label of the node', async () => {
    const scenario = await upgraded(1);
    const [node] = scenario.cluster.store.list(K.Node);
    assert.ok(node);
    scenario.cluster.store.update(K.Node, { ...node, metadata: { ...node.metadata, labels: { role: 'mine' } } });
    const outcome = await run(scenario);
    assert.equal(outcome.exit, 'blocked');
    assert.ok(outcome.findings.some(({ id, outcome: is }) => id === 'NS-716' && is === 'error'));
    assert.deepEqual(nodeLabels(scenario), [{ role: 'mine' }]);
  });

  it('refuses where the controllers would take a hand-made endpoint for theirs and delete it, and its host would be opened', async () => {
    const scenario = await upgraded(2);
    const { cluster } = scenario;
    cluster.store.insert(K.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-03' } });
    const own = { 'netsvc.io/created-by': 'netsvc-kube-controllers' };
    put(scenario, 'HostEndpoint', 'mine', { node: 'node-03', interfaceName: '*' }, { ...own, role: 'host' });
    put(scenario, 'HostEndpoint', 'elsewhere', { node: 'no-node', interfaceName: '*' }, own);
    const refused = await run(scenario);
    assert.equal(refused.exit, 'blocked');
    const about = (id: string) =>
      refused.findings.find((one) => one.id === id && one.outcome === 'error')?.evidence.map(({ text }) => text);
    assert.deepEqual([about('NS-711'), about('NS-717')], [['node-03'], ['mine', 'elsewhere']]);
    assert.equal(refused.findings.find(({ id }) => id === 'NS-718')?.outcome, 'ok');
    const outcome = await run(scenario, { accept: ['NS-711=node-03', 'NS-717'] });
    assert.deepEqual([outcome.exit, names(scenario)], ['done', automatic]);
  });

  for (const [mode, spec, exit] of [
    ['in eBPF mode', { bpfEnabled: true }, 'blocked'],
    ['in no other mode', {}, 'done'],
  ] as const) {
    it(`counts untracked policies ${mode}`, async () => {
      const scenario = await upgraded(1);
      put(scenario, 'FelixConfiguration', 'default', spec);
      const raw = { selector: '!has(netsvc.io/created-by)', doNotTrack: true, applyOnForward: true, types: ['Ingress'] };
      put(scenario, 'GlobalNetworkPolicy', 'raw', { ...raw, ingress: [{ action: 'Deny' }] });
      const outcome = await run(scenario);
      assert.equal(outcome.exit, exit, outcome.message);
      const finding = outcome.findings.find(({ id }) => id === 'NS-711');
      assert.deepEqual(
        finding?.evidence.map(({ detail }) => detail),
        exit === 'done' ? [] : ['as soon as enabled: untracked: now policy raw, else allow; afterwards allow'],
      );
    });
  }

  it('leaves endpoints of named interfaces alone', async () => {
    const scenario = await upgraded(1);
    put(scenario, 'HostEndpoint', 'eth', { node: 'node-01', interfaceName: 'eth0' });
    await run(scenario);
    assert.deepEqual(names(scenario), ['eth', 'node-01-auto-hep']);
  });

  it('takes everything back, object by object', async () => {
    const scenario = await upgraded();
    const before = stateOf(scenario);
    await run(scenario);
    const back = await run(scenario, { undo: true });
    assert.deepEqual([back.exit, back.message], ['done', undefined]);
    await scenario.clock.sleep(10_000);
    assert.deepEqual(stateOf(scenario), withSetting(before, 'Disabled'));
    const again = await run(scenario, { undo: true });
    assert.deepEqual([again.exit, again.writes], ['done', 0]);
  });

  /** Something happens right after the old endpoint of the first node, or of the second, is gone. */
  function onceGone(scenario: Scenario, name: string, happen: () => void): void {
    let happened = false;
    scenario.cluster.store.listen(({ kind, before, after }) => {
      if (happened || kind.plural !== 'hostendpoints' || after || before?.metadata.name !== name) return;
      happened = true;
      happen();
    });
  }

  it('loses no label that an old endpoint gets while others are deleted', async () => {
    const scenario = await upgraded();
    const kind = kindOf(scenario.cluster, 'hostendpoints');
    onceGone(scenario, 'old-2', () => {
      const one = scenario.cluster.store.get(kind, 'old-3');
      assert.ok(one);
      scenario.cluster.store.update(kind, { ...one, metadata: { ...one.metadata, labels: { ...one.metadata.labels, late: 'yes' } } });
    });
    const outcome = await run(scenario);
    assert.deepEqual([outcome.exit, names(scenario)], ['done', automatic]);
    assert.equal(storedMetadata(endpoints(scenario)[2] as KubeObject, 'netsvc.io').labels.late, 'yes');
  });

  it('stops in the middle where a node is labelled so that its verdict becomes another', async () => {
    const scenario = await upgraded();
    put(scenario, 'GlobalNetworkPolicy', 'by-zone', { selector: 'zone == "b"', types: ['Ingress'] });
    // Before the automatic one in the order of names: it is in force until it goes.
    oldEndpoint(scenario, 'aaa-3', 'node-03', { role: 'host' });
    onceGone(scenario, 'old-2', () => {
      const { store } = scenario.cluster;
      const node = store.get(K.Node, 'node-03');
      assert.ok(node);
      store.update(K.Node, { ...node, metadata: { ...node.metadata, labels: { ...node.metadata.labels, zone: 'b' } } });
      const kind = kindOf(scenario.cluster, 'hostendpoints');
      const one = store.get(kind, 'node-03-auto-hep');
      assert.ok(one);
      const annotations = { 'netsvc.io/metadata': JSON.stringify({ labels: { ...storedMetadata(one, 'netsvc.io').labels, zone: 'b' } }) };
      store.update(kind, { ...one, metadata: { ...one.metadata, annotations } });
    });
    const outcome = await run(scenario);
    assert.equal(outcome.exit, 'blocked');
    assert.ok(names(scenario).includes('aaa-3'));
    assert.equal((await run(scenario, { accept: ['NS-713'] })).exit, 'done');
  });

  /** Deletes the policy of the hosts once so many old endpoints are gone. */
  function policyGoesAfter(scenario: Scenario, removals: number): void {
    const { store } = scenario.cluster;
    const policies = kindOf(scenario.cluster, 'globalnetworkpolicies');
    let gone = 0;
    store.listen(({ kind, before, after }) => {
      if (kind.plural !== 'hostendpoints' || after || !before?.metadata.name.startsWith('old-')) return;
      gone += 1;
      if (gone === removals) store.delete(policies, 'hosts');
    });
  }

  it('stops between nodes at once where a policy goes: no more hosts are opened, and those that are get named', async () => {
    const scenario = await upgraded(4);
    policyGoesAfter(scenario, 2);
    const outcome = await run(scenario);
    assert.equal(outcome.exit, 'blocked');
    assert.deepEqual(
      names(scenario).filter((name) => name.startsWith('old-')),
      ['old-3', 'old-4'],
    );
    const finding = outcome.findings.find(({ id }) => id === 'NS-711');
    assert.deepEqual(
      finding?.evidence.map(({ text, brief, detail }) => `${text}: ${(brief ?? detail ?? '').replace(/:.*/, '')}`),
      // On the others the automatic endpoint is in force since it was made: they are open too.
      [
        'node-03: since automatic ones are enabled',
        'node-04: since automatic ones are enabled',
        'node-01: its old endpoint is gone',
        'node-02: its old endpoint is gone',
      ],
    );
    assert.match(finding?.hint ?? '', /hep --undo/);
  });

  it('names a host that is open because automatic endpoints were enabled before, and deletes nothing of it', async () => {
    const scenario = await upgraded(2);
    assert.equal((await run(scenario)).exit, 'done');
    oldEndpoint(scenario, 'zzz-1', 'node-01', { team: 'x' });
    put(scenario, 'GlobalNetworkPolicy', 'unlabelled', { selector: '!has(role)', types: ['Ingress'] });
    const outcome = await run(scenario);
    assert.equal(outcome.exit, 'blocked');
    const finding = outcome.findings.find(({ id }) => id === 'NS-713');
    assert.match(
      finding?.evidence[0]?.detail ?? '',
      /^since automatic ones are enabled: ingress: before policy unlabelled, else deny; now policy hosts, else deny; egress: before deny; /,
    );
    assert.ok(names(scenario).includes('zzz-1'));
    assert.equal((await run(scenario, { accept: ['NS-713=node-01'] })).exit, 'done');
  });

  it('does not end as done where a policy went with the last endpoint: the verdicts are told once more', async () => {
    const scenario = await upgraded(2);
    policyGoesAfter(scenario, 2);
    const outcome = await run(scenario);
    assert.equal(outcome.exit, 'blocked');
    assert.deepEqual(
      outcome.findings.find(({ id }) => id === 'NS-711')?.evidence.map(({ text }) => text),
      ['node-01', 'node-02'],
    );
    // The same command finds it as well, until it is accepted or the policy is back.
    assert.equal((await run(scenario)).exit, 'blocked');
    assert.equal((await run(scenario, { accept: ['NS-711=node-01', 'NS-711=node-02'] })).exit, 'done');
    put(scenario, 'GlobalNetworkPolicy', 'hosts', { selector: 'role == "host"', types: ['Ingress', 'Egress'] });
    assert.equal((await run(scenario)).exit, 'done');
  });

  it('comes to its end where a node has a label that only the service’s own node shows, and judges by it', async () => {
    const scenario = await upgraded();
    labelByCli(scenario, 'node-02', { rack: 'a' });
    const outcome = await run(scenario);
    assert.deepEqual([outcome.exit, outcome.message, names(scenario)], ['done', undefined, automatic]);

    const policed = await upgraded();
    labelByCli(policed, 'node-02', { rack: 'a' });
    put(policed, 'GlobalNetworkPolicy', 'by-rack', { selector: 'rack == "a"', types: ['Ingress'] });
    // Before the automatic one in the order of names: it is in force until it goes.
    oldEndpoint(policed, 'aaa-2', 'node-02', { role: 'host' });
    assert.equal((await run(policed)).exit, 'blocked');
    assert.ok(names(policed).includes('aaa-2'));
  });

  for (const [title, node] of [
    ['whose old endpoint comes after the automatic one', 'node-02'],
    ['without an old endpoint', 'node-04'],
  ] as const) {
    it(`enables nothing where the service’s own node of a host ${title} has a label by which a policy selects it`, async () => {
      const scenario = await upgraded(4);
      const kind = kindOf(scenario.cluster, 'hostendpoints');
      scenario.cluster.store.delete(kind, 'old-4');
      labelByCli(scenario, node, { rack: 'a' });
      put(scenario, 'GlobalNetworkPolicy', 'by-rack', { selector: 'rack == "a"', types: ['Ingress'] });
      const before = stateOf(scenario);
      const outcome = await run(scenario);
      assert.equal(outcome.exit, 'blocked');
      assert.deepEqual(stateOf(scenario), before);
    });
  }

  it('deletes no further old endpoint once automatic ones are switched off, and switches them on again', async () => {
    const scenario = await upgraded();
    const kind = kindOf(scenario.cluster, 'kubecontrollersconfigurations');
    const settings = () => scenario.cluster.store.get(kind, 'default');
    const blind: string[] = [];
    scenario.cluster.store.listen(({ kind: { plural }, before, after }) => {
      const isOff = JSON.stringify(settings()?.spec).includes('"autoCreate":"Disabled"');
      if (plural === 'hostendpoints' && !after && isOff && before?.metadata.name.startsWith('old-')) blind.push(before.metadata.name);
    });
    onceGone(scenario, 'old-2', () => {
      const one = settings();
      assert.ok(one);
      scenario.cluster.store.update(kind as Kind, {
        ...one,
        spec: { controllers: { node: { hostEndpoint: { autoCreate: 'Disabled' } } } },
      });
    });
    const outcome = await run(scenario);
    assert.deepEqual([outcome.exit, names(scenario), blind], ['done', automatic, []]);
  });

  it('gives old endpoints back with their annotations, wherever the release stored them', async () => {
    const scenario = await upgraded(2);
    const kind = kindOf(scenario.cluster, 'hostendpoints');
    const given = { owner: 'team-a', note: 'new' };
    const stored = { note: 'old', ticket: '7', 'netsvc.io/metadata': JSON.stringify({ labels: { role: 'host' }, annotations: given }) };
    for (const [name, annotations] of [
      ['old-1', stored],
      ['old-2', { note: 'hello' }],
    ] as const) {
      const one = scenario.cluster.store.get(kind, name);
      assert.ok(one);
      scenario.cluster.store.update(kind, { ...one, metadata: { ...one.metadata, annotations } });
    }
    await run(scenario);
    assert.equal((await run(scenario, { undo: true })).exit, 'done');
    const back = endpoints(scenario)
      .filter(({ metadata }) => metadata.name.startsWith('old-'))
      .map((one) => storedMetadata(one, 'netsvc.io').annotations);
    assert.deepEqual(back, [{ note: 'new', ticket: '7', owner: 'team-a' }, { note: 'hello' }]);
  });

  it('takes nothing back without the CLI, says so with its next step, and needs none where nothing was migrated', async () => {
    const scenario = await upgraded();
    const program = `${BIN_DIR}/netsvcctl`;
    const cli = scenario.files.text(program) ?? '';
    scenario.files.remove(program);
    assert.equal((await run(scenario, { undo: true })).exit, 'done');
    scenario.files.write(program, cli, true);
    await run(scenario);
    scenario.files.remove(program);
    const refused = await run(scenario, { undo: true });
    const finding = refused.findings.find(({ id }) => id === 'NS-720');
    assert.deepEqual([refused.exit, finding?.outcome, String(finding?.next)], ['blocked', 'error', 'kubectl netsvc-upgrade cli']);
    assert.deepEqual([refused.writes, names(scenario)], [0, automatic]);
    scenario.files.write(program, cli, true);
    assert.equal((await run(scenario, { undo: true })).exit, 'done');
    scenario.files.remove(program);
    const again = await run(scenario, { undo: true });
    assert.deepEqual([again.exit, again.writes], ['done', 0]);
  });

  it('takes back also what earlier runs did of the same migration, each under a record of its own', async () => {
    const scenario = await upgraded();
    const before = stateOf(scenario);
    const { cluster, state } = scenario;
    cluster.endpointFaults.never.add('node-02');
    assert.equal((await run(scenario, { timeout: '2m' })).exit, 'timeout');
    assert.ok(state.record);
    // The upgrade ends meanwhile, by a chain without the migration.
    state.record = { ...state.record, finishedAt: scenario.clock.now().toISOString() };
    cluster.endpointFaults.never.clear();
    touch(scenario, 'node-02');
    const second = await run(scenario);
    assert.deepEqual([second.exit, names(scenario)], ['done', automatic]);
    assert.equal(new Set([...state.kept.keys()].filter((id) => id.includes('/hep/')).map((id) => id.split('/')[0])).size, 2);
    assert.equal((await run(scenario, { undo: true })).exit, 'done');
    await scenario.clock.sleep(10_000);
    assert.deepEqual(stateOf(scenario), withSetting(before, 'Disabled'));
  });

  it('comes to the same end wherever it is killed, and never leaves a host without an endpoint or without a label', async () => {
    const whole = await upgraded(2);
    const first = whole.cluster.faults.writes;
    await run(whole);
    const wanted = stateOf(whole);
    for (let at = first + 1; at <= whole.cluster.faults.writes; at += 1) {
      for (const kill of ['before', 'after'] as const) {
        const scenario = await upgraded(2);
        const gaps = watchForGaps(scenario);
        scenario.cluster.faults.plan({ at, kill });
        await run(scenario).catch(() => undefined);
        assert.ok(scenario.cluster.faults.killed, `write ${at} was to be killed`);
        const second = await run(scenario);
        assert.equal(second.exit, 'done', `killed ${kill} write ${at}: ${second.message}`);
        assert.deepEqual(stateOf(scenario), wanted, `killed ${kill} write ${at}`);
        assert.deepEqual(gaps, [], `killed ${kill} write ${at}`);
      }
    }
  });
});

/** Controllers that missed a node look at it again at its next change. */
function touch({ cluster }: Scenario, name: string): void {
  const node = cluster.store.get(K.Node, name);
  assert.ok(node);
  cluster.store.update(K.Node, { ...node, metadata: { ...node.metadata, annotations: { touched: 'yes' } } });
}

function withSetting(state: unknown, autoCreate: string): unknown {
  const plain = structuredClone(state) as { settings: { controllers: { node: Record<string, unknown> } }[] };
  for (const { controllers } of plain.settings) controllers.node.hostEndpoint = { autoCreate };
  return plain;
}
