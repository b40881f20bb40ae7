import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { installedCluster } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases, releases } from '../support/releases.ts';

const SOURCES = ['v3.15.5', 'v3.20.6', 'v3.23.5', 'v3.27.5', 'v3.31.2'];
const FILES = ['calico.yaml', 'calico-typha.yaml', 'calico-policy-only.yaml', 'canal.yaml'];
const TARGET = ['--profile', 'calico', '--release', 'v3.32.1', '--manifest-url', releases];

describe('procedure C from every release and variant, on a real control plane', () => {
  for (const source of SOURCES) {
    for (const file of FILES) {
      const manifest = manifestFile(source, file);
      if (!existsSync(manifest)) continue; // not packed
      it(`${file} ${source} → v3.32.1`, async () => {
        const cluster = await installedCluster({ manifest, nodes: 3 });
        try {
          const first = await cluster.upgrade('run', '--yes', '--skip', 'cli', ...TARGET);
          assert.equal(first.exitCode, 0, `${first.stdout}\n${first.stderr}`);
          const agent = file === 'canal.yaml' ? 'canal' : 'calico-node';
          const images = await cluster.read(`ds -n kube-system ${agent}`, '{.spec.template.spec.containers[0].image}');
          assert.match(images, /:v3\.32\.1$/);
          const before = await cluster.versions();
          assert.equal((await cluster.upgrade('run', '--yes', '--skip', 'cli', ...TARGET)).exitCode, 0);
          assert.deepEqual(await cluster.versions(), before);
        } finally {
          await cluster.stop();
        }
      });
    }
  }
});

/** Procedure C on the document's own names; `netsvc.yaml` is upgraded in every run of the tests. */
describe('procedure C from the variants of netsvc, on a real control plane', () => {
  for (const [file, agents] of [
    ['netsvc-overlay.yaml', 'netsvc-overlay'],
    ['netsvc-policy-only.yaml', 'netsvc-node'],
  ] as const) {
    it(`${file} v3.26.4 → v3.32.2`, async () => {
      const cluster = await installedCluster({ manifest: manifestFile('v3.26.4', file, ownReleases), nodes: 2 });
      try {
        const run = () => cluster.upgrade('run', '--yes', '--skip', 'cli', '--manifest-url', ownReleases);
        const first = await run();
        assert.equal(first.exitCode, 0, `${first.stdout}\n${first.stderr}`);
        const images = await cluster.read(`ds -n kube-system ${agents}`, '{.spec.template.spec.containers[*].image}');
        for (const image of images.split(' ')) assert.match(image, /:v3\.32\.2$/);
        const before = await cluster.versions();
        assert.equal((await run()).exitCode, 0);
        assert.deepEqual(await cluster.versions(), before);
      } finally {
        await cluster.stop();
      }
    });
  }
});
