import assert from 'node:assert/strict';
import type { Action } from '../../../src/kernel/action.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../src/kernel/object.ts';
import { ApiFailure, type Artifacts } from '../../../src/kernel/ports.ts';
import { LAST_APPLIED } from '../../../src/kube/managed-fields.ts';
import { fieldAt } from '../../../src/manifest/definition-differences.ts';
import {
  type ApplyBench,
  applyBench,
  begun,
  installedClientSide,
  openApply,
  ownDocuments,
  planned,
  runRecord,
  upgrade,
} from '../../support/apply-bench.ts';
import { appliedBy, appliedClientSide, ownedBy } from '../../support/applying-cluster.ts';
import { workloadOf } from '../../support/inventory.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

const FILE = '/home/me/upgrade/upgrade.yaml';
const APPLY = `kubectl apply --server-side --force-conflicts -f ${FILE}`;

const commands = (actions: readonly Action[]) =>
  actions.flatMap(({ effect }) => (effect.type === 'exec' ? [[effect.run.tool, ...effect.run.args].join(' ')] : []));

const patchesOf = (actions: readonly Action[]) => actions.flatMap(({ effect }) => (effect.type === 'patch-all' ? effect.patches : []));

/** What an object is for its users: no counters, no owners. */
function essence(object: KubeObject | undefined): unknown {
  const { resourceVersion: _, managedFields: __, ...metadata } = object?.metadata ?? { name: '' };
  return { ...object, metadata };
}

describe('the apply stage on a release that was applied client-side', () => {
  it('takes over ownership first, then applies the whole manifest, then waits', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    const actions = await planned(bench);
    assert.deepEqual(
      actions.map(({ id }) => id),
      ['save', 'ownership', 'wave-all', 'wait-all'],
    );
    assert.deepEqual(commands(actions), [APPLY]);
    const patches = patchesOf(actions);
    assert.equal(patches.length, 17);
    for (const { patch, uid } of patches) {
      assert.deepEqual(
        patch.map(({ op, path }) => `${op} ${path}`),
        ['replace /metadata/resourceVersion', 'replace /metadata/managedFields'],
      );
      assert.ok(uid && patch[0]?.value);
    }
  });

  it('keeps the original ownership of every object before the first patch', async () => {
    const actions = await planned(applyBench(await installedClientSide('v3.26.4')));
    const taking = actions.find(({ effect }) => effect.type === 'patch-all');
    const kept = (taking?.keep?.changes ?? []).map(({ before }) => before['/metadata/managedFields'] as readonly ManagedFieldsEntry[]);
    assert.equal(kept.length, 17);
    assert.ok(kept.every(([entry]) => entry?.manager === 'kubectl-client-side-apply'));
  });

  it('ends with what the target says and nothing of the old release, and then plans nothing', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    await upgrade(bench);
    for (const document of await ownDocuments(NETSVC_TARGET)) {
      const live = bench.around.object(document.kind, document.metadata.name);
      assert.deepEqual([live?.spec, live?.data, live?.rules], [document.spec, document.data, document.rules], document.metadata.name);
    }
    const writes = bench.around.writes.length;
    const plan = (await openApply(bench)).plan();
    assert.ok('skip' in plan, 'a second plan has nothing to do');
    assert.equal(bench.around.writes.length, writes);
  });

  it('comes to the same end wherever it was cut off', async () => {
    const whole = applyBench(await installedClientSide('v3.26.4'));
    const actions = await planned(whole);
    await upgrade(whole);
    for (let done = 1; done < actions.length; done += 3) {
      const bench = applyBench(await installedClientSide('v3.26.4'));
      for (const action of actions.slice(0, done)) bench.around.perform(action);
      await upgrade(bench);
      for (const { kind, metadata } of await ownDocuments(NETSVC_TARGET)) {
        const name = metadata.name;
        assert.deepEqual(essence(bench.around.object(kind, name)), essence(whole.around.object(kind, name)), `${done}: ${kind}/${name}`);
      }
    }
  });

  it('applies again where ownership was handed over and the apply of that object failed', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    await upgrade(bench);
    const fieldsV1 = { 'f:metadata': { 'f:annotations': { [`f:${LAST_APPLIED}`]: {} } } };
    const handedOver = { manager: 'kubectl', operation: 'Apply', apiVersion: 'policy/v1', fieldsV1 } as const;
    const noted = { op: 'add', path: '/metadata/annotations', value: { [LAST_APPLIED]: '{}' } } as const;
    bench.around.edit('PodDisruptionBudget', 'netsvc-kube-controllers', [noted], handedOver);
    assert.deepEqual(commands(await planned(bench)), [APPLY]);
  });

  it('only waits if everything is applied but pods are not new yet', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    for (const action of await planned(bench)) if (action.effect.type !== 'wait') bench.around.perform(action);
    assert.deepEqual(
      (await planned(bench)).map(({ id }) => id),
      ['wait-all'],
    );
  });

  it('shows what a dry run of kubectl would show as staying', async () => {
    const plan = (await openApply(applyBench(await installedClientSide('v3.26.4')))).plan();
    const objects = 'objects' in plan ? (plan.objects ?? []) : [];
    const hidden = objects.flatMap((one) => one.hidden);
    assert.ok(hidden.some((path) => path.startsWith('spec.template.spec.initContainers[mount-run]')));
    assert.ok(hidden.includes('spec.template.spec.containers[netsvc-node].env[NETSVC_USE_LEGACY_IPTABLES].value'));
  });
});

