import assert from 'node:assert/strict';
import { twoWayFields } from '../../src/features/install-manifest/carried.ts';
import { type KubeObject, refOf } from '../../src/kernel/object.ts';
import type { FieldChange } from '../../src/kernel/plan.ts';
import { config } from '../support/merge-cases.ts';

const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'pools.example.org' },
};
const seen = (live: KubeObject, fields: readonly FieldChange[]) => ({
  live,
  planned: { ref: refOf(live), change: 'update' as const, fields, hidden: [], taken: [] },
});
const SCHEMA = 'spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.cidr';
const text = { path: `${SCHEMA}.description`, before: 'The pool CIDR.', after: 'The CIDR of the pool.' };

describe('live against target', () => {
  it('has no row for the texts of a definition', () => {
    assert.deepEqual(twoWayFields([seen(definition, [text])]), []);
  });

  it('has one row for a definition, which comes from the target whole, and one for each annotation', () => {
    const fields = [
      text,
      { path: `${SCHEMA}.type`, before: 'string', after: 'integer' },
      { path: 'spec.scope', before: 'Cluster', after: 'Namespaced' },
      { path: 'metadata.annotations.own', before: 'me', after: 'release' },
    ];
    assert.deepEqual(
      twoWayFields([seen(definition, fields)]).map(({ path, live, target }) => [path, live, target]),
      [
        ['metadata.annotations.own', 'me', 'release'],
        ['', '2 fields differ', 'the target’s own'],
      ],
    );
  });

  it('has every field of anything else', () => {
    const fields = [
      { path: 'data.mtu', before: '1400', after: '0' },
      { path: 'data.description', before: 'mine' },
    ];
    assert.deepEqual(
      twoWayFields([seen(config({}), fields)]).map(({ path }) => path),
      ['data.mtu', 'data.description'],
    );
  });
});
