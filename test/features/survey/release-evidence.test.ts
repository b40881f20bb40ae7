import assert from 'node:assert/strict';
import { agent, foundIn, information, installation, operatedAgent, operator, pod } from '../../support/calico-objects.ts';
import { CALICO_OPERATOR, CALICO_TARGET } from '../../support/target.ts';

describe('the installed release', () => {
  const DIGEST = `quay.io/calico/node@sha256:${'0'.repeat(64)}`;
  const master = agent({ image: 'calico/node:master' });

  it('comes from the image of the agents first, and names whoever disagrees', () => {
    const found = foundIn([agent(), information('v3.27.4')]);
    assert.equal(found.release, 'v3.27.5');
    assert.ok(found.evidence.includes('but ClusterInformation says v3.27.4'), found.evidence.join('\n'));
  });

  it('comes from the running pods where the workload names a digest', () => {
    const pods = { value: [pod('calico-node-a', 'mirror/node:v3.26.1'), pod('calico-node-b', 'mirror/node:v3.26.1')] };
    assert.equal(foundIn([agent({ image: DIGEST })], { pods }).release, 'v3.26.1');
  });

  it('is not taken from pods that disagree', () => {
    const pods = { value: [pod('calico-node-a', 'm/node:v3.26.1'), pod('calico-node-b', 'm/node:v3.27.5')] };
    assert.equal(foundIn([agent({ image: DIGEST })], { pods }).release, undefined);
  });

  it('comes from ClusterInformation for a branch tag', () => {
    assert.equal(foundIn([master, information('v3.26.0-0.dev-403-gf8c')]).release, 'v3.26.0-0.dev-403-gf8c');
  });

  it('is unknown, with the reason, where nothing gives it', () => {
    const found = foundIn([master], { clusterInformation: { unread: 'forbidden (403)' } });
    assert.equal(found.release, undefined);
    assert.ok(found.evidence.includes('image calico/node:master of the agents names no release'));
    assert.ok(found.evidence.includes('ClusterInformation could not be read: forbidden (403)'));
    assert.equal(foundIn([master, information('master')]).release, undefined);
  });

  it("comes from the Installation, then from the operator's tag", () => {
    const agents = operatedAgent({ image: DIGEST });
    assert.equal(foundIn([installation({}, { calicoVersion: 'v3.27.4' }), operator(), agents]).release, 'v3.27.4');
    assert.equal(foundIn([installation(), operator(), agents]).release, 'v3.27.5');
  });

  it("comes from the operator's variable where its image is a digest", () => {
    const env = { TIGERA_OPERATOR_INIT_IMAGE_VERSION: CALICO_OPERATOR };
    const byDigest = operator({ images: { 'tigera-operator': `quay.io/tigera/operator@sha256:${'1'.repeat(64)}` }, env });
    assert.equal(foundIn([installation(), byDigest]).release, CALICO_TARGET);
  });

  it("is only a minor line for an operator tag that is not in the table, and nothing for another product's", () => {
    const line = foundIn([installation(), operator({ images: { 'tigera-operator': 'quay.io/tigera/operator:v1.36.5' } })]);
    assert.deepEqual([line.release, line.line], [undefined, 'v3.29']);
    const objects = [installation(), operator({ images: { 'tigera-operator': 'quay.io/tigera/operator:v1.37.1' } })];
    const other = foundIn(objects, {}, { path: 'operator' });
    assert.deepEqual([other.release, other.line], [undefined, undefined]);
  });

  it('comes from the chart label at last', () => {
    const labelled = operator({
      images: { 'tigera-operator': 'm/operator:latest' },
      labels: { 'helm.sh/chart': 'tigera-operator-v3.28.1' },
    });
    assert.equal(foundIn([installation(), labelled]).release, 'v3.28.1');
  });
});
