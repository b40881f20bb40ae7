import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { applyStage } from '../../../src/features/install/apply-stage.ts';
import { crdsStage, waitStage } from '../../../src/features/install/around.ts';
import { ownerrefsStripStage } from '../../../src/features/ownerrefs/strip-stage.ts';
import { readTargetFor } from '../../../src/features/preflight/target.ts';
import { readInstalled } from '../../../src/features/survey/detect.ts';
import type { Action } from '../../../src/kernel/action.ts';
import { plainText } from '../../../src/kernel/step.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, found, object } from '../../fixtures/facts.ts';
import { type ApplyBench, openApply, ownDocuments, runRecord } from '../../support/apply-bench.ts';
import { configuration, configurationCrd } from '../../support/calico-objects.ts';
import { objectOf } from '../../support/inventory.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { OPERATOR, ORDER, operatedBench, TYPHA, unheld } from '../../support/operated-bench.ts';
import { HOLD_MS } from '../../support/operator-script.ts';
import { manifestFile, operatorReleases } from '../../support/releases.ts';
import { CALICO_OPERATOR, CALICO_TARGET, pattern } from '../../support/target.ts';

const operated = { detection: found({ path: 'operator', variant: undefined, hasApiServer: true }) };
const namespaces = (...names: readonly string[]) => ({ value: names.map((name) => object('v1', `Namespace/${name}`)) });
const context = contextOf({}, calico);

checkCases('NS-621', {
  'warns where the namespace of the API server will be deleted': {
    context,
    facts: { ...operated, namespaces: namespaces('calico-apiserver', 'calico-system') },
    is: 'warning',
    about: ['Namespace/calico-apiserver'],
    says: /moves to namespace calico-system/,
    hint: /Save a copy of what you put there yourself: it is deleted\.$/,
  },
  'passes where it has moved already': { context, facts: { ...operated, namespaces: namespaces('calico-system') }, is: 'ok' },
  'does not apply without an API server': {
    context,
    facts: { detection: found({ path: 'operator', variant: undefined, hasApiServer: false }) },
    is: 'not-applicable',
  },
  'does not apply where the target is none on this path': {
    context: contextOf({ release: 'v3.29.4' }, calico),
    facts: { ...operated, namespaces: namespaces('calico-apiserver', 'calico-system') },
    is: 'not-applicable',
  },
  'does not apply to a manifest install': { context, facts: { detection: found({ hasApiServer: true }) }, is: 'not-applicable' },
  'fails where namespaces cannot be read': {
    context,
    facts: { ...operated, namespaces: { unread: 'forbidden' } },
    is: 'warning',
    says: /forbidden/,
  },
});

const CRDS = 'v1_crd_projectcalico_org.yaml';
const FOLDER = '/home/me/upgrade';
const applyOf = (file: string) => `kubectl apply --server-side --force-conflicts -f ${FOLDER}/${file}`;

type Opened = typeof applyStage;

async function actionsOf(stage: Opened, { sources, context }: ApplyBench): Promise<readonly Action[]> {
  const plan = (await stage.open(sources, context)).plan();
  return 'skip' in plan ? [] : plan.actions;
}

/** Plans and performs until nothing is left. */
async function performed(stage: Opened, bench: ApplyBench): Promise<void> {
  for (let round = 1; round <= 4; round += 1) {
    const actions = await actionsOf(stage, bench);
    if (actions.length === 0) return;
    for (const action of actions) bench.around.perform(action);
  }
  throw new Error(`${stage.id} keeps changing`);
}

/** Actions that are performed only in a round in which nothing was written before them. */
const afreshIn = async (bench: ApplyBench) => (await actionsOf(applyStage, bench)).filter(({ afresh }) => afresh).map(({ id }) => id);

const commandsIn = (actions: readonly Action[]) => actions.filter(({ effect }) => effect.type === 'exec');
const commands = (bench: ApplyBench) => bench.around.writes.filter((line) => line.startsWith('kubectl'));

async function findingOf({ sources, context }: ApplyBench, id: string) {
  const findings = (await applyStage.open(sources, context)).findings();
  return findings.find((one) => one.id === id) ?? assert.fail(id);
}

const operatorImage = (bench: ApplyBench): unknown =>
  JSON.stringify(bench.around.object('Deployment', OPERATOR)?.spec).match(/quay\.io\/tigera\/operator:[v.\d]+/)?.[0];

