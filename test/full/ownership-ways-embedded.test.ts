import assert from 'node:assert/strict';
import type { OwnershipMode } from '../../src/features/install-manifest/ownership-taken.ts';
import type { Invocation } from '../../src/kernel/argv.ts';
import { K } from '../../src/kernel/kinds.ts';
import { refOf, refText } from '../../src/kernel/object.ts';
import { changedFields } from '../../src/manifest/definition-differences.ts';
import { objectsIn } from '../../src/manifest/manifest.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { type SandboxCluster, sandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { SandboxFiles } from '../../src/sandbox/sandbox-files.ts';
import { sandboxTools } from '../../src/sandbox/sandbox-tools.ts';
import { findKind } from '../../src/sandbox/store.ts';
import { endState, plannedAndApplied } from '../support/plan-and-result.ts';
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
  const run = async (invocation: Invocation) => {
    const { exitCode, stderr } = await tools.run(invocation);
    assert.deepEqual([exitCode, stderr], [0, ''], invocation.args.join(' '));
  };
  const write = (file: string, content: string) => files.write(file, content);
  const { refused } = await plannedAndApplied({ cluster, run, write }, manifest, ownership, '/work');
  return { state: await endState(cluster, manifest), refused: refused.map(({ document }) => refText(refOf(document))) };
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
