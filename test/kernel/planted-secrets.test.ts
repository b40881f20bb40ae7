import assert from 'node:assert/strict';
import { mask, maskAt, maskValue } from '../../src/kernel/hidden.ts';
import { harmless, type Plant, plants } from '../support/planted-secrets.ts';

/** As objects of the cluster have it, and as a plan has its change. */
function shapesOf({ place, name, value }: Plant): readonly unknown[] {
  switch (place) {
    case 'env':
      return [{ env: [{ name, value }] }, { path: `spec.template.spec.containers[node].env[${name}].value`, before: value, after: value }];
    case 'annotation':
      return [{ metadata: { annotations: { [name]: value } } }, { path: `metadata.annotations["${name}"]`, after: value }];
    case 'data':
      return [{ data: { [name]: value } }, { path: `data.${name}`, before: value }];
    case 'text':
      return [{ data: { [name]: value } }, { path: `data["${name}"]`, before: value }, value];
  }
}

describe('two hundred planted secrets', () => {
  for (const plant of plants())
    it(`${plant.place} ${plant.name}`, () => {
      for (const shape of shapesOf(plant)) {
        const whole = JSON.stringify(shape);
        assert.ok(whole.includes(plant.secret));
        const shown = JSON.stringify(maskValue(shape));
        assert.ok(!shown.includes(plant.secret), shown);
        JSON.parse(mask(whole));
      }
      // As a server's answer stands in a log.
      const object = JSON.stringify(shapesOf(plant)[0]);
      for (const text of [object, JSON.stringify(JSON.parse(object), undefined, 2), JSON.stringify({ note: object })])
        assert.ok(!mask(text).includes(plant.secret), mask(text));
      if (plant.place === 'text') assert.ok(!mask(plant.value).includes(plant.secret), mask(plant.value));
    });
});

describe('two hundred harmless values', () => {
  it('are masked nowhere', () => {
    for (const [name, value] of harmless()) {
      const shape = { env: [{ name, value }], image: value, path: `spec.env[${name}].value`, before: value, after: value };
      assert.deepEqual(maskValue(shape), shape);
      for (const text of [
        JSON.stringify(shape),
        `${name}=${value}`,
        `spec.env[${name}].value: ${value} → ${value}`,
        `found ${value}, more`,
      ])
        assert.equal(mask(text), text);
      assert.equal(maskAt(shape.path, value), value);
    }
  });
});
