import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStoredBases, type StoredBases } from '../../src/adapters/stored-bases.ts';
import { Fault } from '../../src/core/fault.ts';
import type { KubeObject } from '../../src/core/object.ts';
import { withoutTexts } from '../../src/merge/definition-texts.ts';
import { parseManifest } from '../../src/merge/manifest.ts';
import { mergeManifest } from '../../src/merge/merge.ts';
import { identityOf, prepared } from '../../src/merge/prepare.ts';
import { rankBases } from '../../src/merge/rank-bases.ts';
import { upgradeText } from '../../src/merge/upgrade-text.ts';
import { calico } from '../../src/profiles/calico.ts';
import { type CorpusFile, corpus, corpusFiles, indexedEdits, meet, tracedEdit } from '../support/merge-corpus.ts';
import { manifestFile, releases } from '../support/releases.ts';

const TARGET = 'v3.32.1';

const textOf = (path: string): string => readFileSync(path, 'utf8');
const objects = (text: string, name: string): readonly KubeObject[] => parseManifest(text, name).documents.map(({ object }) => object);
const load = (path: string): readonly KubeObject[] => objects(textOf(path), path);

/** Undefined for the one file that is not YAML 1.2 as long as the parser does not repair it. */
function edited({ name }: CorpusFile): readonly KubeObject[] | undefined {
  try {
    return load(join(corpus, `${name}.yaml`));
  } catch (thrown) {
    if (thrown instanceof Fault && name.includes('kubecube')) return undefined;
    throw thrown;
  }
}

describe('the merge of real edited manifests', function () {
  this.timeout(120_000);
  let stored: StoredBases;
  before(async function () {
    if (!existsSync(corpus)) this.skip(); // needs the corpus beside the repository
    const opened = await openStoredBases('calico');
    assert.ok(opened);
    stored = opened;
  });

  for (const file of corpusFiles) {
    it(`carries or reports every edit of ${file.name} and invents none`, function () {
      const mine = edited(file);
      if (!mine) return this.skip(); // needs the repair of its quoted texts
      const theirsText = textOf(manifestFile(TARGET, file.target ?? file.file));
      const theirs = objects(theirsText, 'target');
      const result = mergeManifest({ base: load(manifestFile(file.base, file.file)), mine, theirs, knowledge: calico.merge });

      const counted = Map.groupBy(result.edits, ({ outcome, base, note }) =>
        base === undefined && note?.startsWith('New in') ? 'mapped' : outcome,
      );
      const outcomes = Object.fromEntries(
        [...counted].filter(([outcome]) => outcome !== 'mapped').map(([outcome, edits]) => [outcome, edits.length]),
      );
      const mapped = counted.get('mapped') ?? [];
      const indexed = indexedEdits(file.name);
      const traced = result.edits.map(tracedEdit);
      assert.deepEqual(
        indexed.filter((one) => !traced.some((trace) => meet(one, trace))),
        [],
      );
      const invented = result.edits.filter(
        (trace) =>
          !mapped.includes(trace) && trace.ref.kind !== 'CustomResourceDefinition' && !indexed.some((one) => meet(one, tracedEdit(trace))),
      );
      assert.deepEqual(
        invented.map(({ ref, path }) => `${ref.kind} ${path}`),
        file.name.includes('canonical') ? CANONICAL : [],
      );
      assert.deepEqual({ ...outcomes, mapped: undefined }, { ...file.outcomes, mapped: undefined });

      const text = upgradeText(theirsText, result);
      const again = new Map(objects(text, 'upgrade.yaml').map((object) => [identityOf(object), prepared(object)]));
      assert.deepEqual(again, new Map(result.documents.map((object) => [identityOf(object), object])));
      const second = mergeManifest({ base: theirs, mine: result.documents, theirs, knowledge: calico.merge });
      assert.deepEqual([second.documents, second.conflicts], [result.documents, []]);
    });
  }

  it('finds the release that each file was made from', () => {
    for (const file of corpusFiles) {
      const mine = edited(file);
      if (!mine || file.name.includes('policy-only-v3.17.1')) continue; // a vendor's own manifest fits no release
      const candidates = stored
        .releasesOf(file.file)
        .map((release) => ({ release, documents: stored.documentsOf(release, file.file) ?? [] }));
      const [best] = rankBases({ mine, knowledge: calico.merge }, candidates);
      assert.equal(best?.release, file.name.includes('kubevirt') ? 'v3.27.5' : file.base, file.name);
    }
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

/** The index compares with v3.28.0, which did not have these two yet. */
const CANONICAL = [
  'DaemonSet spec.template.spec.volumes[var-run-calico].hostPath.type',
  'DaemonSet spec.template.spec.volumes[var-lib-calico].hostPath.type',
];
