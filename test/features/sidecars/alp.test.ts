import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chain } from '../../../src/features/chain.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { Profile } from '../../../src/kernel/profile.ts';
import { LAST_APPLIED } from '../../../src/kube/managed-fields.ts';
import { parseTemplate } from '../../../src/manifest/injector-template.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { object } from '../../fixtures/facts.ts';
import { releases } from '../../support/releases.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';
import {
  alpUndo,
  type Case,
  FILES,
  type Files,
  fileOf,
  finding,
  ids,
  injector,
  istiod,
  NEW,
  OLD,
  open,
  owned,
  planned,
  pod,
  template,
  written,
} from './mesh.ts';

describe('alp without the sidecar', () => {
  it('has nothing to do', async () => {
    assert.match(ids(await planned({ objects: [injector('plain: yes'), istiod('1.15.3')] })), /not in use/);
  });
});

describe('the template of alp', () => {
  const mesh = [injector(template(OLD)), istiod('1.15.3-distroless')];

  it('is that of the minor where the release has no exact one, and is patched because it is only data', async () => {
    const plan = await planned({ objects: mesh });
    assert.equal(ids(plan), 'file-istio-sidecar-injector template-istio-sidecar-injector');
    const last = typeof plan === 'string' ? undefined : plan[1]?.effect;
    assert.deepEqual(last?.type === 'exec' ? last.run.args.slice(0, 5) : [], [
      'patch',
      'configmap',
      'istio-sidecar-injector',
      '-n',
      'istio-system',
    ]);
    assert.equal(parseTemplate(written(plan), 'x').data.config, template(NEW, 'fresh: yes\n'));
  });

  it('is put in with the word that an older sidecar keeps working', async () => {
    const plan = (await open({ objects: mesh })).plan();
    assert.ok(
      'actions' in plan && plan.notes?.some((note) => String(note).startsWith('an older sidecar keeps working with the new agents')),
    );
  });

  it('is not begun without kubectl, in the chain as by itself', async () => {
    const stage = chain.find(({ id }) => id === 'alp') ?? assert.fail('the chain has no alp');
    const tools = { which: async () => [], platform: () => ({ os: 'linux', arch: 'amd64' }) };
    assert.equal((await finding({ objects: mesh, stage, tools }, 'NS-003'))?.outcome, 'error');
    assert.equal(await finding({ objects: [injector('plain: yes'), istiod('1.15.3')], stage, tools }, 'NS-003'), undefined);
  });

  it('is applied where it is a whole object', async () => {
    const whole = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio-sidecar-injector}\n${fileOf(NEW)}`;
    const plan = await planned({ objects: mesh, files: { [`${NEW}/manifests/alp/istio-inject-configmap-1.15.3.yaml`]: whole } });
    const last = typeof plan === 'string' ? undefined : plan[1]?.effect;
    assert.deepEqual(last?.type === 'exec' ? last.run.args.slice(0, 2) : [], ['apply', '-f']);
    assert.match(written(plan), /^apiVersion: v1\nkind: ConfigMap\n/);
  });

  describe('that is a whole object', () => {
    const labels = (marks: object) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: ${JSON.stringify({ name: 'istio-sidecar-injector', ...marks })}\n`;
    const whole = {
      [`${NEW}/manifests/alp/istio-inject-configmap-1.15.3.yaml`]: `${labels({ labels: { release: 'new', kept: 'theirs', tool: 'x' }, annotations: { of: 'target' } })}${fileOf(NEW)}`,
      [`${OLD}/manifests/alp/istio-inject-configmap-1.15.3.yaml`]: `${labels({ labels: { release: 'old', kept: 'base' } })}${fileOf(OLD)}`,
    };
    const applied = JSON.stringify({ metadata: { labels: { release: 'old', team: 'a' }, annotations: { note: 'before' } } });
    const marks = {
      labels: { release: 'old', kept: 'mine', team: 'a', 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: { note: 'mine', 'meta.helm.sh/release-name': 'istiod', [LAST_APPLIED]: applied },
    };
    const live = (change: object = {}, config = template(OLD)): KubeObject => {
      const map = injector(config);
      return { ...map, metadata: { ...map.metadata, ...marks, ...change } };
    };
    const objects = [live(), istiod('1.15.3')];

    it('brings the labels and annotations of the target, and names what kubectl would else take away; the rest stays by itself', async () => {
      const { metadata } = parse(written(await planned({ objects, files: whole }))) as KubeObject;
      assert.deepEqual(metadata, {
        name: 'istio-sidecar-injector',
        namespace: 'istio-system',
        labels: { release: 'new', team: 'a', tool: 'x' },
        annotations: { note: 'mine', of: 'target' },
      });
    });

    it('is what a person’s own template says, label by label', async () => {
      const plan = await planned({ objects, files: { '/own.yaml': Object.values(whole)[0] ?? '' }, options: { template: '/own.yaml' } });
      const { metadata } = parse(written(plan)) as KubeObject;
      assert.deepEqual(metadata.labels, { release: 'new', kept: 'theirs', team: 'a', tool: 'x' });
    });

    it('is put in again where only a label of the target is missing', async () => {
      const there = live({ labels: { kept: 'mine', release: 'new' }, annotations: { of: 'target' } }, template(NEW));
      assert.match(ids(await planned({ objects: [there, istiod('1.15.3')], files: whole })), /template-istio/);
      const all = live({ labels: { kept: 'mine', release: 'new', tool: 'x' }, annotations: { of: 'target' } }, template(NEW));
      assert.doesNotMatch(ids(await planned({ objects: [all, istiod('1.15.3')], files: whole })), /template-istio/);
    });

    it('comes back with the labels that it replaced, without those that it brought, and leaves what came later', async () => {
      const plan = await planned({ objects, files: whole });
      const kept = typeof plan === 'string' ? undefined : plan[1]?.keep;
      const now = live({
        labels: { release: 'new', kept: 'mine', team: 'a', tool: 'mine by now', later: 'x' },
        annotations: { of: 'target' },
      });
      const back = await planned({
        objects: [now, istiod('1.15.3')],
        kept: [{ id: 'r1/alp/template-x#1', content: kept }],
        stage: alpUndo,
      });
      const patch = typeof back !== 'string' && back[0]?.effect.type === 'patch-all' ? back[0].effect.patches[0]?.patch : [];
      assert.deepEqual(patch, [
        { op: 'replace', path: '/metadata/labels/release', value: 'old' },
        { op: 'remove', path: '/metadata/annotations/of' },
      ]);
    });
  });

  it('carries edits, told by the template of the release whose sidecar is there', async () => {
    const plan = await planned({ objects: [injector(`mine: yes\n${template(OLD)}`), istiod('1.15.0')] });
    assert.equal(parseTemplate(written(plan), 'x').data.config, `mine: yes\n${template(NEW, 'fresh: yes\n')}`);
  });

  it('keeps the former one before it is changed', async () => {
    const plan = await planned({ objects: mesh });
    const kept = typeof plan === 'string' ? undefined : plan[1]?.keep;
    assert.deepEqual(kept?.changes[0]?.before, { '/data/config': template(OLD) });
  });

  it('is in conflict where a person changed the same lines, with exit 8', async () => {
    const edited = template(OLD).replace('quay.io/calico/dikastes', 'mirror/dikastes');
    const found = await finding({ objects: [injector(edited), istiod('1.15.0')] }, 'NS-732');
    assert.deepEqual([found?.outcome, found?.exit], ['error', 'conflicts']);
  });

  it('is in conflict where edits cannot be told for want of the old template', async () => {
    const [only] = Object.entries(FILES);
    const found = await finding(
      { objects: [injector(`mine: yes\n${template(OLD)}`), istiod('1.15.0')], files: Object.fromEntries([only ?? ['', '']]) },
      'NS-732',
    );
    assert.match(`${found?.evidence[0]?.detail}`, /cannot be told/);
  });

  for (const [tag, why] of [
    ['1.22.1', /no template for mesh 1\.22\.1/],
    ['latest', /does not tell its version/],
  ] as const) {
    it(`is none for a mesh ${tag}, and what there is is listed`, async () => {
      const found = await finding({ objects: [injector(template(OLD)), istiod(tag)] }, 'NS-731');
      assert.equal(found?.outcome, 'error');
      assert.match(`${found?.message}`, why);
      assert.match(`${found?.hint}`, /1\.1\.0 to 1\.1\.17, .*1\.15\./);
    });
  }

  it('is the person’s own with --template', async () => {
    const files = { ...FILES, 'mine.yaml': fileOf(NEW, 'own: yes\n') };
    const plan = await planned({ objects: [injector(template(NEW)), istiod('1.22.1')], files, options: { template: 'mine.yaml' } });
    assert.match(written(plan), /own: yes/);
  });

  it('is looked for per revision', async () => {
    const given = { objects: [injector(template(OLD), 'istio-sidecar-injector-canary'), istiod('1.15.0', 'canary')] };
    assert.equal(ids(await planned(given)), 'file-istio-sidecar-injector-canary template-istio-sidecar-injector-canary');
  });

  describe('that mounts by the CSI driver', () => {
    const files = { ...FILES, [`${NEW}/manifests/alp/istio-inject-configmap-1.15.yaml`]: fileOf(NEW, '  - csi:\n') };
    const driver = (numberReady: number, namespace = 'calico-system', desiredNumberScheduled = 3) =>
      object('apps/v1', `DaemonSet/${namespace}/csi-node-driver`, { status: { desiredNumberScheduled, numberReady } });
    const cases: readonly (readonly [title: string, objects: readonly KubeObject[], outcome: string, says: RegExp])[] = [
      ['is refused without the driver', [], 'error', /is not installed/],
      ['is refused until the driver is ready on every node', [driver(2)], 'error', /ready on 2 of 3 nodes/],
      ['is refused while the driver, just made, is wanted nowhere', [driver(0, 'calico-system', 0)], 'error', /to run on no node yet/],
      ['goes in where it is', [driver(3)], 'ok', /ready on 3 nodes/],
      ['finds the driver of a manifest in the other namespace', [driver(3, 'kube-system')], 'ok', /ready on 3 nodes/],
    ];
    for (const [title, objects, outcome, says] of cases) {
      it(title, async () => {
        const found = await finding({ objects: [injector(template(OLD)), istiod('1.15.0'), ...objects], files }, 'NS-733');
        assert.deepEqual([found?.outcome, says.test(found?.message ?? '')], [outcome, true], found?.message);
      });
    }
  });

  describe('that restarted pods really get', () => {
    const CSI = '  - csi:\n      driver: csi.tigera.io\n';
    const FLEX = '  - flexVolume:\n      driver: nodeagent/uds\n';
    const served = (name: string, sidecar: string, revision = 'default') => [
      object('apps/v1', `StatefulSet/shop/${name}`, { status: { replicas: 1, updatedReplicas: 1 } }),
      pod(`${name}-0`, sidecar, owned('StatefulSet', name), { 'istio.io/rev': revision }),
    ];
    const [stale, fresh] = [served('db', OLD), served('db', NEW)];
    const driver = object('apps/v1', 'DaemonSet/calico-system/csi-node-driver', {
      status: { desiredNumberScheduled: 3, numberReady: 3 },
    });
    /** A mesh for which the target has no template: a person who accepts NS-731 goes on with the live one. */
    const live = (config: string) => [injector(config), istiod('1.22.1')];
    const own = (config: string): Files => ({ 'mine.yaml': config });
    const { flexDriver: _, ...sidecar } = calico.sidecar;
    const unnamed: Profile = { ...calico, sidecar };
    const canary = (config: string) => injector(config, 'istio-sidecar-injector-canary');
    const cases: readonly (readonly [title: string, given: Case, outcome: string, says: RegExp, about?: RegExp])[] = [
      [
        'is refused without the driver where the live one stays',
        { objects: [...live(template(NEW, CSI)), ...stale] },
        'error',
        /CSI driver, which is not installed/,
      ],
      ['is fine with it where the live one stays', { objects: [...live(template(NEW, CSI)), ...stale, driver] }, 'ok', /on 3 nodes/],
      [
        'is refused where a live one that stays has the flexible volume',
        { objects: [...live(template(NEW, FLEX)), ...stale, driver] },
        'error',
        pattern`flexible volume driver, which ${CALICO_TARGET} does not have`,
        /as it is now/,
      ],
      [
        'does not matter where nothing is restarted and the live one stays',
        { objects: [...live(template(NEW, FLEX)), ...fresh] },
        'not-applicable',
        /no template/,
      ],
      [
        'matters where --all restarts what is new',
        { objects: [...live(template(NEW, FLEX)), ...fresh], options: { all: true } },
        'error',
        /flexible volume/,
      ],
      [
        'does not matter with --only-template where the live one stays',
        { objects: [...live(template(NEW, FLEX)), ...stale], options: { onlyTemplate: true } },
        'not-applicable',
        /no template/,
      ],
      [
        'does not matter where the live one gives older sidecars: nothing is restarted for them',
        { objects: [...live(template(OLD, FLEX)), ...stale] },
        'not-applicable',
        /no template/,
      ],
      [
        'is refused as a person’s own file with the flexible volume',
        { objects: [...live(template(NEW, CSI)), ...stale, driver], files: own(fileOf(NEW, FLEX)), options: { template: 'mine.yaml' } },
        'error',
        /flexible volume/,
        /mine\.yaml/,
      ],
      [
        'is refused as such a file with --only-template: any new pod would be made by it',
        { objects: live(template(NEW, CSI)), files: own(fileOf(NEW, FLEX)), options: { template: 'mine.yaml', onlyTemplate: true } },
        'error',
        /flexible volume/,
      ],
      [
        'is the person’s own file, whatever the live one has',
        { objects: [...live(template(NEW, FLEX)), ...stale, driver], files: own(fileOf(NEW, CSI)), options: { template: 'mine.yaml' } },
        'ok',
        /CSI driver is ready/,
      ],
      [
        'is refused with a flexible volume that an edit carries into it',
        { objects: [injector(`${FLEX}${template(OLD)}`), istiod('1.15.0'), ...stale, driver] },
        'error',
        /flexible volume/,
        /with your changes/,
      ],
      [
        'may have the flexible volume where the target still has its driver',
        { objects: [...live(template('v3.23.5', FLEX)), ...stale], options: { release: 'v3.23.5' } },
        'not-applicable',
        /no template/,
      ],
      [
        'may have another flexible volume',
        { objects: [...live(template(NEW, FLEX.replace('nodeagent/uds', 'vendor/disk'))), ...stale] },
        'not-applicable',
        /no template/,
      ],
      [
        'is refused with any flexible volume where the profile does not name the driver',
        { objects: [...live(template(NEW, FLEX.replace('nodeagent/uds', 'vendor/uds'))), ...stale], profile: unnamed },
        'error',
        /flexible volume/,
      ],
      [
        'may name the flexible volume in a comment',
        { objects: [...live(template(NEW, '  # driver: nodeagent/uds\n')), ...stale] },
        'not-applicable',
        /no template/,
      ],
      [
        'is that of the injector whose workloads are restarted, not another’s',
        { objects: [...live(template(NEW, FLEX)), canary(template(NEW, CSI)), ...served('db', OLD, 'canary'), driver] },
        'ok',
        /CSI driver is ready/,
      ],
      [
        'is every injector’s where a workload does not tell its own',
        { objects: [...live(template(NEW, FLEX)), canary(template(NEW, CSI)), ...served('db', OLD, ''), driver] },
        'error',
        /ConfigMap\/istio-system\/istio-sidecar-injector$/,
      ],
    ];
    for (const [title, given, outcome, says, about = /^/] of cases) {
      it(title, async () => {
        const found = await finding(given, 'NS-733');
        assert.deepEqual([found?.outcome, says.test(found?.message ?? '')], [outcome, true], found?.message);
        assert.match(`${found?.evidence[0]?.detail}`, about);
      });
    }

    it('is not taken for harmless where it cannot be read', async () => {
      const given = { objects: [...live(template(NEW, CSI)), ...stale], files: own('no: data'), options: { template: 'mine.yaml' } };
      const found = await finding(given, 'NS-733');
      assert.deepEqual(
        [found?.outcome, found?.message],
        ['error', 'could not be checked: mine.yaml is no template of the injector: it has no data'],
      );
    });
  });
});

