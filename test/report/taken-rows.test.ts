import assert from 'node:assert/strict';
import type { Trace } from '../../src/kernel/edit-trace.ts';
import type { PlannedObject, Taker } from '../../src/kernel/plan.ts';
import { takenRows } from '../../src/report/taken-rows.ts';

const flux: Taker = { name: 'Flux', kind: 'gitops', manager: 'kustomize-controller', fields: 1, hint: 'Suspend it first.' };

const changed = (name: string, takers: readonly Taker[]): PlannedObject => ({
  ref: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name },
  change: 'update',
  fields: [],
  hidden: [],
  taken: takers.flatMap(({ manager = '', fields }) => (fields > 0 ? [{ path: 'data.a', manager }] : [])),
  takers,
});

const textOf = (objects: readonly PlannedObject[], wide = false, edits: readonly Trace[] = []) =>
  takenRows(objects, edits, wide).map(([, text]) => text);

describe('the lines about ownership that is taken', () => {
  it('are one for each that is overruled, over all objects, with what it will do', () => {
    assert.deepEqual(textOf(['a', 'b', 'c', 'd'].map((name) => changed(name, [flux]))), [
      'Flux (field manager "kustomize-controller") no longer manages 4 fields of ConfigMap/n/a, ConfigMap/n/b, ConfigMap/n/c and 1 more, which the upgrade sets: data.a. Suspend it first.',
    ]);
  });

  it('name a tool whose marks alone are there', () => {
    const { manager: _, ...mark } = flux;
    assert.deepEqual(textOf([changed('a', [{ ...mark, fields: 0 }])]), ['Flux owns ConfigMap/n/a, which changes. Suspend it first.']);
  });

  it('leave out what a row about an edit tells', () => {
    const object = changed('a', [flux]);
    const edit: Trace = { ref: object.ref, path: 'data.a', change: 'change', source: { kind: 'live' }, outcome: 'kept' };
    assert.deepEqual(textOf([object], false, [edit]), []);
    assert.equal(textOf([object], false, [{ ...edit, path: 'data.b' }]).length, 1);
  });

  it('say which fields go with what they belong to, and do not advise to keep these', () => {
    const taker: Taker = { name: 'kubectl', kind: 'person', manager: 'kubectl-set', fields: 2, hint: 'Set it in a copy.' };
    const init = 'spec.template.spec.initContainers[mount-bpffs]';
    const object: PlannedObject = {
      ...changed('a', [taker]),
      fields: [
        { path: `${init}.name`, before: 'mount-bpffs' },
        { path: `${init}.env[X].name`, before: 'X' },
        { path: `${init}.env[X].value`, before: '1' },
        { path: 'spec.template.spec.containers[node].command', before: 'start' },
      ],
      taken: [`${init}.env[X].value`, 'spec.template.spec.containers[node].command'].map((path) => ({ path, manager: 'kubectl-set' })),
    };
    const who = 'kubectl (field manager "kubectl-set") no longer manages 1 field of ConfigMap/n/a, which the upgrade';
    assert.deepEqual(textOf([object]), [
      `${who} sets: spec.template.spec.containers[node].command. Set it in a copy.`,
      `${who} removes together with what it belongs to: ${init}.env[X].value.`,
    ]);
    assert.equal(textOf([{ ...object, fields: object.fields.slice(2, 3) }]).length, 1, 'only its value goes');
    assert.match(
      textOf([{ ...changed('a', [{ ...taker, kind: 'gitops' }]), ...object, takers: [{ ...taker, kind: 'gitops' }] }])[1] ?? '',
      /Set it in a copy\.$/,
    );
  });

  it('list every field as well with -o wide', () => {
    const [first = '', second] = textOf([changed('a', [flux])], true);
    assert.match(first, /^Flux .* no longer manages 1 field of ConfigMap\/n\/a, which the upgrade sets: data\.a\. /);
    assert.equal(second, 'data.a of ConfigMap/n/a from "kustomize-controller"');
  });
});
