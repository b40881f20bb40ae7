import type { KubeObject } from '../core/object.ts';
import { compareReleases, parseRelease, sameMinor } from '../core/release.ts';
import type { Trace } from '../core/trace.ts';
import { withoutTexts } from './definition-texts.ts';
import { changedFields } from './fields.ts';
import { mergeManifest } from './merge.ts';
import type { MergeInput, MergeResult } from './merge-input.ts';
import { identityOf, prepared } from './prepare.ts';
import { canonical } from './same-meaning.ts';
import { fieldOf } from './walk.ts';

/** A release's own manifest of the variant, unedited. */
export interface BaseCandidate {
  readonly release: string;
  readonly documents: readonly KubeObject[];
  /** What a person has, where telling it depends on the release; else the same for all. */
  readonly told?: Pick<MergeInput, 'mine' | 'live'>;
}

export interface RankedBase extends BaseCandidate {
  /** What would be a person's edits if this release had been installed, definitions of resources included. */
  readonly edits: number;
  /** Those outside of definitions. */
  readonly ownEdits: number;
  /** Nearly as good as the best, or the one that the images tell: it may well have been the one. */
  readonly near: boolean;
}

/** Releases whose edits are at most so many more than the fewest were the right one now and then. */
const NEAR = 3;

/** With more edits than any hand-edited manifest of the right release had, the release is in doubt. */
const MANY = 40;

type Counted = Pick<RankedBase, 'release' | 'edits'>;

type Mine = Pick<MergeInput, 'mine' | 'file' | 'away' | 'live' | 'knowledge' | 'writerOf' | 'listRules'>;

/**
 * Which release the manifest in use was made from: all releases of the variant, the one with the fewest edits first. Tags of
 * images do not count; definitions do, since they differ between releases that otherwise are alike. Of equals the one that the
 * images tell comes first, then the older: against a base that is too new, fixes of the release look like edits to undo.
 */
export function rankBases(mine: Mine, candidates: readonly BaseCandidate[], labelled?: string): readonly RankedBase[] {
  const counted = candidates.map((candidate) => ({ ...candidate, ...countEdits({ ...mine, ...candidate.told }, candidate.documents) }));
  const least = Math.min(...counted.map(({ edits }) => edits));
  // What equals a release to the letter was made from it: then no other is asked about.
  const reach = least === 0 ? 0 : least + NEAR;
  // Where images and text agree on a release, one of another minor did not make the file.
  const isAgreed = counted.some(({ release, edits }) => release === labelled && edits === least);
  const mayBe = ({ release, edits }: Counted) => edits <= reach && (!isAgreed || sameMinor(release, labelled ?? ''));
  const ranked = counted.map((one) => ({ ...one, near: one.release === labelled || mayBe(one) }));
  return ranked.toSorted((a, b) => a.edits - b.edits || byLabel(a, b, labelled) || byAge(a.release, b.release));
}

function byLabel(a: BaseCandidate, b: BaseCandidate, labelled: string | undefined): number {
  return Number(b.release === labelled) - Number(a.release === labelled);
}

function byAge(a: string, b: string): number {
  const [left, right] = [parseRelease(a), parseRelease(b)];
  return left && right ? compareReleases(left, right) : Number(!left) - Number(!right);
}

function countEdits({ mine, live = [], ...rest }: Mine, base: readonly KubeObject[]): Pick<RankedBase, 'edits' | 'ownEdits'> {
  const merged = mergeManifest({ ...rest, base, mine, theirs: base, live });
  const edits = merged.edits.filter(({ outcome }) => outcome !== 'left');
  const isDefinition = ({ kind }: { readonly kind: string }) => kind === 'CustomResourceDefinition';
  const ownEdits = edits.filter(({ ref }) => !isDefinition(ref)).length;
  const own = new Map((rest.file ?? mine).filter(isDefinition).map((object) => [identityOf(object), object]));
  const inDefinitions = base.filter(isDefinition).map((object) => {
    const edited = own.get(identityOf(object));
    return edited ? changedFields(prepared(withoutTexts(object)), prepared(withoutTexts(edited))).length : 1;
  });
  return { ownEdits, edits: inDefinitions.reduce((sum, one) => sum + one, ownEdits) };
}

export interface BasedMerge {
  readonly base: RankedBase;
  /** All that may have been installed, best first; where they lead to different results, the person decides. */
  readonly near: readonly RankedBase[];
  readonly result: MergeResult;
  /** Why a person must confirm the base; undefined if it is certain enough. */
  readonly doubt?: string;
}

/** Merges with every base that may be the right one; fields in which the results differ become conflicts, nothing is guessed. */
export function mergeWithNearest(
  input: Omit<MergeInput, 'base'>,
  candidates: readonly BaseCandidate[],
  labelled?: string,
): BasedMerge | undefined {
  const near = nearest(input, candidates, labelled);
  const [best] = near;
  if (!best) return undefined;
  const results = near.map(({ documents, told }) => mergeManifest({ ...input, ...told, base: documents }));
  const reasons = new Map(
    differing(results).map((field) => [
      field,
      `It depends on which release was installed: ${near.map(({ release }) => release).join(', ')}.`,
    ]),
  );
  const result = (reasons.size === 0 ? results[0] : undefined) ?? mergeManifest({ ...input, ...best.told, base: best.documents }, reasons);
  const isOdd = best.ownEdits > MANY && best.release !== labelled;
  const doubt = `${best.ownEdits} differences from ${best.release} are more than edits by hand; name the release's own manifest with --base.`;
  return { base: best, near, result, ...(isOdd ? { doubt } : {}) };
}

/** True if nothing was edited in this release's manifest: no other made what is installed. */
export function isExact(mine: Mine, candidate: BaseCandidate): boolean {
  return rankBases(mine, [candidate])[0]?.edits === 0;
}

/** Where the release that the images tell is equalled to the letter, nothing is gained by asking about the forty others. */
function nearest(mine: Mine, candidates: readonly BaseCandidate[], labelled: string | undefined): readonly RankedBase[] {
  const told = candidates.filter(({ release }) => release === labelled);
  const [exact] = rankBases(mine, told, labelled);
  if (exact?.edits === 0) return [exact];
  return rankBases(mine, candidates, labelled).filter((one) => one.near);
}

/** Fields that are carried with some bases and not with others. */
function differing(results: readonly MergeResult[]): readonly string[] {
  const told = results.map(
    ({ edits }) =>
      new Map(edits.filter(changesResult).map((edit) => [fieldOf(edit.ref, edit.path), canonical([edit.outcome, edit.mine ?? null])])),
  );
  const fields = new Set(told.flatMap((one) => [...one.keys()]));
  return [...fields].filter((field) => new Set(told.map((one) => one.get(field))).size > 1);
}

function changesResult({ outcome }: Trace): boolean {
  return outcome === 'kept' || outcome === 'conflict';
}
