import assert from 'node:assert/strict';
import { openStoredBases, type StoredBases } from '../../src/adapters/stored-bases.ts';
import type { Edit } from '../../src/kernel/edit.ts';
import { type KubeObject, refOf, refText } from '../../src/kernel/object.ts';
import { alike } from '../../src/manifest/alike.ts';
import { mergeByBase } from '../../src/manifest/choose-base.ts';
import { changedFields, fieldAt } from '../../src/manifest/definition-differences.ts';
import { folderOf, repositoryAndTag } from '../../src/manifest/images.ts';
import type { MergeResult } from '../../src/manifest/merge-input.ts';
import { identityOf, podSpecOf, prepared, recordsIn } from '../../src/manifest/prepare.ts';
import { calico } from '../../src/profiles/calico.ts';
import { diceOf, withRandomEdits } from '../support/release-edits.ts';

type Objects = readonly KubeObject[];

/** By the target's names: a container and a volume were renamed. */
const byNewName = (path: string) => calico.merge.renames.reduce((named, { from, to }) => named.replaceAll(`[${from}]`, `[${to}]`), path);

function related(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short === '' || (long.startsWith(short) && /^($|[.[])/.test(long.slice(short.length)));
}

interface Change {
  readonly object: string;
  readonly path: string;
}

/** Every leaf in which the two differ, apart from spelling; permissions are compared elsewhere. */
function changesBetween(before: Objects, after: Objects): readonly Change[] {
  const [was, is] = [before, after].map((all) => new Map(all.map((one) => [identityOf(one), one])));
  return [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])].flatMap((identity) => {
    const [old, now] = [was?.get(identity), is?.get(identity)];
    const object = refText({ ...(now ?? old ?? assert.fail(identity)), ...(now ?? old ?? assert.fail(identity)).metadata });
    if (!old || !now) return [{ object, path: '' }];
    return changedFields(prepared(old), prepared(now))
      .filter(({ path, before: a, after: b }) => !isSpelling(path, a, b))
      .map(({ path }) => ({ object, path: byNewName(path) }));
  });
}

