import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStoredBases, type StoredBases } from '../../src/adapters/stored-bases.ts';
import { preflightChecks } from '../../src/features/preflight/catalogue.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { calico } from '../../src/profiles/calico.ts';
import { editedManifest, editedManifests } from '../support/edited-manifests.ts';
import { testFolder } from '../support/folders.ts';
import { OPERATOR_FILE } from '../support/operated-releases.ts';
import { diceOf } from '../support/release-edits.ts';
import { manifestFile } from '../support/releases.ts';
import { isTrue, trueWhereOperated } from '../support/true-conditions.ts';
import { byChart, byManifest, byOperator, findingsOf, type Untouched, writeManifest } from '../support/untouched-cluster.ts';

const TARGET = calico.defaultRelease;
/** So many of the published releases, others each day; the nightly run has all. */
const SAMPLE = Number(process.env.SAMPLE) || 6;
/** Where an operator installed it: this one, which evaluates every check, and another. */
const OPERATED = ['v3.27.5'];
const NIGHTLY = process.env.NIGHTLY !== undefined;
const SEED = Number(process.env.SEED) || Math.floor(Date.now() / 86_400_000);

/** The mesh is switched off, and there is no BGPPeer. */
const NO_PEER = 'NS-509';
const MIRROR = 'NS-606';
const CONFLICT = 'NS-201';
/** Images of one release, and a text that is nearer to another. */
const TWO_RELEASES = 'NS-207';
/** What is true of the manifests of people: most come from another registry than the target. */
const TRUE: Readonly<Record<string, readonly string[]>> = {
  'calico-etcd-v3.18.1-dotbalo': [MIRROR, TWO_RELEASES, 'NS-115', 'NS-209', 'NS-706'],
  // It has a number for the MTU.
  'calico-v3.15.0-andrewmackrodt': [MIRROR, 'NS-607'],
  // Its controllers are of an image without a tag.
  'calico-v3.17.1-mhmxs': [MIRROR, CONFLICT, NO_PEER, 'NS-107'],
  'calico-v3.19.1-kubecube-io': [MIRROR, CONFLICT],
  'calico-v3.23.3-yuikuen': [MIRROR, TWO_RELEASES, CONFLICT],
  'calico-v3.27.2-kubevirt': [],
  'calico-v3.31.2-shixiaochuangdev': [],
  // Without a ConfigMap and a CNI plugin it may be two variants.
  'policy-only-v3.17.1-aws': ['NS-102'],
  // The played operator fills in what it does for Calico's own CNI, which the operator refuses beside that of Amazon.
  'operator-v3.17.0-aws': ['NS-623'],
  'vxlan-v3.28.1-canonical': ['NS-109', MIRROR, TWO_RELEASES, CONFLICT],
};

/** Of a store that answers, and of nodes that tell their processors: neither is played here. */
const ELSEWHERE = ['NS-212', 'NS-425'];

describe('a cluster with a manifest as it was published, or as people edited it', function () {
  this.timeout(NIGHTLY ? 3_600_000 : 120_000);
  let stored: StoredBases;
  /** Checks that were evaluated somewhere. */
  const evaluated = new Set<string>();
  const folder = testFolder('untouched-');
  const folders = { installed: folder, targets: join(folder, 'targets') };
  before(async () => {
    stored = (await openStoredBases('calico')) ?? assert.fail('nothing stored');
    for (const { file } of calico.variants)
      writeManifest(manifestFile(TARGET, file, folders.targets), stored.documentsOf(TARGET, file) ?? []);
    for (const file of [OPERATOR_FILE, calico.crdFile])
      copyFileSync(manifestFile(TARGET, file), manifestFile(TARGET, file, folders.targets));
  });

  for (const [name, { release, file }] of Object.entries(editedManifests))
    it(`raises nothing but what is true of ${name}`, async () => {
      const objects = parseManifest(editedManifest(name), name).documents.map(({ object }) => object);
      const found =
        file === OPERATOR_FILE
          ? await raised(await byOperator(stored, release, folders, objects))
          : await raised(await byManifest(objects, release, file, folders));
      const holds = file === OPERATOR_FILE ? [...trueWhereOperated('manifest', release), ...(TRUE[name] ?? [])] : (TRUE[name] ?? [MIRROR]);
      assert.deepEqual(found.toSorted(), holds.toSorted());
    });

  it(`raises nothing but what is true of published releases (SEED=${SEED})`, async () => {
    const all = calico.variants.flatMap(({ file }) => stored.releasesOf(file).map((release) => ({ file, release })));
    const wrong: string[] = [];
    for (const { file, release } of chosen(all, SAMPLE)) {
      const found = await raised(await byManifest(stored.documentsOf(release, file) ?? [], release, file, folders));
      wrong.push(...found.filter((id) => !isTrue(id, file, release)).map((id) => `${file} ${release}: ${id}`));
    }
    assert.deepEqual(wrong, []);
  });

  for (const [by, install] of [
    ['manifest', byOperator],
    ['chart', byChart],
  ] as const)
    it(`raises what is true of published releases of the operator by their ${by}, and nothing else (SEED=${SEED})`, async () => {
      const all = stored.releasesOf(OPERATOR_FILE);
      assert.ok(all.length >= 58);
      for (const release of NIGHTLY ? all : [...OPERATED, ...chosen(all, 1)]) {
        const holds = trueWhereOperated(by, release);
        const untouched = await install(stored, release, folders);
        assert.deepEqual([...new Set(await raised(untouched))].toSorted(), holds.toSorted(), release);
        // The stages evaluate what the preflight leaves to them.
        const accepted = ['NS-240=CSI driver'].filter((one) => holds.includes(one.slice(0, 6)));
        const planned = await findingsOf(untouched, 'plan', '--skip', 'cli', ...accepted.flatMap((one) => ['--accept', one]));
        assert.deepEqual(
          planned.raised.filter(({ id }) => !holds.includes(id)),
          [],
          release,
        );
      }
    });

  it('has evaluated every check', () => {
    const ids = preflightChecks.map(({ id }) => id);
    assert.deepEqual(
      ids.filter((id) => !evaluated.has(id) && !ELSEWHERE.includes(id)),
      [],
    );
  });

  async function raised(untouched: Untouched): Promise<readonly string[]> {
    const found = await findingsOf(untouched, 'preflight');
    for (const id of found.evaluated) evaluated.add(id);
    return found.raised.map(({ id }) => id);
  }

  function chosen<T>(all: readonly T[], sample: number): readonly T[] {
    const dice = diceOf(SEED);
    return NIGHTLY ? all : Array.from({ length: sample }, () => all[dice(all.length)] ?? assert.fail());
  }
});
