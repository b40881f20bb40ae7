import assert from 'node:assert/strict';
import { effects } from '../../src/cli/effects.ts';
import type { Action, Effect, Effects } from '../../src/kernel/action.ts';
import { actionTexts } from '../../src/kernel/effect-type.ts';
import type { PlannedObject, PlannedStage } from '../../src/kernel/plan.ts';
import { plain } from '../../src/report/colour.ts';
import { maskedStage } from '../../src/report/mask.ts';
import { planLines } from '../../src/report/plan-view.ts';

const quiet = { fields: [], hidden: [], taken: [] } as const;
const daemonSet: PlannedObject = {
  ref: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'netsvc-node' },
  change: 'update',
  fields: [
    { path: 'spec.image', before: 'a', after: 'b' },
    { path: 'spec.new', after: { x: 1 } },
    { path: 'spec.old', before: 'line\nbreak' },
  ],
  hidden: ['spec.env[OLD_FLAG]'],
  taken: [{ path: '.spec.replicas', manager: 'autoscaler' }],
  note: '2 of your changes kept',
};
const secret: PlannedObject = {
  ...quiet,
  ref: { apiVersion: 'v1', kind: 'Secret', namespace: 'ops', name: 's' },
  change: 'update',
  fields: [{ path: 'data.key', before: 'geheim', after: 'geheim2' }],
};
const same: PlannedObject = {
  ...quiet,
  ref: { apiVersion: 'v1', kind: 'ServiceAccount', namespace: 'kube-system', name: 'netsvc-node' },
  change: 'unchanged',
};
const left: PlannedObject = {
  ...quiet,
  ref: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'adminnetworkpolicies' },
  change: 'left-behind',
};

const exec = (...args: string[]) => ({ type: 'exec', run: { tool: 'netsvcctl', args } }) as const;
const stages: readonly PlannedStage[] = [
  { id: 'crds', title: 'CRDs', ref: '§4.3/2', skip: 'the full manifest holds them', actions: [], objects: [], notes: [] },
  {
    id: 'apply',
    title: 'Apply',
    ref: '§4.4/2',
    notes: ['the rollout restarts every agent'],
    objects: [daemonSet, secret, same, left],
    actions: [
      { id: 'a', title: 'a', ref: 'r', undo: 'full', effect: exec('version', 'a b') },
      {
        id: 'b',
        title: 'b',
        ref: 'r',
        undo: 'none',
        pointOfNoReturn: 'tables',
        effect: {
          type: 'patch-all',
          what: 'x removed',
          patches: [{ target: daemonSet.ref, uid: 'u', patch: [{ op: 'remove', path: '/x' }] }],
        },
      },
      {
        id: 'c',
        title: 'c',
        ref: 'r',
        undo: 'full',
        effect: {
          type: 'wait',
          timeoutMs: 5_400_000,
          until: {
            type: 'rollout',
            maxFailed: 0,
            targets: [{ kind: 'DaemonSet', namespace: 'k', name: 'n', container: 'c', image: 'i', ready: { type: 'all-containers' } }],
          },
        },
      },
    ],
  },
];
const head = {
  path: 'manifest',
  datastore: 'api',
  source: 'v3.26.4',
  release: 'v3.32.2',
  clusterUid: '2c9e0000-0000',
  digest: '7f3a11112222',
};
const view = { palette: plain, wide: false, textOf: actionTexts(effects, (tool) => (tool === 'netsvcctl' ? 'calicoctl' : tool)) };

