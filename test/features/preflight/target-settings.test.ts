import assert from 'node:assert/strict';
import { registryOf } from '../../../src/features/preflight/target-settings-checks.ts';
import { found, installation, object, targetOf } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { installed, operated } from '../../support/operated-facts.ts';

const from = (image: string) => ({ detection: found({ components: installation.components.map((one) => ({ ...one, image })) }) });
const pulling = (image: string) =>
  object('apps/v1', 'Deployment/kube-system/one', { spec: { template: { spec: { containers: [{ name: 'one', image }] } } } });

checkCases('NS-606', {
  'passes if images come from there already': { is: 'ok', says: /already/ },
  'warns if the registry changes': {
    facts: { ...from('calico/node:v3.15.0'), target: targetOf(pulling('quay.io/calico/typha:v3.32.1')) },
    is: 'warning',
    says: /^the upgrade pulls 1 image from quay\.io\/calico; the installed images come from docker\.io\/calico$/,
    hint: /^Make sure that nodes can pull them \(network, allow list, pull secret\), or give them your registry .*\(--upgrade-file\)\. The command below has every node pull them: .*$/,
    about: ['quay.io/calico/typha:v3.32.1'],
  },
  'names what is pulled from a mirror and from the new registry': {
    facts: {
      ...from('mirror.local:5000/calico/node:v3.15.0'),
      target: targetOf(pulling('mirror.local:5000/calico/node:v3.32.1'), pulling('quay.io/calico/cni:v3.32.1')),
    },
    is: 'warning',
    says: /^the upgrade pulls 1 image from quay\.io\/calico and 1 from mirror\.local:5000\/calico; the installed images come from mirror/,
    hint: /Images that you gave another registry keep it: copy the new release's images there\./,
    about: ['quay.io/calico/cni:v3.32.1', 'mirror.local:5000/calico/node:v3.32.1'],
  },
  'asks for the new images in a mirror that all of them stay in': {
    facts: {
      ...from('mirror.local:5000/calico/node@sha256:00'),
      target: targetOf(pulling('mirror.local:5000/calico/node:v3.32.1')),
    },
    is: 'warning',
    says: /^the upgrade pulls 1 image from mirror\.local:5000\/calico, where installed images come from now$/,
    hint: /^Images that you gave another registry keep it: /,
    about: ['mirror.local:5000/calico/node:v3.32.1'],
  },
  'takes a mirror for kept where the edits could not be merged': {
    facts: {
      ...from('mirror.local:5000/calico/node:v3.15.0'),
      target: targetOf(pulling('quay.io/calico/node:v3.32.1'), pulling('quay.io/calico/cni:v3.32.1')),
      preview: { unread: 'left out' },
    },
    is: 'warning',
    about: ['quay.io/calico/cni:v3.32.1'],
  },
  'leaves out what comes from the new registry already': {
    facts: {
      detection: found({
        components: ['quay.io/calico/node:v3.15.0', 'calico/typha:v3.15.0'].map(
          (image) => ({ ...installation.components[0], image }) as never,
        ),
      }),
      target: targetOf(pulling('quay.io/calico/node:v3.32.1'), pulling('quay.io/calico/typha:v3.32.1')),
    },
    is: 'warning',
    says: /; some installed images come from docker\.io\/calico$/,
    about: ['quay.io/calico/typha:v3.32.1'],
  },
  'names what most nodes have still to pull, where a run has changed the template and not all pods': {
    facts: {
      detection: found({
        components: (
          [
            ['agent', 'DaemonSet/kube-system/calico-node', 'quay.io/calico/node:v3.32.1'],
            ['cni', 'DaemonSet/kube-system/calico-node', 'quay.io/calico/cni:v3.32.1'],
            ['agent', '4 pods of DaemonSet/kube-system/calico-node', 'calico/node:v3.15.0'],
            ['typha', 'Deployment/kube-system/calico-typha', 'quay.io/calico/typha:v3.15.0'],
          ] as const
        ).map(([component, workload, image]) => ({ ...installation.components[0], component, workload, image }) as never),
      }),
      target: targetOf(...['node', 'cni', 'typha'].map((name) => pulling(`quay.io/calico/${name}:v3.32.1`))),
    },
    is: 'warning',
    says: /^the upgrade pulls 2 images from quay\.io\/calico; /,
    about: ['quay.io/calico/node:v3.32.1', 'quay.io/calico/cni:v3.32.1'],
  },
  'passes if the upgrade pulls nothing from it': { facts: { ...from('calico/node:v3.15.0'), target: targetOf() }, is: 'ok' },
  'warns about the registry itself on the path of an operator': {
    facts: {
      detection: found({ path: 'operator', components: installation.components.map((one) => ({ ...one, image: 'calico/node:v3.15.0' })) }),
    },
    is: 'warning',
    says: /^the upgrade pulls its images from quay\.io\/calico; the installed images come from docker\.io\/calico$/,
    hint: /spec\.registry/,
    about: ['quay.io/calico'],
  },
  'says of an operator that pulls from another registry that a mirror is left': {
    facts: {
      detection: found({
        path: 'operator',
        components: installation.components.map((one) => ({ ...one, image: 'mirror.local/calico/node:v1' })),
      }),
    },
    is: 'warning',
    says: /^images of the service come from mirror\.local\/calico now, and by your Installation the upgrade pulls its images from quay\.io\/calico$/,
    hint: /spec\.registry, imagePath and imagePrefix/,
    about: ['mirror.local/calico'],
  },
  'says from where an operator pulls, by its Installation': {
    facts: {
      ...operated({ installation: installed({ registry: 'mirror.local/', imagePath: 'ns', imagePrefix: 'tigera-calico-' }) }),
      detection: found({
        path: 'operator',
        components: installation.components.map((one) => ({ ...one, image: 'quay.io/calico/node:v3.27.5' })),
      }),
    },
    is: 'warning',
    says: /^the upgrade pulls its images from mirror\.local\/ns, with names that begin with tigera-calico-, as your Installation says; the installed images come from quay\.io\/calico$/,
    about: ['quay.io/calico/node:v3.27.5'],
  },
  'says of an operator with a mirror that the new images belong there': {
    facts: {
      ...operated({ installation: installed({ registry: 'mirror.local' }) }),
      detection: found({
        path: 'operator',
        components: installation.components.map((one) => ({ ...one, image: 'mirror.local/calico/node:v3.27.5' })),
      }),
    },
    is: 'warning',
    says: /^the upgrade pulls its images from mirror\.local\/calico, as your Installation says; the installed images come from there too$/,
    about: ['mirror.local/calico'],
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
