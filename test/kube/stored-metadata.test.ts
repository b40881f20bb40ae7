import assert from 'node:assert/strict';
import { madeAtOf, storedMetadata } from '../../src/kube/stored-metadata.ts';

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

describe('when an object of the service was made', () => {
  const made = (noted: string | undefined, creationTimestamp?: string) => {
    const annotations = noted === undefined ? {} : { annotations: { [`${GROUP}/metadata`]: noted } };
    const metadata = { name: 'x', ...annotations, ...(creationTimestamp ? { creationTimestamp } : {}) };
    return madeAtOf({ apiVersion: 'crd.projectcalico.org/v1', kind: 'GlobalNetworkPolicy', metadata }, GROUP);
  };
  const [first, later] = ['2026-01-01T10:00:00Z', '2026-01-02T10:00:00Z'];

  it('is what it notes, in whole seconds, else when it was stored', () => {
    assert.equal(made(JSON.stringify({ creationTimestamp: first }), later), first);
    assert.equal(made('{"creationTimestamp":"2026-01-01T11:00:00.7+01:00"}', later), first);
    for (const noted of [undefined, '{', '{"creationTimestamp":null}', '{"creationTimestamp":"then"}'])
      assert.equal(made(noted, later), later);
  });

  it('is not known where neither says it', () => assert.equal(made('{"creationTimestamp":null}'), undefined));
});
