import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../../src/core/object.ts';
import { type Manifest, parseManifest } from '../../src/merge/manifest.ts';
import { mergeManifest } from '../../src/merge/merge.ts';
import { upgradeText } from '../../src/merge/upgrade-text.ts';
import { calico } from '../../src/profiles/calico.ts';
import { installClientSide } from '../support/client-side-install.ts';
import { corpus, corpusFiles } from '../support/merge-corpus.ts';
import { type OpenPlane, openPlane, planAndApply } from '../support/plan-and-result.ts';
import { hasReleases, manifestFile, releases } from '../support/shared.ts';

const TARGET = 'v3.32.1';
/** Of so many objects one may be called not exactly predictable: as measured once over all kinds of histories. */
const PER_UNCERTAIN = 1000;

interface Case {
  readonly title: string;
  readonly installed: string;
  target(): Manifest;
}

const manifestOf = (path: string): Manifest => parseManifest(readFileSync(path, 'utf8'), path);
const objectsOf = ({ documents }: Manifest): readonly KubeObject[] => documents.map(({ object }) => object);

function releaseCases(): readonly Case[] {
  const found = hasReleases() ? readdirSync(releases).filter((release) => existsSync(manifestFile(release, 'calico.yaml'))) : [];
  return found.map((release) => ({
    title: `calico.yaml ${release}`,
    installed: manifestFile(release, 'calico.yaml'),
    target: () => manifestOf(manifestFile(TARGET, 'calico.yaml')),
  }));
}

/** With the person's edits in it, as the apply stage would write it. */
function corpusCases(): readonly Case[] {
  if (!existsSync(corpus)) return [];
  return corpusFiles.map(({ name, base, file, target = file }) => ({
    title: `${name}, edited`,
    installed: join(corpus, `${name}.yaml`),
    target() {
      const theirs = manifestFile(TARGET, target);
      const documents = {
        base: objectsOf(manifestOf(manifestFile(base, file))),
        mine: objectsOf(manifestOf(join(corpus, `${name}.yaml`))),
      };
      const merged = mergeManifest({ ...documents, theirs: objectsOf(manifestOf(theirs)), knowledge: calico.merge });
      return parseManifest(upgradeText(readFileSync(theirs, 'utf8'), merged), 'upgrade.yaml');
    },
  }));
}

describe('what the plan predicts, on a real control plane', function () {
  this.timeout(280_000);
  let open: OpenPlane | undefined;
  const told = { objects: 0, uncertain: [] as string[] };
  afterEach(async () => {
    await open?.close();
    open = undefined;
  });
  const cases = [...releaseCases(), ...corpusCases()];
  if (cases.length === 0) it.skip('is what is there afterwards (needs the data beside the repository)');

  for (const { title, installed, target } of cases)
    it(`is what is there afterwards, object by object: ${title}`, async () => {
      open = await openPlane();
      const { created, leftOut } = await installClientSide(open.plane, installed);
      const results = await planAndApply(open, target());
      const certain = results.filter(({ uncertain }) => !uncertain);
      assert.deepEqual(
        certain.filter(({ different }) => different.length > 0),
        [],
      );
      told.objects += results.length;
      told.uncertain.push(...results.filter(({ uncertain }) => uncertain).map(({ name }) => `${title}: ${name}`));
      const refused = results.flatMap((one) => (one.refused ? [one.name] : []));
      console.log(
        `        ${certain.length} of ${results.length} predicted and equal` +
          `${refused.length > 0 ? `; refused, as planned: ${refused.join(', ')}` : ''}` +
          `${created.length > 0 ? `; created, being too large: ${created.join(', ')}` : ''}` +
          `${leftOut.length > 0 ? `; left out, not served: ${leftOut.join(', ')}` : ''}`,
      );
    });

  it('is called uncertain for hardly any object', () => {
    const allowed = Math.ceil(told.objects / PER_UNCERTAIN);
    assert.ok(told.uncertain.length <= allowed, `${told.uncertain.length} of ${told.objects}: ${told.uncertain.join('\n')}`);
  });
});
