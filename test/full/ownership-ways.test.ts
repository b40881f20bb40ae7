import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { clientSideManagers, LAST_APPLIED } from '../../src/kube/managed-fields.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { assertWritesNothing, type InstalledCluster, installedCluster, within } from '../support/installed-cluster.ts';
import { liveOf, withoutNote } from '../support/plan-and-result.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const TARGET = ['--profile', 'calico', '--release', 'v3.32.1', '--manifest-url', releases];

interface Way {
  readonly objects: ReadonlyMap<string, KubeObject>;
  /** How often the agents' DaemonSet was changed. */
  readonly generation: number | undefined;
}

async function objectsOf({ plane }: InstalledCluster): Promise<ReadonlyMap<string, KubeObject>> {
  const cluster = openCluster(await readConnection({ kubeconfig: plane.kubeconfigPath }, process.env), { version: 'test' });
  try {
    const file = manifestFile('v3.32.1', 'calico.yaml');
    const { documents } = parseManifest(readFileSync(file, 'utf8'), file);
    const found = await Promise.all(documents.map(async ({ object }) => [keyOf(object), await liveOf(cluster, object)] as const));
    return new Map(found.flatMap(([key, object]) => (object ? [[key, object] as const] : [])));
  } finally {
    await cluster.close();
  }
}

const keyOf = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;

function upgradedBy(ownership: 'first' | 'kubectl'): Promise<Way> {
  return within(installedCluster({ manifest: manifestFile('v3.27.5', 'calico.yaml'), nodes: 2 }), async (cluster) => {
    const apply = () => cluster.upgrade('apply', '--yes', ...TARGET, '--ownership', ownership);
    assertSucceeded(await apply());
    await assertWritesNothing(cluster, apply);
    const objects = await objectsOf(cluster);
    return { objects, generation: objects.get('DaemonSet/kube-system/calico-node')?.metadata.generation };
  });
}

describe('the two ways of taking over what was applied client-side, on a real control plane', function () {
  this.timeout(600_000);
  let first: Way;
  let kubectl: Way;
  before(async () => {
    first = await upgradedBy('first');
    kubectl = await upgradedBy('kubectl');
  });

  it('end with the same objects, one by one', () => {
    assert.equal(first.objects.size, 38);
    assert.deepEqual([...kubectl.objects.keys()], [...first.objects.keys()]);
    for (const [key, object] of first.objects) {
      const other = kubectl.objects.get(key);
      assert.ok(other);
      assert.deepEqual(withoutNote(other), withoutNote(object), key);
    }
  });

  it('leave no field to the client-side apply', () => {
    for (const { objects } of [first, kubectl])
      for (const [key, { metadata }] of objects) assert.deepEqual(clientSideManagers(metadata.managedFields), [], key);
  });

  it('roll the agents once where ownership goes first, and twice where kubectl does it', () => {
    assert.deepEqual([first.generation, kubectl.generation], [2, 3]);
  });

  it('differ in the note of what was applied, which only kubectl keeps', () => {
    const noted = ({ objects }: Way) => [...objects.values()].filter(({ metadata }) => metadata.annotations?.[LAST_APPLIED] !== undefined);
    assert.equal(noted(first).length, 0);
    assert.equal(noted(kubectl).length, 31);
  });
});
