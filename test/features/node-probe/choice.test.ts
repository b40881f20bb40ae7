import assert from 'node:assert/strict';
import { chooseProbed } from '../../../src/features/node-probe/choice.ts';
import type { Fault } from '../../../src/kernel/fault.ts';
import type { Kind } from '../../../src/kernel/object.ts';
import { ApiFailure, type ListOptions } from '../../../src/kernel/ports.ts';
import { node } from '../../fixtures/facts.ts';

const nodes = ['n3', 'n1', 'n2', 'n4'].map((name) => node(name));
const cluster = {
  async list(_: Kind, { labelSelector = '' }: ListOptions = {}) {
    if (labelSelector.includes('==')) throw new ApiFailure(400, 'BadRequest', 'unable to parse requirement');
    return labelSelector === 'zone=a' ? [node('n2'), node('other')] : [];
  },
};
const chosen = (text: string) => chooseProbed(cluster, text, nodes);

describe('the nodes of --probe-nodes', () => {
  const good: Readonly<Record<string, readonly string[]>> = {
    all: ['n1', 'n2', 'n3', 'n4'],
    '1': ['n1'],
    '2': ['n1', 'n3'],
    '9': ['n1', 'n2', 'n3', 'n4'],
    '30%': ['n1', 'n3'],
    '100%': ['n1', 'n2', 'n3', 'n4'],
    'zone=a': ['n2'],
  };
  for (const [text, names] of Object.entries(good)) it(`are ${names} for ${text}`, async () => assert.deepEqual(await chosen(text), names));

  const bad: Readonly<Record<string, RegExp>> = {
    '0': /^--probe-nodes 0 names no node$/,
    '0%': /^--probe-nodes 0% names no node$/,
    ' ': /^--probe-nodes names no node$/,
    n2: /^--probe-nodes n2 selects no node that agents of the target run on$/,
    'a==': /^--probe-nodes a== is no selector: unable to parse/,
  };
  for (const [text, says] of Object.entries(bad))
    it(`are refused for “${text}”`, async () => {
      const thrown = (await chosen(text).catch((one: unknown) => one)) as Fault;
      assert.match(thrown.message, says);
      assert.equal(thrown.code, 'usage');
    });
});
