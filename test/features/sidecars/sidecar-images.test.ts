import assert from 'node:assert/strict';
import { sidecarImagesIn } from '../../../src/features/sidecars/templates.ts';
import { calico } from '../../../src/profiles/calico.ts';

describe('the images of the policy sidecar in a template', () => {
  for (const line of [
    '  image: calico/dikastes:v3.20.6',
    '  - image: "calico/dikastes:v3.20.6"',
    "- {name: dikastes, image: 'calico/dikastes:v3.20.6', env: []}",
    '- {image: calico/dikastes:v3.20.6}',
  ])
    it(`are found in: ${line}`, () => assert.deepEqual(sidecarImagesIn([line], calico), ['calico/dikastes:v3.20.6']));

  it('are no others', () => assert.deepEqual(sidecarImagesIn(['image: istio/proxyv2:1.15', 'myimage: calico/dikastes:v1'], calico), []));
});
