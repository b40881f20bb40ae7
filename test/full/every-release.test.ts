import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { assertWritesNothing, installedCluster, within } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases, releases } from '../support/releases.ts';
import { CALICO_TARGET, NETSVC_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const SOURCES = ['v3.15.5', 'v3.20.6', 'v3.23.5', 'v3.27.5', 'v3.31.2'];
const FILES = ['calico.yaml', 'calico-typha.yaml', 'calico-policy-only.yaml', 'canal.yaml'];
const TARGET = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases];

describe('procedure C from every release and variant, on a real control plane', () => {
  for (const source of SOURCES) {
    for (const file of FILES) {
      const manifest = manifestFile(source, file);
      if (!existsSync(manifest)) continue; // not packed
      it(`${file} ${source} → ${CALICO_TARGET}`, async () => {
        await within(installedCluster({ manifest, nodes: 3 }), async (cluster) => {
          assertSucceeded(await cluster.upgrade('run', '--yes', '--skip', 'cli', ...TARGET));
          const agent = file === 'canal.yaml' ? 'canal' : 'calico-node';
          const images = await cluster.read(`ds -n kube-system ${agent}`, '{.spec.template.spec.containers[0].image}');
          assert.match(images, pattern`:${CALICO_TARGET}$`);
          await assertWritesNothing(cluster, () => cluster.upgrade('run', '--yes', '--skip', 'cli', ...TARGET));
        });
      });
    }
  }
});

/** Procedure C on the document's own names; `netsvc.yaml` is upgraded in every run of the tests. */
describe('procedure C from the variants of netsvc, on a real control plane', () => {
  for (const file of ['netsvc-overlay.yaml', 'netsvc-policy-only.yaml']) {
    it(`${file} v3.26.4 → ${NETSVC_TARGET}`, async () => {
      await within(installedCluster({ manifest: manifestFile('v3.26.4', file, ownReleases), nodes: 2 }), async (cluster) => {
        const run = () => cluster.upgrade('run', '--yes', '--skip', 'cli', '--manifest-url', ownReleases);
        assertSucceeded(await run());
        const images = await cluster.read('ds -n kube-system netsvc-node', '{.spec.template.spec.containers[*].image}');
        for (const image of images.split(' ')) assert.match(image, pattern`:${NETSVC_TARGET}$`);
        await assertWritesNothing(cluster, () => run());
      });
    });
  }
});
