import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OpenCluster, openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import { storedManifests } from '../../src/adapters/stored-bases.ts';
import { withCarried } from '../../src/features/install-manifest/carried.ts';
import { readEdits } from '../../src/features/install-manifest/edits.ts';
import { readReleasedTarget } from '../../src/features/install-manifest/target.ts';
import type { Installation } from '../../src/kernel/installation.ts';
import type { Sources } from '../../src/kernel/ports.ts';
import { calico } from '../../src/profiles/calico.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { contextOf, installation } from '../fixtures/facts.ts';
import { folderArtifacts } from '../support/apply-bench.ts';
import { emptyFolder } from '../support/folders.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const TARGET = CALICO_TARGET;

/** The public registry of releases became another one with v3.31. */
const CASES = [
  { release: 'v3.31.2', from: 'quay.io', to: 'docker.io', outcome: 'kept' },
  { release: 'v3.30.7', from: 'docker.io', to: 'quay.io', outcome: 'already' },
] as const;

describe('a release from the registry of another one, on a real control plane', function () {
  this.timeout(600_000);
  let plane: ControlPlane;
  let cluster: OpenCluster;
  const folder = emptyFolder('registries-');

  beforeEach(async () => {
    plane = await startControlPlane();
    cluster = openCluster(await readConnection({ kubeconfig: plane.kubeconfigPath }, process.env), { version: 'test' });
  });
  afterEach(async () => {
    await cluster?.close();
    await plane?.stop();
  });

  for (const { release, from, to, outcome } of CASES) {
    it(`${release} from ${to}: its own manifest is the base, and every image stays on ${to}`, async () => {
      const text = await readFile(manifestFile(release, 'calico.yaml'), 'utf8');
      const moved = text.replaceAll(`image: ${from}/`, `image: ${to}/`);
      assert.notEqual(moved, text);
      const file = join(folder, 'calico.yaml');
      await writeFile(file, moved);
      assertSucceeded(await plane.kubectl(['apply', '-f', file]));

      const sources = { cluster, artifacts: folderArtifacts(releases, [TARGET]), stored: storedManifests('calico') } as unknown as Sources;
      const context = contextOf({ release: TARGET }, calico);
      const what: Installation = { ...installation, variant: 'calico', release, hasApiServer: false, hasCsiDriver: false };
      const target = await readReleasedTarget(sources, context, what);
      const { edits, bases, doubt, conflicts, carried } = await readEdits(sources, context, what, target);
      assert.deepEqual([bases, doubt, conflicts], [[release], undefined, []]);
      assert.ok(edits.length > 0 && edits.every((edit) => edit.outcome === outcome && edit.path.endsWith('.image')), JSON.stringify(edits));
      const images = withCarried(target, carried ?? assert.fail('nothing merged')).text.match(/image: .*/g) ?? [];
      assert.ok(
        images.length > 3 && images.every((image) => image.startsWith(`image: ${to}/calico/`) && image.endsWith(`:${TARGET}`)),
        images.join(),
      );
    });
  }
});
