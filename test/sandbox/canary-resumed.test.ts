import assert from 'node:assert/strict';
import { type AgentNode, chooseNodes } from '../../src/features/canary/choice.ts';
import type { Fault } from '../../src/kernel/fault.ts';
import { object } from '../fixtures/facts.ts';

const agent = (name: string, isNew: boolean, ready: boolean): AgentNode => ({
  node: object('v1', `Node/${name}`, { status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] } }),
  isNew,
});
const cluster = { list: async () => [object('v1', 'Node/a'), object('v1', 'Node/b')] };
const chosen = (text: string, agents: readonly AgentNode[], isBegun: boolean) =>
  chooseNodes(cluster, text, agents, { isBegun }).catch((thrown: Fault) => thrown.message);

describe('a canary that is resumed', () => {
  const failed = [agent('a', true, false), agent('b', false, true), agent('c', false, true)];

  it('is the same where its new agent has made the node not ready', async () => {
    assert.deepEqual(await chosen('a', failed, true), ['a']);
    assert.deepEqual(await chosen('zone=1', failed, true), ['a', 'b']);
  });

  it('is refused where the agent of such a node is still old', async () =>
    assert.equal(
      await chosen('a', [agent('a', false, false), ...failed.slice(1)], true),
      '--canary: node a is not ready, so its agent cannot be evaluated',
    ));

  it('leaves out a node that has gone since, and is refused where it was the only one', async () => {
    assert.deepEqual(await chosen('a,gone', failed, true), ['a']);
    assert.equal(await chosen('gone', failed, true), '--canary: there is no node gone with an agent for Linux');
    assert.equal(await chosen('a,gone', failed, false), '--canary: there is no node gone with an agent for Linux');
  });
});

describe('a canary of a percentage', () => {
  it('is rounded up, and no node more', async () => {
    const all = Array.from({ length: 100 }, (_, at) => agent(`node-${at}`, false, true));
    assert.equal((await chosen('7%', all, false)).length, 7);
    assert.equal((await chosen('7%', all.slice(0, 99), false)).length, 7);
  });
});
