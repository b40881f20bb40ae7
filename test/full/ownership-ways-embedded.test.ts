import assert from 'node:assert/strict';
import type { OwnershipMode } from '../../src/features/install-manifest/ownership-taken.ts';
import { previewDocuments } from '../../src/features/install-manifest/preview.ts';
import { applyWhole } from '../../src/features/install-manifest/target-crds.ts';
import { K } from '../../src/kernel/kinds.ts';
import { refOf, refText } from '../../src/kernel/object.ts';
import { changedFields } from '../../src/manifest/definition-differences.ts';
import { objectsIn } from '../../src/manifest/manifest.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { type SandboxCluster, sandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { SandboxFiles } from '../../src/sandbox/sandbox-files.ts';
import { sandboxTools } from '../../src/sandbox/sandbox-tools.ts';
import { findKind } from '../../src/sandbox/store.ts';
import { contextOf } from '../fixtures/facts.ts';
import { seen } from '../support/plan-and-result.ts';
import { manifestOf, type UpgradeCase, upgradeCases } from '../support/upgrade-cases.ts';

/*
 * Both ways of taking over ownership, for all releases and the corpus, on the embedded cluster: it plays ownership and kubectl's
 * takeover, and no defaults of the server. The real control plane has the last word (ownership-ways, plan-equals-result).
 */

/** Applied client-side; kinds that are not served are left out. */
function installedOn(path: string): SandboxCluster {
  const cluster = sandboxCluster({ clock: virtualClock() });
  const documents = objectsIn(manifestOf(path));
  const names = new Set(['default', 'kube-system', ...documents.flatMap(({ metadata }) => metadata.namespace ?? [])]);
  for (const { kind, metadata } of documents) if (kind === 'Namespace') names.delete(metadata.name);
  for (const name of names)
    cluster.registry.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { manager: 'test' });
  const inOrder = documents.toSorted((a, b) => Number(b.kind === 'Namespace') - Number(a.kind === 'Namespace'));
  for (const document of inOrder) if (findKind(cluster.kinds(), document.apiVersion, document.kind)) cluster.installClientSide(document);
  return cluster;
}

interface End {
  readonly state: ReadonlyMap<string, unknown>;
  /** What only the other way can write. */
  readonly refused: readonly string[];
}

async function endOf({ installed, target }: UpgradeCase, ownership: OwnershipMode): Promise<End> {
  const [cluster, files, manifest] = [installedOn(installed), new SandboxFiles(), target()];
  const tools = sandboxTools(cluster, files);
  const context = { ...contextOf({ ownership }), workFolder: '/work' };
  const previews = await previewDocuments(cluster, manifest, ownership);
  const refused = previews.filter(({ planned }) => planned.change === 'refused');
  const documents = manifest.documents.filter(({ object }) => !refused.some(({ document }) => document === object));
  const accepted = previews.filter((one) => !refused.includes(one));
  const whole = { id: 'apply', file: 'upgrade.yaml', title: '', ref: '', manifest: { ...manifest, documents }, previews: accepted };
  for (const { effect } of applyWhole(whole, context)) {
    if (effect.type === 'write') files.write(`/work/${effect.file}`, effect.content);
    for (const { target, patch } of effect.type === 'patch-all' ? effect.patches : []) {
      const kind = findKind(cluster.kinds(), target.apiVersion, target.kind) ?? assert.fail(refText(target));
      await cluster.patch(kind, target, patch, 'kubectl');
    }
    if (effect.type !== 'exec') continue;
    const { exitCode, stderr } = await tools.run(effect.run);
    assert.deepEqual([exitCode, stderr], [0, ''], effect.run.args.join(' '));
  }
  const state = manifest.documents.map(({ object }) => {
    const kind = findKind(cluster.kinds(), object.apiVersion, object.kind);
    const live = kind && cluster.store.get(kind, object.metadata.name, object.metadata.namespace);
    return [refText(refOf(object)), live && { ...(seen(live) as object), last: undefined }] as const;
  });
  return { state: new Map(state), refused: refused.map(({ document }) => refText(refOf(document))) };
}

describe('the two ways of taking over ownership, on the embedded cluster', function () {
  this.timeout(120_000);
  const cases = upgradeCases();

  for (const one of cases)
    it(`end with the same objects, one by one: ${one.title}`, async () => {
      const [first, kubectl] = [await endOf(one, 'first'), await endOf(one, 'kubectl')];
      assert.deepEqual(first.refused, []);
      assert.ok(![...first.state.values()].includes(undefined), 'every object is there');
      assert.deepEqual([...kubectl.state.keys()], [...first.state.keys()]);
      const different = [...first.state].flatMap(([name, state]) => {
        const paths = kubectl.refused.includes(name) ? [] : changedFields(state, kubectl.state.get(name)).map(({ path }) => path);
        return paths.length > 0 ? [{ name, paths }] : [];
      });
      assert.deepEqual(different, []);
      if (kubectl.refused.length > 0) console.log(`        by --ownership=first alone: ${kubectl.refused.join(', ')}`);
    });
});
