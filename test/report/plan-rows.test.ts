import assert from 'node:assert/strict';
import type { Edit } from '../../src/kernel/edit.ts';
import type { PlannedObject, Taker } from '../../src/kernel/plan.ts';
import { plain } from '../../src/report/colour.ts';
import { differingTexts, editLines, keptNote, resultText, shortValue, takenRows } from '../../src/report/plan-rows.ts';

const edit = (more: Partial<Edit>): Edit => ({
  ref: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'agent' },
  path: 'spec.template.spec.containers[agent].image',
  change: 'change',
  source: { kind: 'file' },
  outcome: 'kept',
  ...more,
});

describe('what becomes of an edit, for a person', () => {
  for (const [title, given, text] of [
    [
      'an image of another registry gets the new tag',
      { mine: 'm/node:v1', theirs: 'q/node:v2', result: 'm/node:v2' },
      'm/node:v2 (your registry, new release)',
    ],
    ['a value that is kept', { mine: '1', theirs: '2' }, '1'],
    ['a field that stays away', { theirs: '2' }, 'absent'],
    ['what the target has', { outcome: 'target', mine: '1', theirs: '2' }, '2'],
    ['what a controller wrote', { outcome: 'left', mine: '1' }, '1'],
    ['what nobody has decided', { outcome: 'conflict', mine: '1' }, 'mine: 1, theirs: absent'],
    ['what a person has decided', { outcome: 'target', decided: 'theirs', mine: '1', theirs: '2' }, '2'],
  ] as const)
    it(`is the value that the field will have: ${title}`, () => assert.equal(resultText(edit(given), 60), text));

  it('never shows the value of before as the result of an upgrade', () => {
    const lines = editLines([edit({ mine: 'm/node:v1', theirs: 'q/node:v2', result: 'm/node:v2' })], false);
    assert.match(lines[0] ?? '', /^YOUR CHANGE +OUTCOME +RESULT +FROM +NOTE$/);
    assert.doesNotMatch(lines.join('\n'), /v1\b(?!\/)/);
  });
});

describe('edits on a narrow terminal', () => {
  it('are a block each, with the field, what it will be, and from whom', () => {
    const edits = [
      edit({ mine: 'm/node:v1', theirs: 'q/node:v2', result: 'm/node:v2' }),
      edit({ outcome: 'conflict', mine: '1', note: 'Look.' }),
    ];
    assert.deepEqual(editLines(edits, false, 119), [
      'EDIT  DaemonSet/kube-system/agent spec.template.spec.containers[agent].image',
      '      kept: m/node:v2 (your registry, new release)',
      '      from file',
      'EDIT  DaemonSet/kube-system/agent spec.template.spec.containers[agent].image',
      '      to be decided: mine: 1, theirs: absent',
      '      from file: Look.',
    ]);
    assert.match(editLines(edits, false, 120)[0] ?? '', /^YOUR CHANGE +OUTCOME/);
  });
});

describe('an edit that is the same in several containers', () => {
  const set = (container: string, more: Partial<Edit> = {}) =>
    edit({ path: `spec.template.spec.initContainers[${container}].env[A]`, mine: { name: 'A', value: '1' }, ...more });

  it('is one row, which names them; another value, and one to be decided, have their own', () => {
    const edits = [
      set('a'),
      set('b'),
      set('c', { mine: { name: 'A', value: '2' } }),
      set('d', { outcome: 'conflict' }),
      set('e', { outcome: 'conflict' }),
    ];
    const fields = editLines(edits, false, 80).filter((line) => line.startsWith('EDIT'));
    assert.deepEqual(
      fields.map((line) => line.slice('EDIT  DaemonSet/kube-system/agent '.length)),
      ['env[A] of containers a, b', ...['c', 'd', 'e'].map((name) => `spec.template.spec.initContainers[${name}].env[A]`)],
    );
    assert.equal(keptNote(edits, edit({}).ref), '2 changes of yours kept');
    assert.equal(editLines(edits, true).length, 1 + edits.length);
  });
});

