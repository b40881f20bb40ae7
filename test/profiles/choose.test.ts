import assert from 'node:assert/strict';
import { Fault } from '../../src/kernel/fault.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../src/kernel/ports.ts';
import { chooseProfile, type MatchFacts, matchProfile } from '../../src/profiles/choose.ts';
import { shippedProfiles } from '../../src/profiles/index.ts';
import { object } from '../fixtures/facts.ts';

/** A cluster with these objects; of the kinds that are named nothing may be read. */
function cluster(objects: readonly KubeObject[], ...forbidden: readonly string[]): ClusterReader {
  const list = async ({ kind }: Kind) => {
    if (forbidden.includes(kind)) throw new ApiFailure(403, 'Forbidden', `${kind} is forbidden`);
    return objects.filter((one) => one.kind === kind);
  };
  return { list } as unknown as ClusterReader;
}

const agents = object('apps/v1', 'DaemonSet/kube-system/calico-node');
const chosen = (of: ClusterReader) => chooseProfile(undefined, of, false, { contextName: 'test', server: 'https://one' });

describe('the profile of a cluster', () => {
  it('is told by the agents where CRDs may not be read', async () => {
    assert.equal((await chosen(cluster([agents], 'CustomResourceDefinition'))).name, 'calico');
  });

  it('is asked for where only CRDs would tell it, and they may not be read', async () => {
    await assert.rejects(chosen(cluster([], 'CustomResourceDefinition')), (thrown) => {
      assert.ok(thrown instanceof Fault);
      assert.equal(thrown.code, 'usage');
      assert.match(thrown.message, /context "test".*may not list CRDs/);
      assert.match(thrown.suggestions.join(), /--profile \w+.*permissions --for preflight-read-only/s);
      return true;
    });
  });

  it('is not told by CRDs alone: they stay behind when a service is removed', async () => {
    const crd = object('apiextensions.k8s.io/v1', 'CustomResourceDefinition/ippools.crd.projectcalico.org');
    await assert.rejects(chosen(cluster([crd], 'DaemonSet')), ApiFailure);
  });
});

const daemonSet = (namespace: string, name: string) => ({ kind: 'DaemonSet', namespace, name });

describe('matching a profile to the cluster', () => {
  const fitting: readonly (readonly [string, MatchFacts, string])[] = [
    ['agents of a manifest', { crdGroups: [], workloads: [daemonSet('kube-system', 'canal')] }, 'calico'],
    ['agents of an operator', { crdGroups: [], workloads: [daemonSet('calico-system', 'calico-node')] }, 'calico'],
    ['agents by the names of the document', { crdGroups: [], workloads: [daemonSet('kube-system', 'netsvc-node')] }, 'netsvc'],
    ['CRDs alone', { crdGroups: ['crd.netsvc.io'], workloads: [daemonSet('kube-system', 'custom')] }, 'netsvc'],
    ['native v3 CRDs alone', { crdGroups: ['projectcalico.org'], workloads: [] }, 'calico'],
    [
      'agents of one beside leftover CRDs of the other',
      { crdGroups: ['crd.projectcalico.org'], workloads: [daemonSet('kube-system', 'netsvc-node')] },
      'netsvc',
    ],
  ];
  for (const [what, facts, expected] of fitting) {
    it(`takes ${expected} for ${what}`, () => {
      assert.equal(matchProfile(facts, shippedProfiles, 'context "test" (https://127.0.0.1:1)').name, expected);
    });
  }

  const refused: readonly (readonly [string, MatchFacts, RegExp])[] = [
    [
      'nothing known',
      { crdGroups: ['cilium.io'], workloads: [daemonSet('kube-system', 'cilium')] },
      /^no Calico found on context "test" \(https:\/\/127\.0\.0\.1:1\): wrong cluster\?$/,
    ],
    [
      "a Deployment of an agent's name",
      { crdGroups: [], workloads: [{ kind: 'Deployment', namespace: 'kube-system', name: 'canal' }] },
      /^no Calico found on context "test" \(https:\/\/127\.0\.0\.1:1\): wrong cluster\?$/,
    ],
    [
      'agents of both',
      { crdGroups: [], workloads: [daemonSet('kube-system', 'calico-node'), daemonSet('kube-system', 'netsvc-node')] },
      /fits 2 profiles: netsvc, calico/,
    ],
    ['CRDs of both', { crdGroups: ['crd.netsvc.io', 'crd.projectcalico.org'], workloads: [] }, /fits 2 profiles: netsvc, calico/],
  ];
  for (const [what, facts, message] of refused) {
    it(`is not guessed with ${what}`, () => {
      assert.throws(
        () => matchProfile(facts, shippedProfiles, 'context "test" (https://127.0.0.1:1)'),
        (thrown) =>
          thrown instanceof Fault &&
          thrown.code === 'usage' &&
          message.test(thrown.message) &&
          thrown.suggestions.some((one) => /profile/.test(one)),
      );
    });
  }
});