describe('the restarts of alp', () => {
  const current = [injector(template(NEW, 'fresh: yes\n')), istiod('1.15.0')];
  const set = object('apps/v1', 'ReplicaSet/shop/web-1', { metadata: { ownerReferences: owned('Deployment', 'web') } });
  const complete = { replicas: 1, updatedReplicas: 1 };
  const deployment = (spec = {}, status: object = complete) => object('apps/v1', 'Deployment/shop/web', { spec, status });
  const web = [set, deployment(), pod('web-1-a', OLD, owned('ReplicaSet', 'web-1'), { app: 'web' })];

  it('reach workloads with an older sidecar, and wait for them', async () => {
    const plan = await planned({ objects: [...current, ...web] });
    assert.equal(ids(plan), 'restart-Deployment-shop-web wait-1');
    const [restart] = typeof plan === 'string' ? [] : plan;
    assert.deepEqual(restart?.effect.type === 'exec' ? restart.effect.run.args : [], [
      'rollout',
      'restart',
      'deployment/web',
      '-n',
      'shop',
    ]);
  });

  it('are the same with --namespace, which only chooses what is listed', async () => {
    const plan = await planned({ objects: [...current, ...web], options: { namespace: 'elsewhere' } });
    assert.equal(ids(plan), 'restart-Deployment-shop-web wait-1');
  });

  it('leave workloads with a new sidecar alone, but for --all', async () => {
    const objects = [...current, set, deployment(), pod('web-1-a', NEW, owned('ReplicaSet', 'web-1'))];
    assert.match(ids(await planned({ objects })), /every sidecar/);
    assert.equal(ids(await planned({ objects, options: { all: true } })), 'restart-Deployment-shop-web wait-1');
  });

  it('go in batches', async () => {
    const more = ['a', 'b', 'c'].flatMap((name) => [
      object('apps/v1', `StatefulSet/shop/${name}`, { status: complete }),
      pod(`${name}-0`, OLD, owned('StatefulSet', name)),
    ]);
    const plan = await planned({ objects: [...current, ...more], options: { batch: 2 } });
    assert.equal(ids(plan), 'restart-StatefulSet-shop-a restart-StatefulSet-shop-b wait-1 restart-StatefulSet-shop-c wait-2');
  });

  it('reach a StatefulSet whose partition is 0, as one without', async () => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 0 } };
    const db = [
      object('apps/v1', 'StatefulSet/shop/db', { spec: { updateStrategy }, status: complete }),
      pod('db-0', OLD, owned('StatefulSet', 'db')),
    ];
    assert.equal(ids(await planned({ objects: [...current, ...db] })), 'restart-StatefulSet-shop-db wait-1');
  });

  it('of workloads that share a disruption budget are never in one batch', async () => {
    const budget = object('policy/v1', 'PodDisruptionBudget/shop/all', {
      spec: { selector: { matchLabels: { app: 'db' } } },
      status: { disruptionsAllowed: 1 },
    });
    const sets = ['a', 'b', 'c'].flatMap((name) => [
      object('apps/v1', `StatefulSet/shop/${name}`, { status: complete }),
      pod(`${name}-0`, OLD, owned('StatefulSet', name), { app: name === 'b' ? 'other' : 'db' }),
    ]);
    const plan = await planned({ objects: [...current, ...sets, budget], options: { batch: 3 } });
    assert.equal(ids(plan), 'restart-StatefulSet-shop-a restart-StatefulSet-shop-b wait-1 restart-StatefulSet-shop-c wait-2');
    const [first] = typeof plan === 'string' ? [] : plan;
    const onlyIf = first?.effect.type === 'exec' ? first.effect.onlyIf : undefined;
    assert.deepEqual(onlyIf?.type === 'restartable' ? [onlyIf.workload.name, onlyIf.budgets] : [], ['a', ['all']]);
  });

  it('are judged anew before the one that is really the first', async () => {
    const budget = object('policy/v1', 'PodDisruptionBudget/shop/all', {
      spec: { selector: { matchLabels: { app: 'db' } } },
      status: { disruptionsAllowed: 1 },
    });
    const rolling = { replicas: 2, updatedReplicas: 1 };
    const sets = ['a', 'b', 'c'].flatMap((name) => [
      object('apps/v1', `StatefulSet/shop/${name}`, { status: name === 'a' ? rolling : complete }),
      pod(`${name}-0`, OLD, owned('StatefulSet', name), { app: name === 'c' ? 'other' : 'db' }),
    ]);
    const plan = await planned({ objects: [...current, ...sets, budget], options: { batch: 2 } });
    assert.deepEqual(
      (typeof plan === 'string' ? [] : plan).map(({ id, afresh = false }) => [id, afresh]),
      [
        ['restart-StatefulSet-shop-c', true],
        ['wait-1', false],
        ['restart-StatefulSet-shop-b', false],
        ['wait-2', false],
      ],
    );
  });

  it('are not repeated where pods are being replaced already', async () => {
    const objects = [
      ...current,
      set,
      deployment({}, { replicas: 2, updatedReplicas: 1 }),
      pod('web-1-a', OLD, owned('ReplicaSet', 'web-1')),
    ];
    const plan = await planned({ objects });
    assert.equal(ids(plan), 'wait-1');
    // Whatever its pods get: it may have begun before the template was there. What is old then is restarted in the next round.
    const [wait] = typeof plan === 'string' ? [] : plan;
    const until = wait?.effect.type === 'wait' && wait.effect.until.type === 'rollout' ? wait.effect.until : assert.fail();
    assert.deepEqual(
      until.targets.map(({ anyImage }) => anyImage),
      [true],
    );
    const whole = (await open({ objects })).plan();
    assert.ok('actions' in whole && whole.again === true);
  });

  it('wait for the template', async () => {
    const plan = await planned({ objects: [injector(template(OLD)), istiod('1.15.0'), ...web] });
    assert.equal(ids(plan), 'file-istio-sidecar-injector template-istio-sidecar-injector restart-Deployment-shop-web wait-1');
    assert.equal(typeof plan === 'string' ? undefined : plan[2]?.afresh, true);
    assert.equal(
      ids(await planned({ objects: [injector(template(OLD)), istiod('1.15.0'), ...web], options: { onlyTemplate: true } })),
      'file-istio-sidecar-injector template-istio-sidecar-injector',
    );
  });

  const budget = object('policy/v1', 'PodDisruptionBudget/shop/web', {
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: { disruptionsAllowed: 0 },
  });
  const held = (kind: string, updateStrategy: object, status: object = complete) => [
    object('apps/v1', `${kind}/shop/db`, { spec: { replicas: 1, updateStrategy }, status }),
    pod('db-0', OLD, owned(kind, 'db')),
  ];
  const left: readonly (readonly [title: string, objects: readonly KubeObject[], why: RegExp])[] = [
    ['a pod without a controller', [pod('alone', OLD)], /without a controller/],
    ['a Job', [pod('job-1', OLD, owned('Job', 'job'))], /next Job/],
    ['another controller', [pod('r-1', OLD, owned('Rollout', 'r'))], /its own controller/],
    [
      'a workload whose own template has the sidecar',
      [
        set,
        deployment({ template: { spec: { containers: [{ name: 'dikastes', image: `calico/dikastes:${OLD}` }] } } }),
        pod('web-1-a', OLD, owned('ReplicaSet', 'web-1')),
      ],
      /its own pod template/,
    ],
    ['a paused Deployment', [set, deployment({ paused: true }), pod('web-1-a', OLD, owned('ReplicaSet', 'web-1'))], /paused/],
    [
      'a StatefulSet whose pods are only replaced by hand',
      [...held('StatefulSet', { type: 'OnDelete' })],
      /OnDelete: delete its pods yourself/,
    ],
    [
      'a DaemonSet whose pods are only replaced by hand',
      [...held('DaemonSet', { type: 'OnDelete' })],
      /OnDelete: delete its pods yourself/,
    ],
    [
      'a StatefulSet that updates from a partition on',
      [...held('StatefulSet', { type: 'RollingUpdate', rollingUpdate: { partition: 2 } })],
      /stops at partition 2: delete its pods yourself/,
    ],
    // What a restart of an earlier program left: its controller has a new template and no pod of it.
    [
      'a StatefulSet that was restarted in vain',
      [...held('StatefulSet', { type: 'OnDelete' }, { replicas: 1, updatedReplicas: 0 })],
      /OnDelete: delete its pods yourself/,
    ],
    ['a spent disruption budget', [...web, budget], /allows no disruption/],
  ];
  for (const [title, objects, why] of left) {
    it(`leave ${title} to a person, and say so`, async () => {
      const given = { objects: [...current, ...objects] };
      assert.match(ids(await planned(given)), /every sidecar that can be restarted/);
      const found = await finding(given, 'NS-734');
      assert.equal(found?.outcome, 'warning');
      assert.match(`${found?.evidence[0]?.detail}`, why);
    });
  }
});

