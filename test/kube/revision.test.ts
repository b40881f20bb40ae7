import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import { podFacts } from '../../src/kube/pod-facts.ts';
import { ofTemplate } from '../../src/kube/revision.ts';

interface Set {
  readonly template?: number;
  readonly observed?: number;
  readonly updated?: number;
  readonly desired?: number;
}

const daemonSet = ({ template, observed = 1, updated, desired = 10 }: Set): KubeObject => ({
  ...{ apiVersion: 'apps/v1', kind: 'DaemonSet' },
  metadata: {
    ...{ name: 'agents', generation: 1 },
    ...(template === undefined ? {} : { annotations: { 'deprecated.daemonset.template.generation': String(template) } }),
  },
  status: { observedGeneration: observed, updatedNumberScheduled: updated, desiredNumberScheduled: desired },
});

/** `3a`: of the third template, whose hash is a. */
const pod = (of: string): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name: of, labels: { 'pod-template-generation': of.slice(0, -1), 'controller-revision-hash': of.slice(-1) } },
});

function current(set: Set, ...names: readonly string[]): readonly string[] {
  const pods = names.map((name) => podFacts(pod(name)));
  return pods.filter(ofTemplate(daemonSet(set), pods)).map(({ name }) => name);
}

describe('pods of the present template of a DaemonSet', () => {
  it('are those of its number, whatever image both have', () => {
    assert.deepEqual(current({ template: 2, updated: 1 }, '1a', '2b', '1a'), ['2b']);
    assert.deepEqual(current({ template: 2, updated: undefined }, '1a', '1a'), []);
  });

  it('are also those of its hash, where a former template is back', () => {
    assert.deepEqual(current({ template: 3, updated: 2 }, '1a', '2b', '3a'), ['1a', '3a']);
    assert.deepEqual(current({ template: 3, updated: 2 }, '1a', '1a', '2b'), ['1a', '1a'], 'as the controller counts them');
    assert.deepEqual(current({ template: 3, updated: 1 }, '1a', '2b'), [], 'where the number tells neither');
    assert.deepEqual(current({ template: 3, updated: 2, observed: 0 }, '1a', '1a', '2b'), [], 'before the controller has seen it');
  });

  it('are told by their images where the number of both hashes is the same, as after a canary of two nodes', () => {
    const containers = (image: string) => [{ name: 'agent', image }];
    const workload = {
      ...daemonSet({ template: 3, updated: 1, desired: 2 }),
      spec: { template: { spec: { containers: containers('agent:v1') } } },
    };
    const pods = [
      podFacts({ ...pod('1a'), spec: { containers: containers('agent:v1') } }),
      podFacts({ ...pod('2b'), spec: { containers: containers('agent:v2') } }),
    ];
    assert.deepEqual(
      pods.filter(ofTemplate(workload, pods)).map(({ name }) => name),
      ['1a'],
    );
  });

  it('are all where the controller says so, or where nothing tells', () => {
    assert.deepEqual(current({ template: 3, updated: 2, desired: 2 }, '1a', '2b'), ['1a', '2b']);
    assert.deepEqual(current({ updated: 0 }, '1a', '2b'), ['1a', '2b']);
    const plain = podFacts({ ...pod('1a'), metadata: { name: 'plain' } });
    assert.equal(ofTemplate(daemonSet({ template: 3 }), [plain])(plain), true);
  });
});