describe('the apply stage on objects that kubectl create made', () => {
  const created = async () => (await ownDocuments('v3.26.4')).map((one) => ownedBy('kubectl-create', one));

  it('takes over only what the old release left in the pod template, and applies', async () => {
    const actions = await planned(applyBench(await created()));
    assert.deepEqual(commands(actions), [APPLY]);
    assert.deepEqual(
      patchesOf(actions).map(({ target }) => target.name),
      ['netsvc-node'],
    );
  });
});

/** The same objects as another manager's server-side apply leaves them, with or without what was applied client-side before. */
const GITOPS: readonly (readonly [string, (one: KubeObject) => KubeObject])[] = [
  ['were created', (one) => ownedBy('kubectl-create', one)],
  ['another manager applied server-side', (one) => appliedBy('gitops-bot', one)],
  ['were applied client-side, then by another manager', (one) => appliedBy('gitops-bot', appliedClientSide(one))],
];

describe('what the old release left in a pod template and another manager owns', () => {
  const agentIn = (bench: ApplyBench) => bench.around.object('DaemonSet', 'netsvc-node') as KubeObject;
  const initOf = (object: KubeObject) =>
    (fieldAt(object, 'spec.template.spec.initContainers') as { name: string }[]).map(({ name }) => name);

  for (const [title, made] of GITOPS) {
    it(`is planned, and goes with the one write: objects that ${title}`, async () => {
      const bench = applyBench((await ownDocuments('v3.26.4')).map(made));
      const plan = (await openApply(bench)).plan();
      const agent = 'objects' in plan ? plan.objects?.find(({ ref }) => ref.kind === 'DaemonSet') : undefined;
      assert.ok(
        agent?.fields.some(({ path, after }) => path.startsWith('spec.template.spec.initContainers[mount-run]') && after === undefined),
      );
      assert.match('notes' in plan ? (plan.notes?.join() ?? '') : '', /DaemonSet\/kube-system\/netsvc-node: another field manager owns/);
      for (const action of 'actions' in plan ? plan.actions : []) bench.around.perform(action);
      assert.deepEqual(initOf(agentIn(bench)), ['install-cni', 'prepare-node']);
      assert.deepEqual(await planned(bench), []);
    });
  }

  it('is not taken over twice by a run that was interrupted in between', async () => {
    const bench = applyBench((await ownDocuments('v3.26.4')).map(GITOPS[1]?.[1] ?? assert.fail()));
    const [save, taking] = await planned(bench);
    assert.deepEqual([save?.id, taking?.effect.type], ['save', 'patch-all']);
    if (taking) bench.around.perform(taking);
    assert.deepEqual(
      (await planned(bench)).map(({ id }) => id),
      ['save', 'wave-all', 'wait-all'],
    );
    await upgrade(bench);
    assert.deepEqual(initOf(agentIn(bench)), ['install-cni', 'prepare-node']);
  });
});

