import assert from 'node:assert/strict';
import { agentStarts } from '../../../src/features/node-probe/stage.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { judgeAll } from '../../support/judged-worlds.ts';

const said = (node: string, faults: readonly string[] = [], untried: readonly string[] = []) => ({ node, faults, untried });
const shared = '/sys/fs cannot be mounted: /sys is not a shared mount';

describe('NS-431 nodes give the new agent what it needs', () => {
  const judged = (...nodes: ReturnType<typeof said>[]) =>
    judgeAll([agentStarts], { said: nodes }, contextOf())[0] ?? assert.fail('no finding');

  it('passes where every node was tried', () => {
    const { outcome, message } = judged(said('node-01'), said('node-02'));
    assert.deepEqual([outcome, message], ['ok', '2 nodes tried: mounts, folders, ports and names']);
  });

  it('stops at what a node lacks: each fact once, with its nodes', () => {
    const { outcome, message, evidence, next } = judged(said('node-01', [shared]), said('node-02'), said('node-03', [shared], ['ports']));
    assert.deepEqual([outcome, message], ['error', `${shared}: node-01, node-03; not tried: ports: node-03 (of 3 nodes)`]);
    assert.deepEqual(
      evidence.map(({ text, detail }) => [text, detail]),
      [
        ['node-01', shared],
        ['node-03', `${shared}; not tried: ports`],
      ],
    );
    assert.equal(String(next), 'kubectl get node node-01 -o yaml');
  });

  it('only warns of what was not tried', () => {
    assert.equal(judged(said('node-01', [], ['everything: the node is gone'])).outcome, 'warning');
  });

  it('does not apply before the nodes are tried', () => {
    assert.equal(judgeAll([agentStarts], { said: undefined }, contextOf())[0]?.outcome, 'not-applicable');
  });
});