describe('sidecars that restarts would not change', () => {
  const set = object('apps/v1', 'StatefulSet/shop/db', { status: { replicas: 1, updatedReplicas: 1 } });
  const db = [set, pod('db-0', OLD, owned('StatefulSet', 'db'))];

  it('are left where no injector has the sidecar', async () => {
    assert.equal(typeof (await planned({ objects: db })), 'string');
    const found = await finding({ objects: db }, 'NS-734');
    assert.match(`${found?.evidence[0]?.detail}`, /no injector/);
  });

  it('are left while the injector gives older ones, and the reason is said', async () => {
    const given = { objects: [injector(template(OLD)), istiod('1.22.1'), ...db] };
    assert.match(ids(await planned(given)), new RegExp(`still gives sidecars of ${OLD}`));
  });

  const own = (name: string, annotations: object, labels = {}) => {
    const one = pod(`${name}-0`, OLD, owned('StatefulSet', name), labels);
    return [
      object('apps/v1', `StatefulSet/shop/${name}`, { status: { replicas: 1, updatedReplicas: 1 } }),
      {
        ...one,
        metadata: { ...one.metadata, annotations },
      } as KubeObject,
    ];
  };
  const status = (revision: string) => ({ 'sidecar.istio.io/status': `{"containers":["istio-proxy"],"revision":"${revision}"}` });
  const leftOf = async (objects: readonly KubeObject[]) =>
    (await finding({ objects }, 'NS-734'))?.evidence.map(({ text, detail = '' }) => `${text}: ${detail.split(':')[0]}`);

  it('are left where their revision’s injector lost the sidecar, or there is none: they would come back without any', async () => {
    const objects = [
      injector(template(NEW, 'fresh: yes\n')),
      injector('made: anew by the mesh', 'istio-sidecar-injector-canary'),
      istiod('1.15.0'),
      ...own('fresh', status('default')),
      ...own('bare', status('canary')),
      ...own('orphan', status('gone')),
      ...own('unknown', {}),
    ];
    assert.equal(ids(await planned({ objects })), 'restart-StatefulSet-shop-fresh wait-1');
    assert.deepEqual(await leftOf(objects), [
      'StatefulSet/shop/bare: its injector istio-sidecar-injector-canary has no sidecar',
      'StatefulSet/shop/orphan: its pods are of revision gone, of which no injector has the sidecar',
      'StatefulSet/shop/unknown: its pods do not show which injector serves them, and not every injector has the new sidecar',
    ]);
  });

  it('are left where only a revision without any injector is told', async () => {
    const objects = [injector(template(NEW, 'fresh: yes\n')), istiod('1.15.0'), ...own('orphan', status('gone')), ...own('unknown', {})];
    assert.equal(ids(await planned({ objects })), 'restart-StatefulSet-shop-unknown wait-1');
  });

  it('are left where their revision’s injector gives older ones, or cannot be told, while another’s gives new ones', async () => {
    const objects = [
      injector(template(NEW, 'fresh: yes\n')),
      injector(template(OLD), 'istio-sidecar-injector-canary'),
      istiod('1.15.0'),
      ...own('fresh', status('default'), { 'istio.io/rev': 'stable' }),
      ...own('labelled', {}, { 'istio.io/rev': 'default' }),
      ...own('held', status('canary')),
      ...own('unknown', {}),
    ];
    assert.equal(ids(await planned({ objects })), 'restart-StatefulSet-shop-fresh wait-1 restart-StatefulSet-shop-labelled wait-2');
    assert.deepEqual(await leftOf(objects), [
      'StatefulSet/shop/held: its injector istio-sidecar-injector-canary still gives an older sidecar',
      'StatefulSet/shop/unknown: its pods do not show which injector serves them, and not every injector has the new sidecar',
    ]);
  });

  it('are found as native sidecars, which are init containers', async () => {
    const native = object('v1', 'Pod/shop/db-0', {
      metadata: { ownerReferences: owned('StatefulSet', 'db') },
      spec: {
        containers: [{ name: 'app', image: 'shop' }],
        initContainers: [{ name: 'dikastes', image: `quay.io/calico/dikastes:${OLD}`, restartPolicy: 'Always' }],
      },
      status: { phase: 'Running' },
    });
    const current = [injector(template(NEW, 'fresh: yes\n')), istiod('1.15.0')];
    assert.equal(ids(await planned({ objects: [...current, set, native] })), 'restart-StatefulSet-shop-db wait-1');
  });
});

describe('the published templates', () => {
  const folder = join(releases, NEW, 'manifests', 'alp');
  it('are read, each of them, and are found by the mesh’s version', async () => {
    const files = readdirSync(folder).filter((file) => file.startsWith('istio-inject-configmap-'));
    assert.ok(files.length >= 40);
    for (const file of files) {
      const text = readFileSync(join(folder, file), 'utf8');
      const { data, isObject } = parseTemplate(text, file);
      assert.deepEqual([Object.keys(data), isObject], [['config'], false], file);
      const version = /configmap-(.*)\.yaml/.exec(file)?.[1] ?? '';
      const mesh = version.split('.').length === 3 ? version : `${version}.7`;
      const old = (data.config ?? '').replaceAll(`dikastes:${NEW}`, `dikastes:${OLD}`);
      const found = { [`${NEW}/manifests/alp/${file}`]: text };
      const plan = await planned({ objects: [injector(old), istiod(mesh)], files: found });
      assert.equal(parseTemplate(written(plan), file).data.config, data.config, file);
    }
  });
});