describe('what the apply stage refuses', () => {
  const finding = async (bench: ReturnType<typeof applyBench>, id: string) =>
    (await openApply(bench)).findings().find((one) => one.id === id) ?? assert.fail(`no ${id}`);

  it('a document that the server refuses (NS-202)', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    const { dryRunApply } = bench.sources.cluster;
    Object.assign(bench.sources.cluster, {
      dryRunApply: async (...args: Parameters<typeof dryRunApply>) => {
        if (args[1].kind === 'ConfigMap') throw new ApiFailure(403, 'Forbidden', 'policy says no');
        return dryRunApply(...args);
      },
    });
    const { outcome, evidence } = await finding(bench, 'NS-202');
    assert.deepEqual([outcome, evidence[0]?.text, evidence[0]?.detail], ['error', 'ConfigMap/kube-system/netsvc-config', 'policy says no']);
  });

  it('to guess edits where the installed manifest is not at hand (NS-205), until --base gives it', async () => {
    const installed = await installedClientSide('v3.26.4');
    const without = applyBench(installed, { releases: [NETSVC_TARGET] });
    const { outcome, exit, message } = await finding(without, 'NS-205');
    assert.deepEqual([outcome, exit], ['error', 'conflicts']);
    assert.match(message, /netsvc\.yaml of v3\.26\.4/);
    const given = applyBench(installed, { releases: [NETSVC_TARGET], options: { base: 'old.yaml' } });
    given.files.set('old.yaml', (await ownDocuments('v3.26.4')).map((one) => JSON.stringify(one)).join('\n---\n'));
    assert.equal((await finding(given, 'NS-205')).outcome, 'ok');
  });

  it('to tell edits by a --base that is no manifest of the variant', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'), { options: { base: 'old.yaml' } });
    for (const text of ['', JSON.stringify((await ownDocuments('v3.26.4'))[0])]) {
      bench.files.set('old.yaml', text);
      await assert.rejects(openApply(bench), { code: 'usage', message: /^old\.yaml is not a whole netsvc manifest: it has no DaemonSet/ });
    }
  });

  it('to go on with another file than the run began with (NS-206, exit 7)', async () => {
    const bench = applyBench(await installedClientSide('v3.26.4'));
    bench.record = runRecord({ digests: { 'upgrade.yaml': 'another' } });
    const { outcome, exit } = await finding(bench, 'NS-206');
    assert.deepEqual([outcome, exit], ['error', 'stale']);
  });
});

describe('the restarts of an upgrade', () => {
  it('are told per workload, in pods', async () => {
    const plan = (await openApply(applyBench(await installedClientSide('v3.26.4')))).plan();
    const objects = 'objects' in plan ? (plan.objects ?? []) : [];
    const told = objects.flatMap(({ ref, note }) => (String(note).includes('restarts') ? [`${ref.kind}/${ref.name} ${note}`] : []));
    assert.deepEqual(told, ['DaemonSet/netsvc-node restarts 2 pods', 'Deployment/netsvc-kube-controllers restarts 1 pod']);
  });
});

