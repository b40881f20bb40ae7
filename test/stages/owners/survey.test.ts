import assert from 'node:assert/strict';
import { K } from '../../../src/core/kinds.ts';
import type { Kind } from '../../../src/core/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { readOwners } from '../../../src/stages/owners/survey.ts';
import { object } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';

const owned = (text: string, apiVersion: string) =>
  object('v1', text, { metadata: { ownerReferences: [{ apiVersion, kind: 'NetworkSet', name: 'o', uid: 'u' }] } });
const review: Kind = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenReview', plural: 'tokenreviews', namespaced: false };
const kinds = [K.ConfigMap, K.Secret, K.Event, review];

describe('the search for owner references', () => {
  it('keeps what is owned by the groups of the service', async () => {
    const { cluster } = clusterOf(
      [
        owned('ConfigMap/a/x', 'projectcalico.org/v3'),
        owned('ConfigMap/a/y', 'crd.projectcalico.org/v1'),
        owned('ConfigMap/a/z', 'apps/v1'),
        owned('Secret/a/s', 'projectcalico.org/v3'),
      ],
      { kinds, refuses: { 'tokenreviews.authentication.k8s.io': 405 } },
    );
    const scan = await readOwners(cluster, calico);
    assert.deepEqual(
      scan.dependents.map(({ object: dependent }) => `${dependent.kind}/${dependent.name}`),
      ['ConfigMap/x', 'ConfigMap/y', 'Secret/s'],
    );
    assert.deepEqual(scan.unread, []);
  });

  it('reads metadata alone, no events, and nothing of which the server says that it has no list', async () => {
    const { cluster, requests } = clusterOf([], { kinds: [...kinds.slice(0, 3), { ...review, unlisted: true }] });
    await readOwners(cluster, calico);
    assert.deepEqual([...requests].sort(), ['list configmaps (metadata)', 'list secrets (metadata)']);
  });

  it('names the kinds and groups that it could not read', async () => {
    const { cluster } = clusterOf([], { kinds, failed: ['metrics.k8s.io'], refuses: { secrets: 403 } });
    const { unread } = await readOwners(cluster, calico);
    assert.deepEqual(
      unread.map(({ kind }) => kind),
      ['metrics.k8s.io', 'secrets'],
    );
    assert.match(unread[1]?.because ?? '', /403/);
  });
});
