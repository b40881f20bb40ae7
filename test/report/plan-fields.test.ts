import assert from 'node:assert/strict';
import type { Edit } from '../../src/kernel/edit.ts';
import type { FieldChange, PlannedObject } from '../../src/kernel/plan.ts';
import { fieldLines } from '../../src/report/plan-fields.ts';

const ref = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'calico-node' };
const changed = (count: number): readonly FieldChange[] =>
  Array.from({ length: count }, (_, index) => ({ path: `spec.f${index}`, before: 1, after: 2 }));
const object = (fields: readonly FieldChange[], more: Partial<PlannedObject> = {}): PlannedObject => ({
  ...{ ref, change: 'update', fields, hidden: [], taken: [] },
  ...more,
});
const edit = (path: string, more: Partial<Edit> = {}): Edit => ({
  ...{ ref, path, change: 'change', mine: 1, theirs: 2, source: { kind: 'live' }, outcome: 'target' },
  ...more,
});

describe('the fields of a plan', () => {
  it('are those of workloads alone, unless all are asked for', () => {
    const config = object(changed(2), { ref: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'c' } });
    assert.deepEqual(fieldLines(config, [], false), []);
    assert.deepEqual(fieldLines(config, [], true), ['    ~ spec.f0: 1 → 2', '    ~ spec.f1: 1 → 2']);
  });

  it('are named within the pods’ template where not all are asked for', () => {
    const template = object([
      { path: 'spec.template.spec.containers[a].image', before: 'x', after: 'y' },
      { path: 'spec.template.spec.', after: 1 },
    ]);
    assert.deepEqual(fieldLines(template, [], false), ['    ~ containers[a].image: x → y', '    + spec.template.spec.: 1']);
    assert.match(fieldLines(template, [], true)[0] ?? '', /~ spec\.template\.spec\.containers/);
  });

  it('are at most 20 of an object, and the rest is counted', () => {
    assert.equal(fieldLines(object(changed(20)), [], false).length, 20);
    const lines = fieldLines(object(changed(23)), [], false);
    assert.equal(lines.length, 21);
    assert.equal(lines.at(-1), '    … and 3 more fields (see -o wide)');
    assert.equal(fieldLines(object(changed(23)), [], true).length, 23);
  });

  it('never leave out an image: it is what an upgrade is about', () => {
    const image = { path: 'spec.template.spec.containers[a].image', before: 'x:1', after: 'x:2' };
    const lines = fieldLines(object([...changed(30), image]), [], false);
    assert.deepEqual([lines.length, lines.at(-2)], [21, '    ~ containers[a].image: x:1 → x:2']);
  });

  it('never leave out what is removed, lost of your changes or taken from another manager, however many there are', () => {
    const removed = Array.from({ length: 25 }, (_, index) => ({ path: `spec.gone${index}`, before: 1 }));
    const last = [
      { path: 'spec.replicas', before: 3, after: 1 },
      { path: 'spec.mine', before: 'a', after: 'b' },
      { path: 'spec.deep', before: { x: 1 }, after: { x: 2 } },
    ];
    const lines = fieldLines(
      object([...changed(30), ...removed, ...last], {
        taken: [
          { path: 'spec.replicas', manager: 'autoscaler' },
          { path: 'spec.deep.x', manager: 'flux' },
        ],
      }),
      [edit('spec.mine')],
      false,
    );
    assert.equal(lines.filter((line) => line.startsWith('    - spec.gone')).length, 25);
    assert.deepEqual(lines.slice(25), [
      '    ~ spec.replicas: 3 → 1   (taken from "autoscaler")',
      '    ~ spec.mine: a → b   (your change is lost)',
      '    ~ spec.deep: {"x":1} → {"x":2}   (taken from "flux")',
      '    … and 30 more fields (see -o wide)',
    ]);
  });

  for (const [what, more, isLost] of [
    ['is kept', { outcome: 'kept' }, false],
    ['is in the target already', { outcome: 'already' }, false],
    ['has no place there', { outcome: 'obsolete' }, true],
    ['is to be decided', { outcome: 'conflict' }, true],
    ['was decided for you', { outcome: 'conflict', decided: 'mine' }, false],
    ['was decided for the release', { outcome: 'conflict', decided: 'theirs' }, true],
    ['is of another object', { ref: { ...ref, name: 'other' } }, false],
  ] as const)
    it(`say of a change of yours that ${what} ${isLost ? 'that it is lost' : 'nothing'}`, () => {
      const [line = ''] = fieldLines(object(changed(1)), [edit('spec.f0', more as Partial<Edit>)], false);
      assert.equal(line.endsWith('(your change is lost)'), isLost);
    });

  it('name who a field is taken from at the place where the change begins', () => {
    const taken = ['spec.a.b', 'spec.a[x].c', 'spec.ab', 'spec'].map((path, index) => ({ path, manager: `m${index}` }));
    const lines = fieldLines({ ...object([{ path: 'spec.a', before: 1, after: 2 }]), taken }, [], true);
    assert.deepEqual(lines, ['    ~ spec.a: 1 → 2   (taken from "m0", "m1")']);
  });

  it('look once at each field that is taken from another: a definition has thousands of both', () => {
    let looks = 0;
    const fields = changed(100);
    const taken = fields.map(({ path }) => ({
      manager: 'm',
      get path() {
        looks += 1;
        return path;
      },
    }));
    assert.equal(fieldLines({ ...object(fields), taken }, [], true).length, 100);
    assert.equal(looks, 100);
  });
});
