import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import { textDistance } from '../../src/manifest/base-distance.ts';
import { identityOf } from '../../src/manifest/prepare.ts';

/** Agents with an image and a value of a variable. */
function agents(image: string, value: string): KubeObject {
  const env = [{ name: 'LEVEL', value }];
  const template = { spec: { containers: [{ name: 'agent', image, env }] } };
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'agents', namespace: 'n' }, spec: { template } } as KubeObject;
}

describe('how far a release is from what is installed', () => {
  const installed = agents('x/agent:v1', 'info');
  // One for each case: it remembers what it counted of a text without images.
  const distance = (documents: readonly KubeObject[]) => textDistance(new Map([[identityOf(installed), installed]]), {})(documents);
  const cases: readonly [string, readonly KubeObject[], number][] = [
    ['is nothing where it is the same', [installed], 0],
    ['does not count an image', [agents('x/agent:v2', 'info')], 0],
    ['counts a value', [agents('x/agent:v1', 'debug')], 1],
    ['counts a value, and not the image beside it', [agents('x/agent:v2', 'debug')], 1],
    ['counts a value, and not that the image is of another registry', [agents('y.example.org/agent:v1', 'debug')], 1],
    ['counts an object that the release does not have', [], 1],
  ];
  for (const [title, documents, wanted] of cases) it(title, () => assert.equal(distance(documents), wanted));
});
