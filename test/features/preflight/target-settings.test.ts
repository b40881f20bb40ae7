import assert from 'node:assert/strict';
import { registryOf } from '../../../src/features/preflight/target-settings-checks.ts';
import { deployment, found, installation, object, targetOf } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/check-cases.ts';

const from = (image: string) => ({ detection: found({ components: installation.components.map((one) => ({ ...one, image })) }) });

checkCases('NS-606', {
  'passes if images come from there already': { is: 'ok', says: /already/ },
  'warns if the registry changes': {
    facts: { ...from('calico/node:v3.15.0'), target: targetOf(deployment('typha')) },
    is: 'warning',
    says: /docker\.io\/calico now/,
    about: ['quay.io/calico/typha:v3.27.5'],
  },
  'warns about a mirror': { facts: from('mirror.local:5000/calico/node@sha256:00'), is: 'warning', says: /mirror\.local:5000\/calico/ },
  'warns about the registry itself if the target names no image of it': {
    facts: { ...from('calico/node:v3.15.0'), target: targetOf() },
    is: 'warning',
    about: ['quay.io/calico'],
  },
  'does not apply once the move is done': { facts: { detection: found({ release: 'v3.31.2' }) }, is: 'not-applicable' },
});

describe('the registry of an image', () => {
  const cases = [
    ['calico/node:v3.15.0', 'docker.io/calico'],
    ['node', 'docker.io'],
    ['docker.io/calico/node@sha256:0', 'docker.io/calico'],
    ['localhost/x/node', 'localhost/x'],
    ['host:5000/node:v1', 'host:5000'],
  ] as const;
  for (const [image, registry] of cases) it(`of ${image} is ${registry}`, () => assert.equal(registryOf(image), registry));
});

const mtu = (veth_mtu: string) => ({ agentConfig: { value: object('v1', 'ConfigMap/kube-system/calico-config', { data: { veth_mtu } }) } });

checkCases('NS-607', {
  'passes if it stays': { is: 'ok' },
  'warns if it changes': { facts: mtu('1440'), is: 'warning', says: /1440 now and 0/, about: ['ConfigMap/kube-system/calico-config'] },
  'does not apply without a ConfigMap': { facts: { agentConfig: { value: undefined } }, is: 'not-applicable' },
});
