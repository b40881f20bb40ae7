import assert from 'node:assert/strict';
import { effects } from '../../../src/cli/effects.ts';
import { planDiffLines } from '../../../src/cli/plan/diff.ts';
import type { Action } from '../../../src/kernel/action.ts';
import { actionTexts } from '../../../src/kernel/effect-type.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { PlannedObject, PlannedStage } from '../../../src/kernel/plan.ts';
import { isVisible } from '../../../src/kernel/visible.ts';
import { plain } from '../../../src/report/colour.ts';

const body = (data: object): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'ops' }, data });
const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ops', name: 'one' };
const object = (more: Partial<PlannedObject>): PlannedObject => ({ ref, change: 'update', fields: [], hidden: [], taken: [], ...more });
const action = (id: string, effect: Action['effect']): Action => ({ id, title: id, ref: 'r', undo: 'full', effect });
const linesOf = (...stages: readonly Pick<PlannedStage, 'objects' | 'actions'>[]) =>
  planDiffLines(
    stages.map((stage, index) => ({ id: `stage-${index}`, title: '', ref: '', notes: [], ...stage })),
    effects,
    { palette: plain, wide: false, textOf: actionTexts(effects, (tool) => tool) },
  );

describe('the diffs of a plan', () => {
  const bodies = { before: body({ a: '1' }), after: body({ a: '2' }) };
  const hunk = ['@@ -1,6 +1,6 @@', ' apiVersion: v1', ' data:', '-  a: "1"', '+  a: "2"', ' kind: ConfigMap', ' metadata:', '   name: one'];

  it('name both sides; on the chart path the left one is the release', () => {
    const heads = (isOfRelease?: true) =>
      linesOf({ objects: [object({ bodies: { ...bodies, ...(isOfRelease ? { isOfRelease } : {}) } })], actions: [] });
    const right = 'planned/ConfigMap/ops/one';
    const head = (left: string) => [`diff -u -N ${left} ${right}`, `--- ${left}`, `+++ ${right}`, ...hunk];
    assert.deepEqual(heads(), head('live/ConfigMap/ops/one'));
    assert.deepEqual(heads(true), head('release/ConfigMap/ops/one'));
  });

  it('say of an object without any what is known of it', () => {
    const objects = [
      object({ change: 'refused', note: 'the server says no' }),
      object({}),
      object({ change: 'unchanged' }),
      object({ change: 'left-behind', note: 'stays' }),
    ];
    assert.deepEqual(linesOf({ objects, actions: [] }), [
      '# ConfigMap/ops/one: the server says no',
      '# ConfigMap/ops/one: update, of which only the command is known',
    ]);
  });

  it('come after what each stage says besides, such as what helm deletes', () => {
    const stage = {
      id: 'apply',
      title: '',
      ref: '',
      notes: ['helm deletes what the chart no longer has: Role/a'],
      objects: [],
      actions: [],
    };
    const view = { palette: plain, wide: false, textOf: actionTexts(effects, (tool: string) => tool) };
    assert.deepEqual(planDiffLines([stage], effects, view), ['# apply: helm deletes what the chart no longer has: Role/a']);
  });

  it('leave no write out: patches of what no diff has are steps, and those of objects that do not change', () => {
    const patch = (id: string, path: string) =>
      action(id, { type: 'patch-all', what: 'w', patches: [{ target: ref, uid: 'u', patch: [{ op: 'add', path, value: 1 }] }] });
    const steps = (object: PlannedObject, path: string) => linesOf({ objects: [object], actions: [patch('patch', path)] }).join('\n');
    const changed = object({ bodies });
    const same = object({ change: 'unchanged', bodies: { before: bodies.before, after: bodies.before } });
    assert.match(steps(changed, '/metadata/managedFields/0'), /Known as commands only/);
    assert.match(steps(same, '/data/a'), /Known as commands only/);
    assert.doesNotMatch(steps(changed, '/data/a'), /Known as commands only/);
    const later = action('later', { type: 'patch-all', patches: [], what: 'references' } as unknown as Action['effect']);
    assert.match(linesOf({ objects: [changed], actions: [later] }).join('\n'), /Known as commands only/);
  });

  it('are followed by the steps that they do not tell of, numbered as in the whole plan', () => {
    const kubectl = (id: string, ...args: readonly string[]) => action(id, { type: 'exec', run: { tool: 'kubectl', args } });
    const other = { ...ref, name: 'other' };
    const patch = (target: typeof ref) =>
      action('patch', { type: 'patch-all', what: 'w', patches: [{ target, uid: 'u', patch: [{ op: 'remove', path: '/x' }] }] });
    const stages = [
      { objects: [], actions: [kubectl('apply-alone', 'apply', '-f', 'x.yaml')] },
      {
        objects: [object({ bodies })],
        actions: [
          kubectl('apply', 'apply', '-f', 'all.yaml'),
          kubectl('switch', 'patch', 'felixconfiguration', 'default'),
          patch(ref),
          patch(other),
          action('delete', { type: 'delete', target: other }),
          action('wait', { type: 'wait', until: { type: 'time-passed', ms: 1 }, timeoutMs: 1 }),
        ],
      },
    ];
    const [, listed = ''] = linesOf(...stages)
      .join('\n')
      .split('Known as commands only, without a diff:\n');
    const steps = listed
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ +/).slice(0, 4).join(' '));
    assert.deepEqual(steps, [
      'STEP STAGE DOES',
      '1 stage-0 kubectl apply',
      '3 stage-1 kubectl patch',
      '5 stage-1 w: 1',
      '6 stage-1 kubectl delete',
    ]);
  });

  it('keep what somebody else wrote on its line', () => {
    const lines = linesOf({ objects: [object({ bodies: { after: body({ a: '\u001b[31mred\u202e' }) } })], actions: [] });
    assert.ok(
      lines.some((line) => line.includes('\\u001b') || line.includes('\\x1b') || line.includes('\\e')),
      lines.join('\n'),
    );
    assert.ok(isVisible(lines.join('\n').replaceAll('\n', '')));
  });
});