function isSpelling(path: string, before: unknown, after: unknown): boolean {
  if (/\.image$/.test(path)) {
    const [a, b] = [before, after].map((image) => repositoryAndTag(String(image)).repository.replace(/^docker\.io\//, ''));
    return a === b;
  }
  // A variable that is empty is not one that is absent.
  return /\.(labels|nodeSelector)\b|\.env\[/.test(path)
    ? before === after
    : alike(before, after, { name: /([A-Za-z]+)$/.exec(path)?.[1] ?? '' });
}

/** What the result has and nobody was told, and what was told and the result does not have. */
function untrue({ documents, edits }: MergeResult, theirs: Objects): readonly string[] {
  const named = new Map(documents.map((one) => [refText(refOf(one)), one]));
  const carried = edits.filter(({ outcome }) => outcome === 'kept').map((edit) => ({ object: refText(edit.ref), edit }));
  const untold = changesBetween(theirs, documents)
    .filter(({ object, path }) => !carried.some((one) => one.object === object && related(one.edit.path, path)))
    .map(({ object, path }) => `untold: ${object} ${path}`);
  const missing = carried
    // A Secret that a person edited is in no file: it stays in the cluster.
    .filter(({ object, edit }) => (edit.ref.kind === 'Secret' ? named.has(object) : !isCarried(named.get(object), edit)))
    .map(({ object, edit }) => `missing: ${object} ${edit.path}`);
  return [...untold, ...missing];
}

function isCarried(result: KubeObject | undefined, { path, base, mine }: Edit): boolean {
  if (path === '' || result === undefined) return path === '' && (mine === undefined) === (result === undefined);
  const [text] = /^data\.\w+(?=[.[(])/.exec(path) ?? [];
  if (text !== undefined) return fieldAt(result, text) !== undefined;
  const value = fieldAt(result, path);
  if (path.endsWith('.image')) return repositoryAndTag(String(value)).repository === repositoryAndTag(String(mine)).repository;
  if (calico.merge.commaLists.some((name) => path.endsWith(`[${name}].value`))) return isMergedList(value, base, mine);
  const list = fieldAt(result, path.replace(/\[(?:[^\\\]]|\\.)*\]$/, ''));
  if (path.endsWith(']') && Array.isArray(list) && value === undefined)
    return mine === undefined ? !list.some((one) => alike(one, base)) : list.some((one) => alike(one, mine));
  return alike(value, mine, { name: /([A-Za-z]+)$/.exec(path)?.[1] ?? '' });
}

/** What was added is there, and what was taken out is not; what the target adds is there besides. */
function isMergedList(...texts: readonly unknown[]): boolean {
  const [value = [], base = [], mine = []] = texts.map((text) => String(text ?? '').split(','));
  const wanted = mine.filter((item) => !base.includes(item));
  return wanted.every((item) => value.includes(item)) && !base.some((item) => !mine.includes(item) && value.includes(item));
}

/** Folders of the service's own images; the person's own containers, flannel and its etcd come from elsewhere. */
function registriesOf(documents: Objects): ReadonlySet<string> {
  const containers = documents.flatMap((one) => ['initContainers', 'containers'].flatMap((list) => recordsIn(podSpecOf(one)?.[list])));
  const images = containers
    .map(({ image }) => repositoryAndTag(String(image)).repository)
    .filter((image) => !/flannel|coreos|^own\./.test(image));
  return new Set(images.map(folderOf));
}

const TARGET = 'v3.32.1';

/** Of 116 releases of 8 variants each this many, another choice each day; the nightly run has all, so many times. */
const SAMPLE = Number(process.env.SAMPLE) || 24;
const TIMES = 3;
const NIGHTLY = process.env.NIGHTLY !== undefined;
const SEED = Number(process.env.SEED) || Math.floor(Date.now() / 86_400_000);

const isDefinition = ({ kind }: KubeObject) => kind === 'CustomResourceDefinition';
const compared = (documents: Objects = []) => documents.filter(({ kind }) => kind !== 'Job');

/** Images of containers that the person does not have come from the person's registry: told, and made by nobody. */
const isMapped = ({ path, base, note }: Edit) =>
  path.endsWith('.image') && base === undefined && note?.startsWith('Not in your manifest') === true;

const textOf = (documents: Objects) => JSON.stringify(documents).replace(/("image":"[^":]*(:\d+[^":]*)?):[^"]*"/g, '$1"');

describe('the base of installed releases, whatever was edited', function () {
  this.timeout(NIGHTLY ? 7_200_000 : 120_000);
  let stored: StoredBases;
  before(async () => {
    stored = (await openStoredBases('calico')) ?? assert.fail('nothing stored');
  });

  function check(file: string, release: string, seed: number): { readonly asked: boolean } {
    const dice = diceOf(seed);
    const base = compared(stored.documentsOf(release, file));
    const mine = withRandomEdits(base, dice(7), dice);
    const context = `${file} ${release} SEED=${seed}`;
    const candidates = stored.releasesOf(file).map((one) => ({ release: one, documents: compared(stored.documentsOf(one, file)) }));
    const first = candidates.find((one) => one.release === release) ?? assert.fail(context);
    const others = candidates.filter((one) => one !== first);
    const input = {
      mine: mine.filter((one) => !isDefinition(one)),
      mineIs: 'last-applied',
      theirs: stored.documentsOf(TARGET, file) ?? [],
      knowledge: calico.merge,
    } as const;
    const chosen = mergeByBase(input, { first, others, installed: release }, mine.filter(isDefinition));

    assert.equal(textOf(chosen.base.documents), textOf(base), `${context}: by ${chosen.base.release}`);
    const plain = base.filter((one) => !isDefinition(one));
    const changes = changesBetween(plain, input.mine);
    const edits = chosen.result.edits.filter((edit) => !isMapped(edit));
    const told = edits.map(({ ref, path }) => ({ object: refText(ref), path: byNewName(path) }));
    const meets = (a: Change, b: Change) => a.object === b.object && related(a.path, b.path);
    assert.deepEqual(
      changes.filter((change) => !told.some((one) => meets(one, change))),
      [],
      `${context}: lost`,
    );
    assert.deepEqual(
      told.filter((one) => !changes.some((change) => meets(one, change))),
      [],
      `${context}: invented`,
    );
    const [registry, ...more] = registriesOf(input.mine);
    const isMoved = registry === 'registry.example.org:5000/mirror' && more.length === 0;
    if (isMoved) assert.deepEqual([...registriesOf(chosen.result.documents)], [registry], `${context}: images from elsewhere`);
    assert.deepEqual(untrue(chosen.result, input.theirs), [], `${context}: the result is not what was told`);
    return { asked: chosen.doubt !== undefined };
  }

  it('is the release’s own, no edit is lost in silence, and none is invented', () => {
    const all = calico.variants.flatMap(({ file }) => stored.releasesOf(file).map((release) => ({ file, release })));
    const dice = diceOf(SEED);
    const cases = NIGHTLY
      ? Array.from({ length: TIMES }, () => all).flat()
      : Array.from({ length: SAMPLE }, () => all[dice(all.length)] ?? assert.fail());
    const asked = cases.filter(({ file, release }, index) => check(file, release, SEED * 1000 + index).asked);
    assert.ok(asked.length <= cases.length / 50, `asked in ${asked.length} of ${cases.length}: ${JSON.stringify(asked)}`);
  });

  it('of a release that is not at hand is a neighbour of which nothing is carried before a person decides', () => {
    const dice = diceOf(SEED);
    for (let index = 0; index < SAMPLE; index += 1) {
      const { file } = calico.variants[dice(calico.variants.length)] ?? assert.fail();
      const releases = stored.releasesOf(file);
      const release = releases[dice(releases.length)] ?? assert.fail();
      const base = compared(stored.documentsOf(release, file));
      const mine = withRandomEdits(base, 1 + dice(6), dice).filter((one) => !isDefinition(one));
      const input = { mine, mineIs: 'last-applied', theirs: stored.documentsOf(TARGET, file) ?? [], knowledge: calico.merge } as const;
      const candidates = { first: { release, documents: base }, others: [], installed: release.replace(/\d+$/, '99') };
      const { result, doubt } = mergeByBase(input, candidates, []);
      assert.deepEqual(
        [doubt?.choices, result.edits.filter(({ outcome, ref }) => outcome === 'kept' && ref.kind !== 'Secret')],
        [[], []],
        `${file} ${release} SEED=${SEED}`,
      );
    }
  });

  it('leaves nothing to tell or to decide where nothing was edited', () => {
    for (const { file } of [...calico.variants, calico.operator]) {
      const candidates = stored.releasesOf(file).map((one) => ({ release: one, documents: compared(stored.documentsOf(one, file)) }));
      for (const [index, first] of candidates.entries()) {
        if (!NIGHTLY && index % 10 !== SEED % 10) continue;
        const input = {
          mine: first.documents.filter((one) => !isDefinition(one)),
          theirs: stored.documentsOf(TARGET, file) ?? [],
          knowledge: calico.merge,
        };
        const others = candidates.filter((one) => one !== first);
        const { result, base, doubt } = mergeByBase(input, { first, others, installed: first.release }, []);
        assert.deepEqual([result.edits, result.conflicts, doubt], [[], [], undefined], `${file} ${base.release}`);
      }
    }
  });
});