describe('the plan', () => {
  it('shows head, objects, what kubectl hides, and every step in order', () => {
    assert.deepEqual(planLines(head, stages, view), [
      'manifest path, API datastore   v3.26.4 → v3.32.2   cluster 2c9e0000…   plan 7f3a1111…',
      'fields: + added   ~ changed   - removed',
      'KIND/NAME                                      ACTION       FIELDS  NOTE',
      'DaemonSet/kube-system/netsvc-node              update       3       2 of your changes kept',
      '    ~ spec.image: a → b',
      '    + spec.new: {"x":1}',
      '    - spec.old: line⏎break',
      'Secret/ops/s                                   update       1',
      'CustomResourceDefinition/adminnetworkpolicies  left-behind',
      '1 more object does not change (listed with -o wide)',
      'HIDDEN BY KUBECTL DRY RUN  DaemonSet/kube-system/netsvc-node spec.env[OLD_FLAG] will be removed: v3.32.2 does not have it',
      'OWNERSHIP TAKEN            .spec.replicas of DaemonSet/kube-system/netsvc-node from "autoscaler"',
      'LEFT BEHIND                CustomResourceDefinition/adminnetworkpolicies',
      'NOTE                       the rollout restarts every agent',
      'POINT OF NO RETURN         step 2: old agents refuse the new eBPF tables',
      'STEP  STAGE  DOES',
      '      crds   nothing to do: the full manifest holds them',
      "1     apply  calicoctl version 'a b'",
      '2     apply  x removed: 1 patch by kubectl’s field manager, each only if its object is still the one shown',
      '3     apply  wait at most 1h30m for the rollout of DaemonSet/k/n',
    ]);
  });

  it('shows every field when wide, Secrets masked', () => {
    const lines = planLines(head, stages, { ...view, wide: true });
    const from = lines.findIndex((line) => line.startsWith('DaemonSet/'));
    assert.deepEqual(lines.slice(from + 1, from + 4), ['    ~ spec.image: a → b', '    + spec.new: {"x":1}', '    - spec.old: line⏎break']);
    assert.ok(lines.includes('    ~ data.key: (hidden) → (hidden)'));
    assert.ok(lines.some((line) => line.startsWith('ServiceAccount/')));
    assert.doesNotMatch(lines.join('\n'), /geheim/);
  });

  it('lists only what is in the namespace of -n, and what has none', () => {
    const text = planLines(head, stages, { ...view, namespace: 'ops' }).join('\n');
    assert.match(text, /Secret\/ops\/s/);
    assert.match(text, /CustomResourceDefinition\//);
    assert.doesNotMatch(text, /^DaemonSet\//m);
  });

  it('has one row for many definitions of one action, and each definition with -o wide', () => {
    const definition = (name: string, change: 'create' | 'update'): PlannedObject => ({
      ...quiet,
      ref: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name },
      change,
    });
    const objects = [definition('a', 'update'), definition('b', 'update'), definition('c', 'create'), definition('d', 'update'), daemonSet];
    const many = [{ id: 'apply', title: 'Apply', ref: 'r', notes: [], actions: [], objects }];
    const short = planLines(head, many, view);
    assert.match(short[3] ?? '', /^3 CustomResourceDefinitions +update +see -o wide$/);
    assert.match(short[4] ?? '', /^1 CustomResourceDefinition +create +see -o wide$/);
    assert.equal(short.filter((line) => line.includes('CustomResourceDefinition/')).length, 0);
    const wide = planLines(head, many, { ...view, wide: true });
    assert.equal(wide.filter((line) => line.startsWith('CustomResourceDefinition/')).length, 4);
  });

  it('says that it does not know the installed release', () => {
    assert.match(
      planLines({ release: 'v3.32.2', clusterUid: 'u', digest: 'd' }, [], view)[0] ?? '',
      /^unknown release → v3\.32\.2 {3}cluster u {3}plan d$/,
    );
  });
});

/** An effect of each type; `geheim` stands wherever a Secret's value can be. A type that is missing here is a type error. */
const samples: { readonly [Type in keyof Effects]: Effects[Type] } = {
  exec: { type: 'exec', run: { tool: 'kubectl', args: ['create', '-f', '-'], stdin: 'geheim' } },
  'copy-policy': { type: 'copy-policy', file: '/b/p.yaml', content: 'geheim', restoredBy: 'kubectl apply -f /b/p.yaml' },
  'hold-workload': { type: 'hold-workload', target: secret.ref, ignores: { annotation: 'a/ignore', value: 'true' }, run: 'r' },
  'pace-agents': { type: 'pace-agents', target: secret.ref, path: ['spec', 'p'], paced: { ours: { maxUnavailable: 3 } } },
  'unpace-agents': { type: 'unpace-agents', target: secret.ref, path: ['spec', 'p'], former: { maxUnavailable: 1 } },
  'release-workload': { type: 'release-workload', target: secret.ref, ignores: { annotation: 'a/ignore', value: 'true' } },
  'patch-all': {
    type: 'patch-all',
    what: 'w',
    patches: ['/data/k', '', '/stringData'].map((path) => ({
      target: secret.ref,
      uid: 'u',
      patch: [{ op: 'add', path, value: 'geheim' }],
    })),
  },
  // Policies are no Secrets.
  'put-back-names': { type: 'put-back-names', moves: [], apiGroup: 'g' },
  delete: { type: 'delete', target: secret.ref },
  write: { type: 'write', file: 'f', content: 'geheim' },
  wait: { type: 'wait', until: { type: 'time-passed', ms: 1 }, timeoutMs: 1 },
  ask: { type: 'ask', instruction: 'do it' },
  backup: { type: 'backup', folder: 'f', files: [{ name: 'n', content: 'geheim' }] },
  'replace-agents': {
    ...{ type: 'replace-agents', agents: daemonSet.ref, nodes: ['n'], atOnce: 1, hooks: ['before-node'], hookMs: 1, selector: 'a=b' },
    ...{ maxFailed: 0, timeoutMs: 1, heldFor: 'rest', isStrict: false },
    target: { kind: 'DaemonSet', namespace: 'n', name: 'a', container: 'c', image: 'i', ready: { type: 'all-containers' } },
  },
  'roll-agents': { type: 'roll-agents', agents: daemonSet.ref, strategy: { type: 'RollingUpdate' }, staysOurs: false },
  'stop-canary': {
    type: 'stop-canary',
    agents: daemonSet.ref,
    nodes: ['n'],
    before: [],
    release: 'v1',
    selector: 'a=b',
    maxFailed: 0,
    timeoutMs: 1,
    target: { kind: 'DaemonSet', namespace: 'n', name: 'a', container: 'c', image: 'i', ready: { type: 'all-containers' } },
  },
  'install-cli': { type: 'install-cli', release: 'v1', path: 'p', url: 'u', to: 't' },
  // Values of the certificates are read in the moment of the write.
  'write-cli-config': { type: 'write-cli-config', to: 't', content: 'c', certificates: { secret: secret.ref, files: { f: 'key' } } },
  'remove-file': { type: 'remove-file', file: 'f', keepAs: 'k' },
  'probe-nodes': {
    type: 'probe-nodes',
    probe: { nodes: ['n'], images: ['i'], pullSecrets: ['s'], namespace: 'n', needs: undefined, versionCommands: {}, timeoutMs: 1 },
    run: 'r',
    release: 'v1',
  },
  'probe-network': {
    type: 'probe-network',
    image: 'i',
    namespace: 'n',
    agents: { name: 'a', namespace: 'n', container: 'c', ready: { type: 'all-containers' }, runs: { image: 'i' } },
  },
  'keep-connections': {
    ...{ type: 'keep-connections', image: 'i', namespace: 'n', canary: [], isStrict: false, isTrial: false, limitMs: 1 },
    agents: { name: 'a', namespace: 'n', container: 'c', ready: { type: 'all-containers' }, runs: { image: 'i' } },
  },
  'see-connections': { type: 'see-connections' },
  // An entry has the names and UIDs of owners.
  'record-owners': { type: 'record-owners', entries: [] },
  'forget-owners': { type: 'forget-owners', file: 'f' },
};

describe('a masked plan', () => {
  const action = (effect: Effect): Action => ({ id: effect.type, title: 't', ref: 'r', undo: 'full', effect });
  const textOf = actionTexts(effects, (tool) => tool);
  for (const [type, effect] of Object.entries(samples))
    it(`has no value of a Secret in ${type}, and its text has none even unmasked`, () => {
      const stage: PlannedStage = { id: 's', title: 't', ref: 'r', notes: [], objects: [], actions: [action(effect)] };
      assert.doesNotMatch(JSON.stringify(maskedStage(effects, stage)), /geheim/);
      assert.doesNotMatch(textOf(action(effect)), /geheim|\n/);
    });

  it('has no values of Secrets in its objects, and nothing that is kept for the record', () => {
    const kept = { ...action(samples.ask), keep: { changes: [], since: 'geheim' } };
    const stage: PlannedStage = { id: 's', title: 't', ref: 'r', notes: [], objects: [secret], actions: [kept] };
    assert.doesNotMatch(JSON.stringify(maskedStage(effects, stage)), /geheim/);
  });

  it('says many patches, and many hidden fields of one item, in one line each; -o wide has all of these', () => {
    const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' };
    const take: Action = {
      id: 'ownership',
      title: 'take over',
      ref: '§4.4/2',
      undo: 'full',
      effect: { type: 'patch-all', what: 'field ownership taken over', patches: [1, 2, 3, 4].map(() => ({ target, uid: 'u', patch: [] })) },
    };
    const hidden = ['spec.initContainers[old].image', 'spec.initContainers[old].command', 'spec.initContainers[old].env[A]', 'spec.x'];
    const yours = { name: 'kubectl', kind: 'person' as const, manager: 'kubectl-set', fields: 1, hint: 'Set it in a copy.' };
    const env = 'spec.initContainers[old].env[A]';
    const objects = [
      {
        ...{ ref: target, change: 'update' as const, hidden, takers: [yours] },
        fields: hidden.map((path) => ({ path, before: '1' })),
        taken: [{ path: env, manager: 'kubectl-set' }],
      },
    ];
    const stage = { id: 'apply', title: 'Apply', ref: '§4.4', actions: [take], objects, notes: [] };
    const lines = (wide: boolean) =>
      planLines({ release: 'v3.32.2', clusterUid: 'u', digest: 'd' }, [stage], {
        palette: plain,
        wide,
        textOf: actionTexts(effects, (tool) => tool),
      });
    assert.ok(
      lines(false).some((line) => /^1 +apply +field ownership taken over: 4 patches/.test(line)),
      lines(false).join('\n'),
    );
    assert.deepEqual(
      lines(false)
        .filter((line) => line.startsWith('HIDDEN'))
        .map((line) => line.replace(/^HIDDEN BY KUBECTL DRY RUN +/, '')),
      [
        'ConfigMap/c spec.initContainers[old] (3 fields) will be removed with what you have set there (env[A]): v3.32.2 does not have it',
        'ConfigMap/c spec.x will be removed: v3.32.2 does not have it',
      ],
    );
    assert.ok(!lines(false).some((line) => line.startsWith('OWNERSHIP')));
    assert.equal(lines(true).filter((line) => line.startsWith('HIDDEN')).length, 4);
    assert.ok(
      lines(true).some((line) =>
        /only if its object is still the one shown: ConfigMap\/c, ConfigMap\/c, ConfigMap\/c, ConfigMap\/c$/.test(line),
      ),
    );
  });
});
