import assert from 'node:assert/strict';
import { detect } from '../../../src/features/survey/detect.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { Profile } from '../../../src/kernel/profile.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { agent, detectIn, foundIn, installation, operatedAgent, operator, unclearIn } from '../../support/calico-objects.ts';
import { inventoryOfObjects } from '../../support/inventory.ts';

const ENTERPRISE = 'TigeraSecureEnterprise';
const CNX = 'quay.io/tigera/cnx-node:v3.19.4';
const operatorOf = (tag: string) => operator({ images: { 'tigera-operator': `quay.io/tigera/operator:${tag}` } });
const installed = (spec?: object, status?: object): KubeObject => ({ ...installation({}, status), ...(spec ? { spec } : {}) });

/** A profile without the field, as `netsvc` is. */
function withoutField(): Profile {
  const { otherProducts: _, ...own } = calico.operator;
  return { ...calico, operator: own };
}

describe('another product under the same names', () => {
  const others: readonly (readonly [string, readonly KubeObject[], RegExp])[] = [
    [
      'Calico Enterprise, with all that it has of its own',
      [installed({ variant: ENTERPRISE }), operatorOf('v1.35.5'), operatedAgent({ image: CNX })],
      /^Installation default is of variant TigeraSecureEnterprise, another product than Project Calico \(Calico\)$/,
    ],
    [
      'a variant that is asked for',
      [installed({ variant: ENTERPRISE }, { variant: 'Calico' }), operator(), operatedAgent()],
      /is of variant/,
    ],
    [
      'a variant that still runs',
      [installed({ variant: 'Calico' }, { variant: ENTERPRISE }), operator(), operatedAgent()],
      /is of variant/,
    ],
    [
      'a second Installation of another variant',
      [installed(), { ...installed({ variant: ENTERPRISE }) }, operatedAgent()],
      /is of variant/,
    ],
    ['a variant, and agents that are not there yet', [installed({ variant: ENTERPRISE }), operator()], /is of variant/],
    [
      "the other's agents",
      [installed(), operatedAgent({ image: CNX })],
      /calico-system\/calico-node runs quay.io\/tigera\/cnx-node:v3.19.4/,
    ],
    ["the other's agents from a mirror", [installed(), operatedAgent({ image: 'mirror:5000/t/cnx-node@sha256:0' })], /runs mirror:5000/],
    ["the other's newer agents", [installed(), operatedAgent({ image: 'quay.io/tigera/node:v3.22.1' })], /another product/],
    ["the other's agents by manifest", [agent({ image: CNX })], /kube-system\/calico-node runs/],
    ["the other's agents under another name", [agent({ name: 'odd', image: CNX })], /kube-system\/odd runs/],
  ];
  for (const [what, objects, because] of others) {
    it(`is no installation of this one: ${what}`, () => {
      const detection = detectIn(objects);
      assert.ok(detection.type === 'none', JSON.stringify(detection));
      assert.match(detection.because, because);
      assert.equal(detectIn(objects, {}, { path: 'operator' }).type, 'none');
    });
  }

  it('is not guessed from the line of the operator alone, until a person says the path', () => {
    for (const tag of ['v1.14.0', 'v1.35.5', 'v1.41.2']) {
      const objects = [installed(), operatorOf(tag), operatedAgent()];
      const unclear = unclearIn(objects);
      assert.match(unclear.because, new RegExp(`operator ${tag} is of a line that installs no release of Project Calico`));
      assert.deepEqual(unclear.candidates, ['operator']);
      assert.equal(foundIn(objects, {}, { path: 'operator' }).release, 'v3.27.5');
    }
  });

  const same: readonly (readonly [string, readonly KubeObject[]])[] = [
    ['its own variant', [installed({ variant: 'Calico' }, { variant: 'Calico' }), operator(), operatedAgent()]],
    ['no variant', [installed({ variant: '' }), operator(), operatedAgent()]],
    ['an operator newer than every line that is known', [installed(), operatorOf('v1.44.0'), operatedAgent()]],
    ['agents from a mirror of any name', [installed(), operator(), operatedAgent({ image: 'mirror/tigera/node:v3.27.5' })]],
    ['an operator without a release', [installed(), operatorOf('latest'), operatedAgent()]],
  ];
  for (const [what, objects] of same) {
    it(`is not seen in ${what}`, () => assert.equal(foundIn(objects).release, 'v3.27.5'));
  }

  it('is not looked for with a profile that knows of none', () => {
    const objects = [installed({ variant: ENTERPRISE }), operatorOf('v1.35.5'), operatedAgent()];
    assert.equal(detect(inventoryOfObjects(objects), withoutField()).type, 'found');
  });
});
