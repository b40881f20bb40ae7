import assert from 'node:assert/strict';
import fc from 'fast-check';
import { HIDDEN } from '../../src/core/hidden.ts';
import type { KubeObject } from '../../src/core/object.ts';
import type { PlannedObject } from '../../src/core/plan.ts';
import { liveEdits, manifestEdits, removedObject, takenEdits } from '../../src/merge/edits.ts';

type Env = Readonly<Record<string, string>>;

function agents(env: Env, image = 'registry.example/node:v3.26.4', more: object = {}): KubeObject {
  const container = { name: 'node', image, env: Object.entries(env).map(([name, value]) => ({ name, value })) };
  const spec = { template: { spec: { containers: [container], ...more } } };
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'node', namespace: 'kube-system' }, spec };
}

const plain = (kind: string, fields: object): KubeObject => ({ apiVersion: 'v1', kind, metadata: { name: 'x' }, ...fields });

const told = (base: KubeObject, mine: KubeObject, theirs: KubeObject, result = theirs) =>
  manifestEdits({ base, mine, theirs, result }).map(({ status, path }) => `${status} ${path.replace('spec.template.spec.', '')}`);

const NEW = 'registry.example/node:v3.32.2';

describe('manifestEdits', () => {
  const cases: readonly { title: string; mine: KubeObject; base?: KubeObject; theirs?: KubeObject; edits: readonly string[] }[] = [
    { title: 'nothing for the release as it is', mine: agents({ IP: 'a' }), edits: [] },
    { title: 'nothing for another release tag', mine: agents({ IP: 'a' }, 'registry.example/node:v3.26.5'), edits: [] },
    { title: 'a changed value as lost', mine: agents({ IP: 'b' }), edits: ['lost containers[node].env[IP].value'] },
    { title: 'an addition as lost', mine: agents({ IP: 'a', MY: '1' }), edits: ['lost containers[node].env[MY].value'] },
    { title: 'a removal as lost', mine: agents({}), edits: ['lost containers[node].env[IP].value'] },
    {
      title: 'a change that the target has too as kept',
      mine: agents({ IP: 'b' }),
      theirs: agents({ IP: 'b' }, NEW),
      edits: ['kept containers[node].env[IP].value'],
    },
    {
      title: 'another repository as lost',
      mine: agents({ IP: 'a' }, 'mirror.example/node:v3.26.4'),
      edits: ['lost containers[node].image'],
    },
    {
      title: 'the repository of the target as kept',
      mine: agents({ IP: 'a' }, 'new.example/node:v3.26.4'),
      theirs: agents({ IP: 'a' }, 'new.example/node:v3.32.2'),
      edits: ['kept containers[node].image'],
    },
    {
      title: 'a digest as lost: a release tag it is not',
      mine: agents({ IP: 'a' }, `registry.example/node@sha256:${'a'.repeat(64)}`),
      edits: ['lost containers[node].image'],
    },
    {
      title: 'a change in a part that the target no longer has as obsolete',
      base: agents({ IP: 'a' }, undefined, { initContainers: [{ name: 'old', command: ['a'] }] }),
      mine: agents({ IP: 'a' }, undefined, { initContainers: [{ name: 'old', command: ['b'] }] }),
      edits: ['obsolete initContainers[old].command'],
    },
  ];
  for (const { title, mine, base = agents({ IP: 'a' }), theirs = agents({ IP: 'a' }, NEW), edits } of cases) {
    it(`tells ${title}`, () => assert.deepEqual(told(base, mine, theirs), edits));
  }

  it('takes numbers and their text, and quantities written otherwise, for equal', () => {
    const [base, mine] = [plain('ConfigMap', { data: { a: '1', cpu: '0.25' } }), plain('ConfigMap', { data: { a: 1, cpu: '250m' } })];
    assert.deepEqual(told(base, mine, base), []);
  });

  it('never shows the value of a Secret', () => {
    const [base, mine] = [plain('Secret', { data: { key: 'b2xk' } }), plain('Secret', { data: { key: 'bmV3' } })];
    const [edit] = manifestEdits({ base, mine, theirs: base, result: base });
    assert.deepEqual([edit?.status, edit?.base, edit?.mine, edit?.theirs], ['lost', HIDDEN, HIDDEN, HIDDEN]);
  });

  const environment = fc.dictionary(fc.constantFrom('A', 'B', 'C', 'D'), fc.constantFrom('1', '2', '3'));

  it('finds no edit where none was made, and none that the outcome lacks is called kept', () => {
    fc.assert(
      fc.property(environment, environment, environment, (b, m, t) => {
        const [base, mine, theirs] = [agents(b), agents(m), agents(t)];
        assert.deepEqual(told(base, base, theirs), []);
        const edits = manifestEdits({ base, mine, theirs, result: theirs });
        const differing = new Set([...Object.keys(b), ...Object.keys(m)].filter((name) => b[name] !== m[name]));
        assert.equal(edits.length, differing.size);
        for (const { path, status } of edits) {
          const name = /env\[(\w+)\]/.exec(path)?.[1] ?? '';
          assert.equal(status === 'kept', m[name] === t[name], `${path} ${status}`);
        }
      }),
    );
  });

  it('calls every edit kept if the outcome is what the person has', () => {
    fc.assert(
      fc.property(environment, environment, (b, m) => {
        const mine = agents(m);
        assert.ok(told(agents(b), mine, agents(b), mine).every((line) => line.startsWith('kept')));
      }),
    );
  });
});

describe('liveEdits', () => {
  it('leaves out the addresses that every Service gets anew', () => {
    const ports = (nodePort: number) => [{ port: 80, protocol: 'TCP', nodePort }];
    const base = plain('Service', { spec: { type: 'NodePort', clusterIP: '10.0.0.1', ports: ports(30001) } });
    const mine = plain('Service', { spec: { type: 'NodePort', clusterIP: '10.0.0.2', ports: ports(30002) } });
    assert.deepEqual(liveEdits({ base, mine, theirs: base, result: mine }), []);
  });
});

describe('removedObject', () => {
  const base = plain('ConfigMap', {});
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x' };
  const planned = (change: PlannedObject['change']): PlannedObject => ({ ref, change, fields: [], hidden: [], taken: [] });

  it('is what the person does without and the upgrade would create', () => {
    assert.deepEqual(
      removedObject(base, planned('create')).map(({ status, path }) => [status, path]),
      [['lost', '']],
    );
  });

  it('is not what is there, nor a CRD', () => {
    assert.deepEqual(removedObject(base, planned('update')), []);
    assert.deepEqual(removedObject(plain('CustomResourceDefinition', {}), planned('create')), []);
  });
});

describe('takenEdits', () => {
  it('takes what another manager set and the upgrade changes, but no release tag', () => {
    const ref = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node' };
    const path = 'spec.template.spec.containers[node].image';
    const planned: PlannedObject = {
      ref,
      change: 'update',
      fields: [
        { path: 'spec.replicas', before: 3, after: 1 },
        { path, before: 'registry.example/node:v3.26.4', after: NEW },
      ],
      hidden: [],
      taken: [
        { path: 'spec.replicas', manager: 'kubectl-scale' },
        { path, manager: 'kubectl-set' },
      ],
    };
    assert.deepEqual(
      takenEdits(planned).map((edit) => [edit.path, edit.manager, edit.status]),
      [['spec.replicas', 'kubectl-scale', 'lost']],
    );
  });
});
