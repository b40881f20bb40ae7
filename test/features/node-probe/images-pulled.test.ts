import assert from 'node:assert/strict';
import { imagesPulled } from '../../../src/features/node-probe/stage.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { judgeAll } from '../../support/judged-worlds.ts';

const IMAGE = 'quay.io/calico/node:v3.32.1';
const said = (node: string, state: 'pulled' | 'failed' | 'untold' | 'away', because = '') => ({ node, image: IMAGE, state, because });

describe('NS-221 nodes can pull the images of the target', () => {
  const judged = (...probed: ReturnType<typeof said>[]) =>
    judgeAll([imagesPulled], { probed, unknown: [] }, contextOf())[0] ?? assert.fail('no finding');

  it('passes where every node has them', () => {
    assert.equal(judged(said('node-01', 'pulled'), said('node-02', 'pulled')).outcome, 'ok');
  });

  it('stops at an image that a node cannot pull, with what the kubelet says', () => {
    const { outcome, message, evidence, next } = judged(said('node-01', 'pulled'), said('node-02', 'failed', 'ErrImagePull: not found'));
    assert.deepEqual([outcome, message], ['error', `not pulled, or its program cannot run: ${IMAGE} on node-02 (of 1 image on 2 nodes)`]);
    assert.deepEqual(
      evidence.map(({ text, detail }) => [text, detail]),
      [[`node-02 ${IMAGE}`, 'failed: ErrImagePull: not found']],
    );
    assert.equal(String(next), 'kubectl netsvc-upgrade plan -o images');
  });

  it('only warns of a node that says nothing', () => {
    assert.equal(judged(said('node-01', 'untold', 'no pod')).outcome, 'warning');
  });
});
