import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStoredBases, type StoredBases } from '../../src/adapters/stored-bases.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { sameRelease } from '../../src/kernel/release.ts';
import { mergeByBase, releasesIn } from '../../src/manifest/choose-base.ts';
import { withoutTexts } from '../../src/manifest/definition-differences.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import { identityOf, prepared } from '../../src/manifest/prepare.ts';
import { upgradeText } from '../../src/manifest/upgrade-text.ts';
import { calico } from '../../src/profiles/calico.ts';
import { editedManifest, editedManifests } from '../support/edited-manifests.ts';
import { type CorpusFile, corpusFiles, meet, toldEdits, tracedEdit } from '../support/merge-corpus.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';

const TARGET = CALICO_TARGET;

const textOf = (path: string): string => readFileSync(path, 'utf8');
const objects = (text: string, name: string): readonly KubeObject[] => parseManifest(text, name).documents.map(({ object }) => object);
const load = (path: string): readonly KubeObject[] => objects(textOf(path), path);
const edited = ({ name }: CorpusFile): readonly KubeObject[] => objects(editedManifest(name), name);

describe('the merge of real edited manifests', function () {
  this.timeout(120_000);
  let stored: StoredBases;
  before(async () => {
    const opened = await openStoredBases('calico');
    assert.ok(opened);
    stored = opened;
  });

  for (const file of corpusFiles) {
    it(`carries or reports every edit of ${file.name} and invents none`, () => {
      const { release, file: name } = editedManifests[file.name] ?? assert.fail();
      const mine = edited(file);
      const theirsText = textOf(manifestFile(TARGET, file.target ?? name));
      const theirs = objects(theirsText, 'target');
      const result = mergeManifest({ base: load(manifestFile(release, name)), mine, theirs, knowledge: calico.merge });

      const counted = Map.groupBy(result.edits, ({ outcome, base, note }) =>
        base === undefined && note?.startsWith('Not in your manifest') ? 'mapped' : outcome,
      );
      const outcomes = Object.fromEntries(
        [...counted].filter(([outcome]) => outcome !== 'mapped').map(([outcome, edits]) => [outcome, edits.length]),
      );
      const mapped = counted.get('mapped') ?? [];
      const told = toldEdits(file.name);
      const traced = result.edits.map(tracedEdit);
      assert.deepEqual(
        told.filter((one) => !traced.some((trace) => meet(one, trace))),
        [],
      );
      const invented = result.edits.filter(
        (trace) =>
          !mapped.includes(trace) && trace.ref.kind !== 'CustomResourceDefinition' && !told.some((one) => meet(one, tracedEdit(trace))),
      );
      assert.deepEqual(
        invented.map(({ ref, path }) => `${ref.kind} ${path}`),
        [],
      );
      assert.deepEqual({ ...outcomes, mapped: undefined }, { ...file.outcomes, mapped: undefined });

      const text = upgradeText(theirsText, result);
      const again = new Map(objects(text, 'upgrade.yaml').map((object) => [identityOf(object), prepared(object)]));
      assert.deepEqual(again, new Map(result.documents.map((object) => [identityOf(object), object])));
      const second = mergeManifest({ base: theirs, mine: result.documents, theirs, knowledge: calico.merge });
      assert.deepEqual([second.documents, second.conflicts], [result.documents, []]);
    });
  }

  it('is told by the release that the images say, and asks where the text is another’s', () => {
    const asked = corpusFiles.flatMap((file) => {
      const { release: madeFrom, file: name } = editedManifests[file.name] ?? assert.fail();
      const mine = edited(file);
      const candidates = stored.releasesOf(name).map((release) => ({ release, documents: stored.documentsOf(release, name) ?? [] }));
      const said = mine.flatMap(releasesIn).find((tag) => candidates.some(({ release }) => sameRelease(release, tag)));
      const installed = said ?? madeFrom; // the operator's image tells it by a table
      const first = candidates.find(({ release }) => sameRelease(release, installed)) ?? assert.fail(file.name);
      const others = candidates.filter((one) => one !== first);
      const theirs = load(manifestFile(TARGET, file.target ?? name));
      const { base, doubt } = mergeByBase({ mine, theirs, knowledge: calico.merge }, { first, others, installed });
      assert.equal(base.release, first.release, file.name);
      return doubt ? [[file.name, ...doubt.choices]] : [];
    });
    assert.deepEqual(asked, [
      ['calico-etcd-v3.18.1-dotbalo', 'v3.18.1', 'v3.18.0'],
      ['calico-v3.23.3-yuikuen', 'v3.23.3', 'v3.23.4'],
      ['policy-only-v3.17.1-aws', 'v3.17.1', 'v3.16.0'],
      ['vxlan-v3.28.1-canonical', 'v3.28.1', 'v3.28.0'],
    ]);
  });

  it('has every base as its release’s own manifest has it', () => {
    let count = 0;
    for (const release of readdirSync(releases)) {
      for (const file of readdirSync(join(releases, release, 'manifests'))) {
        const base = stored.documentsOf(release, file);
        if (!base) continue;
        assert.deepEqual(base, load(manifestFile(release, file)).map(withoutTexts), `${release} ${file}`);
        count += 1;
      }
    }
    assert.ok(count > 80, String(count));
  });
});
