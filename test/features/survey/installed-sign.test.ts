import assert from 'node:assert/strict';
import { detect } from '../../../src/features/survey/detect.ts';
import { crdFact } from '../../../src/features/survey/inventory.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { agent, BIRD, controllers, foundIn, installation, operatedAgent, unclearIn } from '../../support/calico-objects.ts';
import { inventoryOf } from '../../support/inventory.ts';

describe('CRDs and what could not be read', () => {
  it("knows native v3 CRDs by their group or by the agents' variable", () => {
    const crds = { value: [crdFact('tiers.projectcalico.org')] };
    const stored = { value: [crdFact('tiers.crd.projectcalico.org'), crdFact('installations.operator.tigera.io')] };
    assert.equal(foundIn([agent()], { crds }).nativeV3Crds, true);
    assert.equal(foundIn([agent()], { crds: stored }).nativeV3Crds, false);
    assert.equal(foundIn([agent({ env: { ...BIRD, CALICO_API_GROUP: 'projectcalico.org/v3' } })]).nativeV3Crds, true);
  });

  for (const part of ['daemonSets', 'deployments', 'pods', 'configMaps', 'crds', 'installations'] as const) {
    it(`does not guess without ${part}`, () => {
      const unclear = unclearIn([agent(), controllers()], { [part]: { unread: 'forbidden (403)' } });
      assert.match(unclear.because, new RegExp(`${part}: forbidden \\(403\\)`));
    });
  }

  it('names every part that could not be read', () => {
    const detection = detect(inventoryOf({ pods: { unread: 'no answer' }, crds: { unread: 'forbidden' } }), calico);
    assert.ok(detection.type === 'ambiguous');
    assert.match(detection.because, /pods: no answer; crds: forbidden/);
  });

  it('does without node labels and says so', () => {
    const { evidence } = foundIn([installation(), operatedAgent()], { nodes: { unread: 'forbidden (403)' } });
    assert.ok(evidence.includes('labels of nodes could not be read: forbidden (403)'));
  });
});
