import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import { type LabelSelector, selectorOf, selectorText, selects } from '../../src/kube/selector.ts';
import { isSelected } from '../../src/sandbox/watch.ts';

const PODS: readonly Readonly<Record<string, string>>[] = [{}, { app: 'a' }, { app: 'b' }, { app: 'c', canary: '' }];

describe('a label selector', () => {
  const expression = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', key = 'app', values?: readonly string[]): LabelSelector => ({
    matchExpressions: [{ key, operator, ...(values ? { values } : {}) }],
  });
  const cases: readonly (readonly [string, LabelSelector, string, readonly number[]])[] = [
    ['labels', { matchLabels: { app: 'a' } }, 'app=a', [1]],
    ['In', expression('In', 'app', ['a', 'c']), 'app in (a,c)', [1, 3]],
    ['NotIn, which an absent label meets', expression('NotIn', 'app', ['a', 'c']), 'app notin (a,c)', [0, 2]],
    ['Exists', expression('Exists'), 'app', [1, 2, 3]],
    ['Exists of an empty value', expression('Exists', 'canary'), 'canary', [3]],
    ['DoesNotExist', expression('DoesNotExist', 'canary'), '!canary', [0, 1, 2]],
    ['labels and expressions together', { matchLabels: { app: 'c' }, ...expression('DoesNotExist', 'canary') }, 'app=c,!canary', []],
    ['nothing: every pod', {}, '', [0, 1, 2, 3]],
  ];
  for (const [title, selector, text, selected] of cases) {
    it(`of ${title}`, () => {
      const indexes = (isChosen: (labels: Readonly<Record<string, string>>) => boolean) =>
        PODS.flatMap((labels, index) => (isChosen(labels) ? [index] : []));
      assert.equal(selectorText(selector), text);
      assert.deepEqual(
        indexes((labels) => selects(selector, labels)),
        selected,
      );
      // The embedded server reads the text in its own way: both must mean the same.
      assert.deepEqual(
        indexes((labels) => isSelected(pod(labels), { labelSelector: text })),
        selected,
      );
    });
  }

  it('that is missing selects nothing', () => {
    assert.equal(selectorOf(pod({ app: 'a' })), undefined);
    assert.equal(selects(undefined, { app: 'a' }), false);
  });

  it('reads the same in whichever order its labels are written', () => {
    assert.equal(selectorText({ matchLabels: { b: '1', a: '2' } }), selectorText({ matchLabels: { a: '2', b: '1' } }));
  });
});

function pod(labels: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels } };
}
