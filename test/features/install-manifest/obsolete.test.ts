import assert from 'node:assert/strict';
import { withSince } from '../../../src/features/install-manifest/obsolete.ts';
import type { Edit } from '../../../src/kernel/edit.ts';
import type { Installation } from '../../../src/kernel/installation.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, found } from '../../fixtures/facts.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const operator = (namespace: string, spec: object): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'tigera-operator', namespace },
  spec,
});
const [HELD, DROPPED] = [{ hostNetwork: true }, { replicas: 1 }];

/** Since when the field is gone that only the releases up to v3.30.0 have, for an operator in this namespace. */
async function droppedFor(namespace: string): Promise<Edit['dropped']> {
  const placed = { namespace } as NonNullable<Installation['operator']>;
  const { value: detection } = found({ path: 'operator', variant: undefined, operator: placed });
  assert.ok(detection.type === 'found');
  const { installation } = detection;
  const edit = {
    ref: { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'tigera-operator' },
    path: 'spec.hostNetwork',
    outcome: 'obsolete',
  } as unknown as Edit;
  const stored = {
    releasesOf: async () => ['v3.27.5', 'v3.30.0', 'v3.31.0', CALICO_TARGET],
    // As released: where the operator was put is not known there.
    documentsOf: async (release: string) => [operator('tigera-operator', release === 'v3.30.0' ? HELD : DROPPED)],
  };
  const span = {
    base: { release: 'v3.27.5', documents: [operator(namespace, HELD)] },
    target: { release: CALICO_TARGET, documents: [operator(namespace, DROPPED)] },
  };
  const [told] = await withSince({ stored }, contextOf({}, calico), installation, [edit], span);
  return told?.dropped;
}

describe('since when the place of an edit is gone', () => {
  it('is told by the releases between', async () => {
    assert.deepEqual(await droppedFor('tigera-operator'), { since: 'v3.31.0', lastIn: 'v3.30.0' });
  });

  it('is told for an operator in another namespace, too: the releases between are looked at as if they had put it there', async () => {
    assert.deepEqual(await droppedFor('net-ops'), { since: 'v3.31.0', lastIn: 'v3.30.0' });
  });
});
