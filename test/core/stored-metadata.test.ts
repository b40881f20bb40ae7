import assert from 'node:assert/strict';
import { storedMetadata } from '../../src/core/stored-metadata.ts';

const GROUP = 'projectcalico.org';
const own = { note: 'on the object', team: 'a' };
const JSON_TEXT = JSON.stringify({ labels: { env: 'prod' }, annotations: { note: 'in the JSON', odd: 7 } });

function stored(annotations?: Readonly<Record<string, string>>) {
  const metadata = { name: 'x', labels: { env: 'test', role: 'edge' }, ...(annotations ? { annotations } : {}) };
  return storedMetadata({ apiVersion: 'crd.projectcalico.org/v1', kind: 'HostEndpoint', metadata }, GROUP);
}

describe('metadata that a person gave a stored object', () => {
  const rows: readonly (readonly [
    title: string,
    annotations: Readonly<Record<string, string>> | undefined,
    labels: object,
    found: object,
  ])[] = [
    ['is on the object where an older release wrote it', own, { env: 'test', role: 'edge' }, own],
    [
      'is in the JSON as well where a newer one did, and the JSON wins',
      { ...own, [`${GROUP}/metadata`]: JSON_TEXT },
      { env: 'prod', role: 'edge' },
      { note: 'in the JSON', team: 'a' },
    ],
    ['is on the object where the JSON is none', { ...own, [`${GROUP}/metadata`]: '{' }, { env: 'test', role: 'edge' }, own],
    ['is nothing where there are no annotations', undefined, { env: 'test', role: 'edge' }, {}],
  ];
  for (const [title, annotations, labels, found] of rows)
    it(title, () => {
      const read = stored(annotations);
      assert.deepEqual([read.labels, read.annotations], [labels, found]);
    });
});
