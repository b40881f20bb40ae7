import { counted } from '../kernel/counted.ts';
import type { KubeObject } from '../kernel/object.ts';
import { byAge, imageRelease, parseRelease, sameMinor, sameRelease } from '../kernel/release.ts';
import { canonical } from './alike.ts';
import { type Distance, definitionDistance, isDefinition, textDistance } from './base-distance.ts';
import { mergeManifest, objectsInstalled } from './merge.ts';
import type { MergeInput, MergeResult } from './merge-input.ts';
import { containersIn, podSpecOf } from './prepare.ts';
import { fieldOf } from './walk.ts';

/** A release's own manifest of the variant, unedited. */
export interface BaseCandidate {
  readonly release: string;
  readonly documents: readonly KubeObject[];
}

/** The manifests that may have been installed. */
export interface Candidates {
  /** The one that live states were compared by: the installed release's own, the one that the user named, or the nearest at hand. */
  readonly first: BaseCandidate;
  readonly others: readonly BaseCandidate[];
  /** The release that the images tell; undefined if they tell none. */
  readonly installed: string | undefined;
  /** The user named `first`. */
  readonly given?: boolean;
}

/** Why the user must say which release was installed. */
export interface BaseDoubt {
  readonly because: string;
  /** Those that it may be, as `--base` takes them. */
  readonly choices: readonly string[];
}

export interface ChosenBase {
  readonly base: BaseCandidate;
  /** A release whose text is nearer, and would lead to the same result. */
  readonly alike?: string;
  readonly result: MergeResult;
  /** Undefined if the base is the installed release's own. */
  readonly doubt?: BaseDoubt;
}

type Input = Omit<MergeInput, 'base'>;

/**
 * Merges by the installed release's own manifest, which the images name. If another's text is nearer and gives another result, the user
 * chooses once; without the own manifest, each difference is a question.
 *
 * `apart`: definitions in the cluster, where they are not merged with the rest.
 */
export function mergeByBase(input: Input, candidates: Candidates, apart?: readonly KubeObject[]): ChosenBase {
  const { first, others, installed, given } = candidates;
  const mergeBy: MergeBy = ({ documents }, reasons) =>
    mergeManifest({ ...input, base: apart ? documents.filter((one) => !isDefinition(one)) : documents }, reasons);
  const distance = textDistance(objectsInstalled({ ...input, base: first.documents }), input);
  const definitions = definitionDistance(apart ?? (input.file ?? input.mine).filter(isDefinition));
  const byDistance = nearestFirst(distance, definitions, installed);
  const all = [first, ...others];
  const named = all.filter((one) => isNamed(one, installed)).toSorted(nearestFirst(distance, () => 0, installed));
  const nearest = () => all.toSorted(byDistance)[0] ?? first;
  const [base] = named;
  if (given) {
    const rival = base ?? (installed === undefined ? nearest() : undefined);
    const doubt = named.includes(first) ? undefined : doubtOfGiven(first, rival, installed, distance);
    return doubt ? asQuestions(first, doubt, mergeBy) : { base: first, result: mergeBy(first) };
  }
  if (!base) {
    const near = installed === undefined ? nearest() : first;
    return asQuestions(near, unknownDoubt(near, installed, distance), mergeBy);
  }
  const own = distance(base.documents);
  const nearer = own === 0 ? undefined : others.filter((one) => distance(one.documents) < own).toSorted(byDistance)[0];
  const result = mergeBy(base);
  if (!nearer) return { base, result };
  const fields = differing([result, mergeBy(nearer)]);
  if (fields.length === 0) return { base, result, alike: nearer.release };
  const because = `the images say ${base.release}, but the rest is nearer to ${nearer.release} (${counted(distance(nearer.documents), 'difference')} instead of ${own}); by which release your changes are told decides ${someOf(fields)}`;
  return { base, result, doubt: { because, choices: [base.release, nearer.release] } };
}

type MergeBy = (base: BaseCandidate, reasons?: ReadonlyMap<string, string>) => MergeResult;