describe('objects that the target no longer has', () => {
  const object = (apiVersion: string, kind: string, name: string, namespace?: string): KubeObject => ({
    apiVersion,
    kind,
    metadata: { name, ...(namespace ? { namespace } : {}) },
  });
  const config = object('v1', 'ConfigMap', 'netsvc-old', 'kube-system');

  /** The apply stage where the installed release had these as well; `live` of them are in the cluster. */
  async function benchWith(extra: readonly KubeObject[], live = extra): Promise<ApplyBench> {
    const bench = applyBench([...(await installedClientSide('v3.26.4')), ...live], { options: { base: 'old.yaml' } });
    const base = [...(await ownDocuments('v3.26.4')), ...extra];
    bench.files.set('old.yaml', base.map((one) => JSON.stringify(one)).join('\n---\n'));
    return bench;
  }

  async function planOf(bench: ApplyBench) {
    const plan = (await openApply(bench)).plan();
    assert.ok('actions' in plan);
    const left = (plan.objects ?? []).filter(({ change }) => change === 'left-behind');
    return { notes: plan.notes ?? [], left: new Map(left.map(({ ref, note }) => [ref.name, note ?? ''])) };
  }

  it('are named as left behind and are not touched', async () => {
    const bench = await benchWith([config]);
    assert.deepEqual([...(await planOf(bench)).left.keys()], ['netsvc-old']);
    await upgrade(bench);
    assert.ok(bench.around.object('ConfigMap', 'netsvc-old'));
  });

  for (const [when, steps] of [
    ['before anything was applied', 0],
    ['in the middle', 3],
    ['once everything was applied', 100],
  ] as const)
    it(`are named by a run that goes on after it was killed ${when}, though nothing in the cluster tells the old release`, async () => {
      const bench = await benchWith([config]);
      for (const action of (await begun(bench)).slice(0, steps)) bench.around.perform(action);
      const left = ((await openApply(bench)).plan().objects ?? []).filter(({ change }) => change === 'left-behind');
      assert.deepEqual(
        left.map(({ ref, note }) => [ref.name, String(note).replace(/.*: /, '')]),
        [['netsvc-old', 'kubectl delete configmap netsvc-old -n kube-system']],
      );
    });

  it('are said to be unknown where a run goes on without the manifest that it began with', async () => {
    const bench = await benchWith([config]);
    await begun(bench, { told: {}, base: 'v3.1.0' });
    const { base: _, ...options } = bench.context.options;
    const { left, notes } = await planOf({ ...bench, context: { ...bench.context, options } });
    assert.equal(left.size, 0);
    assert.match(notes.join('\n'), /what the target leaves behind is not known: neither this program nor .* has netsvc\.yaml of v3\.1\.0/);
  });

  /** A run that goes on without --base, and has kept `base` as what its edits were told by. */
  async function goingOn(base: string, artifacts: Partial<Artifacts>): Promise<ApplyBench> {
    const bench = await benchWith([config]);
    await begun(bench, { told: {}, base });
    const { base: _, ...options } = bench.context.options;
    const sources = { ...bench.sources, artifacts: { ...bench.sources.artifacts, ...artifacts } };
    return { ...bench, sources, context: { ...bench.context, options } };
  }

  it('do not stop a run that goes on where the source refuses to tell whether it has the old files', async () => {
    const has = async (release: string) => {
      throw new Fault('failed', `${release}: the server answered 403`, []);
    };
    const { notes } = await planOf(await goingOn('v3.26.4', { has }));
    assert.match(notes.join('\n'), /what the target leaves behind is not known: v3\.26\.4: the server answered 403/);
  });

  it('are asked of no source under the path that --base once had', async () => {
    const asked: string[] = [];
    const has = async (release: string) => asked.push(release) > 0;
    const { notes } = await planOf(await goingOn('../base.yaml', { has }));
    assert.deepEqual(asked, []);
    assert.match(notes.join('\n'), /not known: neither this program nor .* has netsvc\.yaml of \.\.\/base\.yaml$/m);
  });

  it('have the command that deletes them, and from when on it is safe', async () => {
    const budget = object('policy/v1', 'PodDisruptionBudget', 'netsvc-old-budget', 'kube-system');
    const { left } = await planOf(
      await benchWith([config, budget, object('rbac.authorization.k8s.io/v1', 'ClusterRole', 'netsvc-old-role')]),
    );
    assert.match(
      String(left.get('netsvc-old') ?? ''),
      /old pods may still use it.* verify is green.*: kubectl delete configmap netsvc-old -n kube-system$/,
    );
    assert.match(
      String(left.get('netsvc-old-budget') ?? ''),
      /: kubectl delete poddisruptionbudget\.policy netsvc-old-budget -n kube-system$/,
    );
    assert.match(String(left.get('netsvc-old-role') ?? ''), /: kubectl delete clusterrole\.rbac\.authorization\.k8s\.io netsvc-old-role$/);
  });

  it('may be deleted while verify still names their own pods, where they are workloads', async () => {
    const { left } = await planOf(await benchWith([workloadOf('DaemonSet', 'netsvc-old', { images: { old: 'old:1' } })]));
    assert.match(
      String(left.get('netsvc-old') ?? ''),
      /its pods keep running the old release.* verify names nothing but them: kubectl delete daemonset\.apps netsvc-old -n kube-system$/,
    );
  });

  it('have no such command where more than they would go: it is said how to look first', async () => {
    const { left } = await planOf(await benchWith([object('v1', 'Namespace', 'netsvc-old')]));
    assert.match(
      String(left.get('netsvc-old') ?? ''),
      /deletes everything in it.* look what is in it: kubectl api-resources .* kubectl get .* -n netsvc-old$/,
    );
    assert.ok([...left.values()].every((note) => !String(note).includes('kubectl delete')));
  });

  it('are told with the way to look where the server no longer has their API version', async () => {
    const { left, notes } = await planOf(await benchWith([object('policy/v1beta1', 'PodSecurityPolicy', 'netsvc-old')], []));
    assert.equal(left.size, 0);
    assert.ok(
      notes
        .map(String)
        .includes(
          'PodSecurityPolicy/netsvc-old: the target no longer has it and this server no longer serves policy/v1beta1: it is gone, unless a newer version has the kind (kubectl get podsecuritypolicy netsvc-old)',
        ),
    );
  });
});