describe('the operator path', () => {
  it('applies the CRDs, then at once the operator, by the commands of the procedure, and then plans nothing', async () => {
    const bench = await operatedBench();
    await performed(crdsStage, bench);
    await performed(applyStage, bench);
    assert.deepEqual(commands(bench), [applyOf(CRDS), applyOf(calico.operator.file)]);
    assert.equal(operatorImage(bench), `quay.io/tigera/operator:${CALICO_OPERATOR}`);
    assert.ok(bench.around.object('CustomResourceDefinition', 'goldmanes.operator.tigera.io'));
    assert.deepEqual([await actionsOf(crdsStage, bench), await actionsOf(applyStage, bench)], [[], []]);
  });

  it('leaves the CRDs to an operator that would put its own back, and holds no renaming that only the new CRDs know', async () => {
    const args = [{ op: 'add', path: '/spec/template/spec/containers/0/args', value: ['-manage-crds=true'] }] as const;
    const bench = await operatedBench();
    bench.around.edit('Deployment', OPERATOR, args);
    const plan = (await crdsStage.open(bench.sources, bench.context)).plan();
    assert.deepEqual(plan, { skip: 'the operator installs the CRDs of its own release, and would put others back' });
    await performed(applyStage, bench);
    assert.deepEqual(commands(bench), [applyOf(calico.operator.file)]);
    const held = await operatedBench({ options: { holdPolicyMigration: true }, more: [configurationCrd, configuration] });
    held.around.edit('Deployment', OPERATOR, args);
    await assert.rejects(actionsOf(applyStage, held), {
      name: 'Fault',
      code: 'usage',
      message: /^--until controllers cannot be kept here/,
    });
  });

  it('never starts the operator without its CRDs, whatever stage was asked for', async () => {
    const bench = await operatedBench();
    await performed(applyStage, bench);
    assert.deepEqual(commands(bench), [applyOf(CRDS), applyOf(calico.operator.file)]);
  });

  it('takes no target whose end nobody here can tell, and says so once', async () => {
    const bench = await operatedBench({ options: { release: 'v3.30.7' } });
    const { sources, context } = bench;
    const refused = /^v3\.30\.7 is no target for an installation by operator: its operator ends an upgrade by other signs$/;
    for (const stage of [ownerrefsStripStage, crdsStage, applyStage, waitStage])
      await assert.rejects(stage.open(sources, context), { name: 'Fault', code: 'blocked', message: refused });
    const installation = await readInstalled(sources, context);
    const { facts } = await readTargetFor(sources, context, { value: { type: 'found', installation } }, { value: undefined });
    assert.ok('unread' in facts);
    assert.match(facts.unread, refused);
    assert.match(String(facts.hint ?? ''), /^choose v3\.32\.0 or later with --release\.$/);
    assert.deepEqual(bench.around.writes, []);
  });

  it('comes to the same end wherever it was cut off', async () => {
    const whole = await operatedBench();
    const steps = (await actionsOf(applyStage, whole)).length;
    for (const cut of [1, 2, Math.floor(steps / 2), steps - 2, steps - 1]) {
      const bench = await operatedBench();
      for (const action of (await actionsOf(applyStage, bench)).slice(0, cut)) bench.around.perform(action);
      await performed(applyStage, bench);
      assert.equal(operatorImage(bench), `quay.io/tigera/operator:${CALICO_OPERATOR}`, `cut at ${cut}`);
      assert.ok(bench.around.object('CustomResourceDefinition', 'goldmanes.operator.tigera.io'), `cut at ${cut}`);
    }
  });

  it('writes neither the Installation nor any custom resource', async () => {
    const bench = await operatedBench();
    const before = bench.around.object('Installation', 'default');
    await performed(applyStage, bench);
    assert.deepEqual(bench.around.object('Installation', 'default'), before);
    assert.equal(bench.around.object('APIServer', 'default'), undefined);
    assert.ok(bench.around.writes.every((line) => !/Installation\/|custom-resources/.test(line)));
  });

  it('names what the target leaves behind, with the command that deletes it; none for a CRD', async () => {
    const config = objectOf('v1', 'ConfigMap', 'old-settings', { metadata: { namespace: OPERATOR } });
    const { plural, group } = calico.removedKinds[0] ?? assert.fail();
    const crd = objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `${plural}.${group}`);
    const bench = await operatedBench({ more: [config, crd], options: { base: 'old.yaml' } });
    const base = [...(await ownDocuments('v3.27.5', 'tigera-operator.yaml', operatorReleases)), config];
    bench.files.set('old.yaml', base.map((one) => JSON.stringify(one)).join('\n---\n'));
    const plan = (await applyStage.open(bench.sources, bench.context)).plan();
    assert.ok('actions' in plan);
    const left = (plan.objects ?? []).filter(({ change }) => change === 'left-behind').map(({ ref, note }) => `${ref.name}: ${note}`);
    assert.equal(left.length, 2);
    assert.match(left.join('\n'), /^old-settings: .*: kubectl delete configmap old-settings -n tigera-operator$/m);
    assert.match(left.join('\n'), new RegExp(`^${plural}\\.${group}: .*: kubectl get ${plural}\\.${group} -A$`, 'm'));
  });

  it('tells which workloads restart, and how many pods of each: its own, and those that it brings to the target', async () => {
    const bench = await operatedBench();
    const plan = (await applyStage.open(bench.sources, bench.context)).plan();
    assert.ok('actions' in plan);
    assert.equal(plan.objects?.find(({ ref }) => ref.kind === 'Deployment')?.note, 'restarts 1 pod');
    const others = 'DaemonSet/calico-system/calico-node (2 pods), Deployment/calico-system/calico-typha (1 pod)';
    const note = plan.notes?.find((one) => String(one).startsWith('the new operator restarts'));
    assert.equal(note, `the new operator restarts ${others}, Deployment/calico-system/calico-kube-controllers (1 pod)`);
    assert.deepEqual(
      plan.restarts?.map(({ ref, pods, atOnce }) => [ref.name, pods, atOnce]),
      [
        ['calico-node', 2, 1],
        ['calico-typha', 1, undefined],
        ['calico-kube-controllers', 1, undefined],
      ],
    );
  });

  for (const [stop, from, count] of [
    [{ until: 'agents' }, 'v3.30.7', 1],
    [{}, 'v3.30.7', 0],
    [{ until: 'agents' }, 'v3.31.2', 0],
  ] as const)
    it(`says before the first node that none has an undo in eBPF mode: ${JSON.stringify(stop)} from ${from}`, async () => {
      const bench = await operatedBench({ options: stop });
      bench.around.edit('Installation', 'default', [
        { op: 'add', path: '/spec/calicoNetwork', value: { linuxDataplane: 'BPF' } },
        { op: 'replace', path: '/status/calicoVersion', value: from },
      ]);
      bench.record = runRecord({ intent: { kind: 'upgrade', from, to: CALICO_TARGET } });
      const plan = (await openApply(bench)).plan();
      assert.ok('actions' in plan);
      const notes = (plan.notes ?? []).map(plainText).filter((one) => /^before the first node: a node has no undo once/.test(one));
      assert.equal(notes.length, count);
    });

  it('marks the CRDs and the start of the new operator as points of no return, and nothing once it runs', async () => {
    const bench = await operatedBench();
    const marked = async () => (await actionsOf(applyStage, bench)).filter(({ pointOfNoReturn }) => pointOfNoReturn);
    assert.deepEqual(
      (await marked()).map(({ id, undo, pointOfNoReturn }) => [id, undo, pointOfNoReturn]),
      [
        ['crds', 'none', 'crds'],
        ['operator', 'none', 'operator'],
      ],
    );
    await performed(applyStage, bench);
    bench.around.edit('ClusterRole', OPERATOR, [{ op: 'replace', path: '/rules', value: [] }]);
    assert.ok(commandsIn(await actionsOf(applyStage, bench)).length > 0);
    assert.deepEqual(await marked(), []);
  });

  it('crds alone says what comes next, at once, and why', async () => {
    const last = (await actionsOf(crdsStage, await operatedBench())).at(-1);
    assert.ok(last?.effect.type === 'ask');
    assert.match(String(last.effect.instruction), /^run apply at once .* The old operator .* hangs/);
  });

  it('crds leaves nothing to a person in a chain that goes on to apply', async () => {
    const { sources, context } = await operatedBench();
    const plan = (await crdsStage.open(sources, { ...context, chain: { pending: [], onlyPlanned: true, later: ['apply'] } })).plan();
    assert.ok('actions' in plan && plan.actions.length > 0);
    assert.ok(plan.actions.every(({ effect }) => effect.type !== 'ask'));
  });

  it('waits for the operator’s own pod, and leaves the components to the wait stage', async () => {
    const bench = await operatedBench();
    const wait = (await actionsOf(applyStage, bench)).find(({ id }) => id === 'wait-operator');
    assert.ok(wait?.effect.type === 'wait' && wait.effect.until.type === 'rollout');
    assert.deepEqual(
      wait.effect.until.targets.map(({ namespace, name, image }) => [namespace, name, image]),
      [[OPERATOR, OPERATOR, `quay.io/tigera/operator:${CALICO_OPERATOR}`]],
    );
    const [end] = await actionsOf(waitStage, bench);
    assert.ok(end?.effect.type === 'wait' && end.effect.until.type === 'operator-end');
    assert.equal(end.effect.until.target.operatorImage, `quay.io/tigera/operator:${CALICO_OPERATOR}`);
    assert.equal(end.effect.until.target.registry, undefined);
    assert.equal(end.effect.until.holdMs, HOLD_MS);
  });

  it('probes the network between the first upgraded agent and the others, and at the end, where that is asked for', async () => {
    const bench = await operatedBench({ options: { probeNetwork: { image: 'busybox', namespace: 'probe' } } });
    const actions = await actionsOf(waitStage, bench);
    assert.deepEqual(
      actions.map(({ id, effect }) => `${id} ${effect.type}`),
      ['connections keep-connections', 'first-agent wait', 'probe-between probe-network', 'operator wait', 'probe-end probe-network'],
    );
    const [, first, probe] = actions;
    const agents = { namespace: 'calico-system', name: 'calico-node', runs: { release: CALICO_TARGET, digests: [] } };
    assert.ok(probe?.effect.type === 'probe-network');
    assert.partialDeepStrictEqual(probe.effect, { image: 'busybox', namespace: 'probe', agents });
    assert.ok(first?.effect.type === 'wait' && first.effect.until.type === 'operator-end');
    assert.partialDeepStrictEqual(first.effect.until.firstOf, agents);
  });

  it('keeps connections before Typha is held and the new operator starts, and cannot stop the roll for them', async () => {
    const probeNetwork = { image: 'busybox', namespace: 'probe' };
    const steps = (await actionsOf(applyStage, await operatedBench({ options: { probeNetwork } }))).map(({ id }) => id);
    const at = (id: string) => steps.indexOf(id);
    assert.ok(at('connections') >= 0 && at('connections') < at('hold-typha') && at('hold-typha') < at('operator'), steps.join());
    const strict = await operatedBench({ options: { probeNetwork: { ...probeNetwork, isStrict: true } } });
    await assert.rejects(actionsOf(applyStage, strict), /--probe-strict is not possible on an installation by operator/);
  });

  it('waits for images from the registry that the Installation names', async () => {
    const bench = await operatedBench();
    bench.around.edit('Installation', 'default', [{ op: 'add', path: '/spec/registry', value: 'mirror.corp/x' }]);
    const [end] = await actionsOf(waitStage, bench);
    assert.ok(end?.effect.type === 'wait' && end.effect.until.type === 'operator-end');
    assert.equal(end.effect.until.target.registry, 'mirror.corp/x/');
  });

  it('asks for a decision by name where the profile names no annotation that keeps the operator from Typha', async () => {
    const finding = await findingOf(await operatedBench({ profile: unheld }), ORDER);
    assert.deepEqual([finding.outcome, finding.byName], ['error', true]);
    assert.match(finding.message, /same second.*After about 90 s they become NotReady/);
    const accepting = await operatedBench({ profile: unheld, options: { accept: [{ check: ORDER, subject: TYPHA }] } });
    assert.equal((await findingOf(accepting, ORDER)).outcome, 'accepted');
    const steps = (await actionsOf(applyStage, accepting)).map(({ id }) => id);
    assert.deepEqual(steps.slice(-2), ['operator', 'wait-operator']);
  });

  it('carries an edit of the operator’s Deployment: the registry is the person’s, the tag the target’s', async () => {
    const bench = await operatedBench();
    const path = '/spec/template/spec/containers/0/image';
    bench.around.edit('Deployment', OPERATOR, [{ op: 'replace', path, value: 'mirror.corp/tigera/operator:v1.32.12' }]);
    assert.equal((await findingOf(bench, 'NS-201')).outcome, 'ok');
    const written = (await actionsOf(applyStage, bench)).flatMap(({ effect }) => (effect.type === 'write' ? [effect.content] : []));
    assert.match(written.join('\n'), /image: ["']?mirror\.corp\/tigera\/operator:v1\.4\d/);
  });

  it('has nothing to object to where nothing was edited', async () => {
    const { sources, context } = await operatedBench();
    const open = (await applyStage.open(sources, context)).findings().filter(({ outcome }) => outcome === 'error');
    assert.deepEqual(open, []);
  });

  it('refuses where edits cannot be told, because the manifest of the installed release is not at hand', async () => {
    const finding = await findingOf(await operatedBench({ present: [CALICO_TARGET] }), 'NS-205');
    assert.deepEqual([finding.outcome, finding.exit], ['error', 'conflicts']);
  });

  it('never starts a second operator beside one of another name', async () => {
    const { sources, context } = await operatedBench({ named: 'net-operator' });
    await assert.rejects(applyStage.open(sources, context), {
      code: 'conflicts',
      message: /runs as Deployment tigera-operator\/net-operator/,
    });
  });

  it('upgrades one in a namespace of another name with a file of the person’s own', async () => {
    const bench = await operatedBench({ namespace: 'net-ops', options: { upgradeFile: 'mine.yaml' } });
    const text = await readFile(manifestFile(CALICO_TARGET, 'tigera-operator.yaml', operatorReleases), 'utf8');
    bench.files.set('mine.yaml', text.replaceAll('namespace: tigera-operator', 'namespace: net-ops'));
    await performed(applyStage, bench);
    assert.equal(operatorImage(bench), `quay.io/tigera/operator:${CALICO_OPERATOR}`);
    assert.equal(bench.around.object('Deployment', OPERATOR)?.metadata.namespace, 'net-ops');
  });

  it('switches flow logs on when asked, by one plain apply once the operator runs, and leaves existing ones alone', async () => {
    const bench = await operatedBench({ options: { enableFlowLogs: true } });
    assert.deepEqual(
      (await actionsOf(applyStage, bench)).slice(-5).map(({ id }) => id),
      ['wait-operator', 'flow-logs-file', 'flow-logs', 'agents', 'release-typha'],
    );
    await performed(applyStage, bench);
    assert.equal(commands(bench).at(-1), `kubectl apply -f ${FOLDER}/flow-logs.yaml`);
    assert.ok(bench.around.object('Goldmane', 'default') && bench.around.object('Whisker', 'default'));
    const writes = bench.around.writes.length;
    await performed(applyStage, bench);
    assert.equal(bench.around.writes.length, writes);
  });

  it('shows the preflight the CRDs as well: stored resources are judged by them', async () => {
    const { sources, context } = await operatedBench();
    const installation = await readInstalled(sources, context);
    const target = await readTargetFor(sources, context, { value: { type: 'found', installation } }, { value: undefined });
    assert.ok('value' in target.facts, JSON.stringify(target));
    const kinds = target.facts.value.documents.map(({ kind }) => kind);
    assert.ok(kinds.includes('CustomResourceDefinition') && kinds.includes('Deployment'));
  });

  it('holds the renaming of policies when asked: after the CRDs that know the switch, before the operator, and looked at again', async () => {
    const bench = await operatedBench({ options: { holdPolicyMigration: true }, more: [configurationCrd, configuration] });
    const steps = (await actionsOf(applyStage, bench)).map(({ id }) => id).filter((id) => !id.endsWith('file') && !id.includes('own'));
    const order = ['crds', 'crds-established', 'hold-policies', 'held-policies', 'hold-typha', 'operator', 'wait-operator'];
    assert.deepEqual(steps, [...order, 'agents', 'release-typha']);
    assert.deepEqual(await afreshIn(bench), ['operator']);
    const held = [{ op: 'add', path: '/spec', value: { controllers: { policyMigration: { enabled: 'Disabled' } } } }] as const;
    bench.around.edit('KubeControllersConfiguration', 'default', held);
    assert.ok((await actionsOf(applyStage, bench)).every(({ id }) => id !== 'hold-policies'));
  });

  it('searches the whole cluster for owner references once more right before the operator, whatever was written before it', async () => {
    const bench = await operatedBench();
    assert.deepEqual(await afreshIn(bench), ['operator']);
    await performed(crdsStage, bench);
    assert.deepEqual(await afreshIn(bench), ['operator']);
  });

  it('adds nothing of flow logs unless asked', async () => {
    const bench = await operatedBench();
    await performed(applyStage, bench);
    assert.equal(bench.around.object('Goldmane', 'default'), undefined);
  });

  it('refuses an operator of another release', async () => {
    const bench = await operatedBench({ options: { upgradeFile: 'mine.yaml' } });
    bench.files.set('mine.yaml', await readFile(manifestFile('v3.27.5', 'tigera-operator.yaml', operatorReleases), 'utf8'));
    const { sources, context } = bench;
    await assert.rejects(applyStage.open(sources, context), {
      code: 'usage',
      message: pattern`v1\.32\.12 of v3\.27\.5, not of ${CALICO_TARGET}`,
    });
  });
});