/** The user's word counts, unless what is at hand contradicts it. */
function doubtOfGiven(
  given: BaseCandidate,
  rival: BaseCandidate | undefined,
  installed: string | undefined,
  distance: Distance,
): BaseDoubt | undefined {
  const isOther = installed !== undefined && !rival && parseRelease(given.release) !== undefined;
  const lead = rival ? distance(given.documents) - distance(rival.documents) : -1;
  const isWorse = installed === undefined ? lead > 0 : lead >= 0;
  if (!isOther && !isWorse) return undefined;
  const told = installed === undefined ? '' : `the images say ${installed}, `;
  const because = rival
    ? `--base is of ${given.release}; ${told}and the text is nearer to ${rival.release} (${counted(distance(rival.documents), 'difference')} instead of ${distance(given.documents)})`
    : `--base is of ${given.release}, but the images say ${installed}`;
  return { because, choices: rival ? [rival.release] : [] };
}

function unknownDoubt({ release, documents }: BaseCandidate, installed: string | undefined, distance: Distance): BaseDoubt {
  const count = counted(distance(documents), 'difference');
  if (installed === undefined) {
    return { because: `the images tell no release; the text is nearest to ${release} (${count})`, choices: [release] };
  }
  const because = `the manifest of ${installed} is not at hand: what differs from ${release} (${count}) may be yours or the release's own`;
  return { because, choices: [] };
}

/** Every edit that would be carried is to be decided. */
function asQuestions(base: BaseCandidate, doubt: BaseDoubt, mergeBy: MergeBy): ChosenBase {
  const { edits } = mergeBy(base);
  const why = `It may be yours or the release's own: it differs from ${base.release}, which need not be what was installed.`;
  // Also of images without a place in the target: a registry learnt from them is used for new containers.
  const carried = edits.filter(({ outcome, path }) => outcome === 'kept' || path.endsWith('.image'));
  const reasons = new Map(carried.map(({ ref, path }) => [fieldOf(ref, path), why]));
  return { base, doubt, result: mergeBy(base, reasons) };
}

/** Prefers the named release, then its minor, then the older: with a base too new, its own fixes look like edits. */
function nearestFirst(distance: Distance, definitions: Distance, name = ''): (a: BaseCandidate, b: BaseCandidate) => number {
  const isOfMinor = ({ release }: BaseCandidate) => Number(sameMinor(release, name));
  return (a, b) =>
    distance(a.documents) - distance(b.documents) ||
    definitions(a.documents) - definitions(b.documents) ||
    Number(b.release === name) - Number(a.release === name) ||
    isOfMinor(b) - isOfMinor(a) ||
    byAge(a.release, b.release);
}

/** Images tell it by its own name, or by the tag that its manifest was published with: v3.24.6's names images of v3.24.5. */
function isNamed({ release, documents }: BaseCandidate, installed: string | undefined): boolean {
  if (installed === undefined) return false;
  if (sameRelease(release, installed)) return true;
  return sameMinor(release, installed) && documents.some((one) => releasesIn(one).some((tag) => sameRelease(tag, installed)));
}

/** Releases that the images of a workload name. */
export function releasesIn(document: KubeObject): readonly string[] {
  const images = containersIn(podSpecOf(document)).map(({ image }) => image);
  return images.flatMap((image) => (typeof image === 'string' ? (imageRelease(image) ?? []) : []));
}

/** Fields that are carried with some bases and not with others. */
function differing(results: readonly MergeResult[]): readonly string[] {
  const told = results.map(({ edits }) => {
    const carried = edits.filter(({ outcome }) => outcome === 'kept' || outcome === 'conflict');
    return new Map(carried.map(({ ref, path, outcome, mine = null }) => [fieldOf(ref, path), canonical([outcome, mine])]));
  });
  const fields = new Set(told.flatMap((one) => [...one.keys()]));
  return [...fields].filter((field) => new Set(told.map((one) => one.get(field))).size > 1);
}

/** This many fields are named. */
const SHOWN = 3;

function someOf(fields: readonly string[]): string {
  return [...fields.slice(0, SHOWN), ...(fields.length > SHOWN ? [`${fields.length - SHOWN} more`] : [])].join(', ');
}
