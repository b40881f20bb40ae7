import assert from 'node:assert/strict';
import type { Trace } from '../../src/kernel/edit-trace.ts';
import { editLines, resultText } from '../../src/report/edit-rows.ts';
import { differingTexts, valueText } from '../../src/report/value-text.ts';

const edit = (more: Partial<Trace>): Trace => ({
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
    assert.match(lines[0] ?? '', /^EDIT +OUTCOME +RESULT +FROM +NOTE$/);
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
    assert.match(editLines(edits, false, 120)[0] ?? '', /^EDIT +OUTCOME/);
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
    assert.equal(valueText('line\nline', 40), 'line⏎line');
    assert.equal(valueText('x'.repeat(50), 10), `${'x'.repeat(9)}…`);
  });
});
