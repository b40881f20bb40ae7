import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../src/core/fault.ts';
import { type KubeObject, objectKey } from '../../src/core/object.ts';
import type { Sources } from '../../src/core/ports.ts';
import { distanceBetween } from '../../src/merge/distance.ts';
import { parseManifest } from '../../src/merge/manifest.ts';
import { closestBase } from '../../src/stages/closest-base.ts';

const config = (data: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data,
});
const byKey = (...objects: readonly KubeObject[]) => new Map(objects.map((object) => [objectKey(object), object]));

/** A source of releases whose one file is a ConfigMap. */
function sourcesOf(releases: Readonly<Record<string, Readonly<Record<string, string>>>>, broken: readonly string[] = []) {
  const asked: string[] = [];
  const fetch = async (release: string) => {
    asked.push(release);
    if (broken.includes(release)) throw new Fault('failed', 'no answer');
    return { url: release, file: 'f', sha256: '', bytes: new TextEncoder().encode(JSON.stringify(config(releases[release] ?? {}))) };
  };
  const artifacts = {
    source: 's',
    fetch,
    has: async (release: string) => release in releases,
    releases: async () => Object.keys(releases),
  };
  return { asked, sources: { artifacts } as unknown as Sources };
}

describe('the base that edits are told by', () => {
  const RELEASES = {
    'v1.2.0': { a: '0', b: '0' },
    'v1.2.3': { a: '3', b: '0' },
    'v1.2.4': { a: '4', b: '4' },
    'v1.2.5': { a: '4', b: '4', c: '5' },
  };
  const OTHERS = ['v1.2.0', 'v1.2.4', 'v1.2.5'];
  async function chosen(mine: Readonly<Record<string, string>>, others = OTHERS, broken: readonly string[] = []) {
    const { asked, sources } = sourcesOf(RELEASES, broken);
    const labelled = { release: 'v1.2.3', manifest: parseManifest(JSON.stringify(config(RELEASES['v1.2.3'])), 'f') };
    const { release } = await closestBase(sources, labelled, others, 'f.yaml', byKey(config(mine)));
    return { release, asked: asked.toSorted() };
  }

  it('is the release that the images name where nothing was edited, and no other is asked for', async () => {
    assert.deepEqual(await chosen({ a: '3', b: '0' }), { release: 'v1.2.3', asked: [] });
  });
  it('is the release of the body where that has fewer edits', async () => {
    assert.deepEqual(await chosen({ a: '4', b: '4', mine: '1' }), { release: 'v1.2.4', asked: OTHERS });
  });
  it('is the release that the images name where another has as many', async () => {
    assert.equal((await chosen({ a: 'x', b: '0' })).release, 'v1.2.3');
  });
  it('is the older of two others that have as many', async () => {
    assert.equal((await chosen({ a: '4', b: '4', c: 'mine' }, OTHERS.toReversed())).release, 'v1.2.4');
  });
  it('is found although another release cannot be had', async () => {
    assert.equal((await chosen({ a: '4', b: '4' }, OTHERS, ['v1.2.0'])).release, 'v1.2.4');
  });

  const shared = join(import.meta.dirname, '..', '..', '..', 'shared');
  it('of a file from the field with the images of v3.23.3 is v3.23.4, whose file it is', async function () {
    const file = join(shared, 'corpus', 'calico-v3.23.3-yuikuen.yaml');
    if (!existsSync(file)) this.skip(); // data beside the repository
    this.timeout(20_000);
    const manifest = (release: string) => readFileSync(join(shared, 'releases', release, 'manifests', 'calico.yaml'));
    const artifacts = {
      source: 's',
      has: async () => true,
      fetch: async (release: string) => ({ url: release, file: 'f', sha256: '', bytes: manifest(release) }),
    };
    const labelled = { release: 'v3.23.3', manifest: parseManifest(manifest('v3.23.3').toString(), 'f') };
    const mine = byKey(...parseManifest(readFileSync(file, 'utf8'), 'mine.yaml').documents.map(({ object }) => object));
    const sources = { artifacts } as unknown as Sources;
    const found = await closestBase(sources, labelled, ['v3.23.4', 'v3.23.5'], 'calico.yaml', mine);
    assert.equal(found.release, 'v3.23.4');
  });
});

describe('the distance to a release', () => {
  it('counts fields, and an object that only one side has once; of images only the repository', () => {
    const pod = (image: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image }] },
    });
    const release = [config({ a: '1', b: '2' }), pod('calico/node:v1.2.3')];
    assert.equal(distanceBetween(release, byKey(config({ a: '1', b: '3', c: '4' }), pod('calico/node:v1.2.4'))), 2);
    assert.equal(distanceBetween(release, byKey(pod('mirror/node:v1.2.3'))), 1);
    assert.equal(distanceBetween(release, new Map([[objectKey(config({})), undefined]])), 1);
    assert.equal(distanceBetween([], byKey(config({}))), 1);
  });
});
