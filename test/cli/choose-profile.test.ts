import assert from 'node:assert/strict';
import { chooseProfile } from '../../src/cli/choose-profile.ts';
import { Fault } from '../../src/kernel/fault.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../src/kernel/ports.ts';
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
const chosen = (of: ClusterReader) => chooseProfile(undefined, of, false, 'context "test"');

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