describe('values as short lines', () => {
  it('show the part that differs', () => {
    const [a, b] = [`${'x'.repeat(80)}-old-${'y'.repeat(80)}`, `${'x'.repeat(80)}-new-${'y'.repeat(80)}`];
    const [before, after] = differingTexts(a, b, 40);
    assert.deepEqual([before.length <= 40, after.length <= 40], [true, true]);
    assert.match(before, /^…x+-old-y+…$/);
    assert.match(after, /^…x+-new-y+…$/);
  });

  it('are whole where there is room, and cut where there is none', () => {
    assert.deepEqual(differingTexts('a', { b: 1 }, 40), ['a', '{"b":1}']);
    assert.equal(shortValue('line\nline', 40), 'line⏎line');
    assert.equal(
      shortValue(
        [
          { name: 'A', value: '1' },
          { name: 'B', value: '' },
        ],
        40,
      ),
      'A=1, B=',
    );
    assert.equal(shortValue({ name: 'A', valueFrom: {} }, 40), '{"name":"A","valueFrom":{}}');
    assert.equal(shortValue([], 40), '[]');
    assert.equal(shortValue('x'.repeat(50), 10), `${'x'.repeat(9)}…`);
  });
});

const flux: Taker = { name: 'Flux', kind: 'gitops', manager: 'kustomize-controller', fields: 1, hint: 'Suspend it first.' };

const changed = (name: string, takers: readonly Taker[]): PlannedObject => ({
  ref: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name },
  change: 'update',
  fields: [],
  hidden: [],
  taken: takers.flatMap(({ manager = '', fields }) => (fields > 0 ? [{ path: 'data.a', manager }] : [])),
  takers,
});

const textOf = (objects: readonly PlannedObject[], wide = false, edits: readonly Edit[] = []) =>
  takenRows(objects, edits, { wide, palette: plain }).map(([, text]) => text);

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
    const edit: Edit = { ref: object.ref, path: 'data.a', change: 'change', source: { kind: 'live' }, outcome: 'kept' };
    assert.deepEqual(textOf([object], false, [edit]), []);
    assert.equal(textOf([object], false, [{ ...edit, path: 'data.b' }]).length, 1);
  });

  it('leave out what a person set in something that is removed, whose own row counts it', () => {
    const taker: Taker = { name: 'kubectl', kind: 'person', manager: 'kubectl-set', fields: 3, hint: 'Set it in a copy.' };
    const [inInit, command, arg] = [
      'initContainers[mount-bpffs].env[X].value',
      'containers[node].command',
      'containers[node].workingDir',
    ].map((path) => `spec.template.spec.${path}`) as [string, string, string];
    // As the dry run has it: names of list items are no fields of their own.
    const fields = [
      { path: 'spec.template.spec.initContainers[mount-bpffs].image', before: 'i' },
      { path: inInit, before: '1' },
      { path: command, before: 'a', after: 'b' },
      { path: arg, before: '/' },
    ];
    const object: PlannedObject = {
      ...changed('a', [taker]),
      fields,
      hidden: fields.slice(0, 2).map(({ path }) => path),
      taken: [inInit, command, arg].map((path) => ({ path, manager: 'kubectl-set' })),
    };
    const who = 'kubectl (field manager "kubectl-set") no longer manages 1 field of ConfigMap/n/a, which the upgrade';
    assert.deepEqual(textOf([object]), [`${who} sets: ${command}. Set it in a copy.`, `${who} removes: ${arg}.`]);
    assert.doesNotMatch(textOf([object], true).join('\n'), /mount-bpffs/);
    // A tool puts it back: that is said, with what to do before.
    assert.match(
      textOf([{ ...object, takers: [{ ...taker, kind: 'gitops' }] }]).join('\n'),
      /removes: .*mount-bpffs.* Set it in a copy\.$/m,
    );
  });

  it('list every field as well with -o wide', () => {
    const [first = '', second] = textOf([changed('a', [flux])], true);
    assert.match(first, /^Flux .* no longer manages 1 field of ConfigMap\/n\/a, which the upgrade sets: data\.a\. /);
    assert.equal(second, 'data.a of ConfigMap/n/a from "kustomize-controller"');
  });
});
