import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { fillIn, isNodeFault, numberOf, selectorOf } from './stages.ts';

const folder = new URL('stages/', import.meta.url);
const values = { simulation: 'none', readyAfterMs: '300' };

interface StageFile {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly resourceRef: { readonly kind: string }; readonly selector: { readonly matchExpressions: readonly unknown[] } };
}

describe('the stages of simulated nodes', () => {
  for (const file of readdirSync(folder)) {
    it(`are whole in ${file}: every stage selects what it is for`, () => {
      const documents = parseAllDocuments(fillIn(readFileSync(new URL(file, folder), 'utf8'), values));
      assert.ok(documents.length > 0);
      for (const document of documents) {
        assert.deepEqual(document.errors, []);
        const stage: StageFile = document.toJS();
        assert.equal(stage.kind, 'Stage');
        assert.match(stage.spec.resourceRef.kind, /^(Node|Pod)$/);
        assert.ok(stage.spec.selector.matchExpressions.length > 0);
      }
    });
  }

  it('own the nodes with their label; nodes without one are healthy', () => {
    assert.equal(selectorOf('none'), '!netsvc-upgrade.test/fault');
    assert.equal(selectorOf('crash-loop'), 'netsvc-upgrade.test/fault=crash-loop');
  });

  it('have addresses of their own', () => {
    const faults = ['none', 'slow', 'image-pull', 'crash-loop', 'not-ready', 'down'] as const;
    assert.equal(new Set(faults.map(numberOf)).size, faults.length);
  });

  it('know a fault by its name', () => {
    assert.deepEqual(['down', 'toString', 'broken', undefined].map(isNodeFault), [true, false, false, false]);
  });

  it('do not leave a placeholder without a value', () => {
    assert.equal(fillIn('after: __readyAfterMs__', values), 'after: 300');
    assert.throws(() => fillIn('__unknown__', values), /no value for unknown/);
  });
});
