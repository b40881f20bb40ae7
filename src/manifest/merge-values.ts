import { areTexts, type JsonMap, sameValue } from '../kernel/json.ts';
import { type KubeObject, refText } from '../kernel/object.ts';
import { stepInto } from '../kube/field-paths.ts';
import { canonicalRepository, folderOf, type Image, imageKey, imageText, isReleaseTag, nameOf, repositoryAndTag } from './images.ts';
import { editJson, readJson } from './json-text.ts';
import { CONTAINERS, identityOf, podSpecOf, recordsIn, withPodSpec } from './prepare.ts';
import { mergeSequences } from './sequences.ts';
import { BOTH_CHANGED, decide, fieldOf, forcedAt, type MergeField, type Place, ROOT, settle, type Three, tell, type Walk } from './walk.ts';

const OWN_BUILD = 'It is not an image of the release under another registry: only you know which image replaces the target’s.';
const FROM_YOURS = 'The target’s is taken from your registry either way.';
const NO_JSON = 'Your text is not JSON, as the release has it.';

/** Another registry or path is carried with the target's tag; a tag that only tells the release is no edit (domain §6). */
export function mergeImage(walk: Walk, place: Place, three: Three): unknown {
  const { base, mine, theirs } = three;
  if (typeof base !== 'string' || typeof mine !== 'string') return settle(walk, place, three);
  const [was, is] = [repositoryAndTag(base), repositoryAndTag(mine)];
  const moved = canonicalRepository(was.repository) !== canonicalRepository(is.repository);
  const plain = isReleaseTag(is) || (is.digest === undefined && is.tag !== undefined && is.tag === was.tag);
  if (!moved && plain) return theirs;
  if (base === mine) return settle(walk, place, three);
  const asked = walk.disputed?.(place.path)?.because ?? forcedAt(walk, place);
  if (moved && plain && asked === undefined) walk.images.learn(was, is);
  if (typeof theirs !== 'string') return tell(walk, place, three, 'obsolete');
  if (mine === theirs) return tell(walk, place, three, 'already');
  const images = { was, is, to: repositoryAndTag(theirs) };
  if (asked !== undefined && plain) return decideRegistry(walk, place, three, images, asked);
  return plain ? mergeRegistry(walk, place, three, images) : decideBuild(walk, place, three, images);
}

/** One answer for all images of that registry, also for those of new containers. */
function decideRegistry(walk: Walk, place: Place, three: Three, { was, is, to }: Images, because: string): unknown {
  const mine = imageText(is.repository, to);
  const chosen = decide(walk, place, { ...three, mine }, because, `images:${folderOf(is.repository)}`);
  if (chosen === mine) walk.images.learn(was, is);
  return chosen;
}

type Images = Readonly<Record<'was' | 'is' | 'to', Image>>;

/** Registry and build are two edits: with the target's build, images still come from the user's registry. */
function decideBuild(walk: Walk, place: Place, three: Three, images: Images): unknown {
  const { was, is, to } = images;
  const field = `images:${folderOf(is.repository)}`;
  const moved = [was, to].every(({ repository }) => canonicalRepository(repository) !== canonicalRepository(is.repository));
  const isMirror = moved && isSame(images) && nameOf(is.repository).endsWith(nameOf(to.repository)) && to.tag !== undefined;
  if (!isMirror) return decide(walk, place, three, OWN_BUILD, field);
  walk.images.learn(was, is);
  const theirs = imageText(is.repository, to);
  return decide(walk, place, { ...three, theirs }, `${OWN_BUILD} ${FROM_YOURS}`, field);
}

/** The target has the same image, wherever it takes it from. */
function isSame({ was, to }: Images): boolean {
  return imageKey(to.repository) === imageKey(was.repository) || nameOf(to.repository) === nameOf(was.repository);
}

function mergeRegistry(walk: Walk, place: Place, three: Three, images: Images): unknown {
  const { is, to } = images;
  if (canonicalRepository(to.repository) === canonicalRepository(is.repository)) return tell(walk, place, three, 'already');
  if (!isSame(images)) return decide(walk, place, three, BOTH_CHANGED);
  const odd = nameOf(is.repository).endsWith(nameOf(to.repository))
    ? undefined
    : `Its name does not end in ${nameOf(to.repository)}; check it.`;
  tell(walk, place, three, 'kept', odd);
  return imageText(is.repository, to);
}

/** What the user added to and took from a list with commas, in the target's list. */
export function mergeCommaList(walk: Walk, place: Place, three: Three): unknown {
  const [base, mine, theirs] = [three.base, three.mine, three.theirs].map(words);
  if (!base || !mine || !theirs) return settle(walk, place, three);
  const mergedOf = (own: readonly string[]) => {
    const removed = base.filter((word) => !own.includes(word));
    const added = own.filter((word) => !base.includes(word));
    return [...theirs.filter((word) => !removed.includes(word)), ...added.filter((word) => !theirs.includes(word))];
  };
  const merged = mergedOf(mine);
  const disputed = disputedList(walk, place, merged, (cluster) => {
    const own = words(cluster);
    return own && mergedOf(own);
  });
  const isEdit = mine.some((word) => !base.includes(word)) || base.some((word) => !mine.includes(word));
  if (!isEdit && disputed === undefined) return three.theirs;
  return carry(walk, place, three, merged.join(','), merged.join() === theirs.join(), disputed);
}

function words(value: unknown): readonly string[] | undefined {
  if (typeof value !== 'string') return undefined;
  return value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** Carries what mine becomes in the target, unless another reason requires the user's decision. */
function carry(walk: Walk, place: Place, three: Three, merged: unknown, isTheirs: boolean, disputed: string | undefined): unknown {
  const reason = (isTheirs ? undefined : walk.forced(fieldOf(walk.ref, place.path))) ?? disputed;
  if (reason !== undefined) return decide(walk, place, { ...three, mine: merged }, reason);
  tell(walk, place, three, isTheirs ? 'already' : 'kept');
  return isTheirs ? three.theirs : merged;
}

/** Why the user must decide about a list that the cluster has otherwise: its result would differ. */
function disputedList(
  walk: Walk,
  place: Place,
  merged: readonly string[],
  mergedWith: (cluster: unknown) => readonly string[] | undefined,
): string | undefined {
  const disputed = walk.disputed?.(place.path);
  const others = disputed?.path === place.path ? mergedWith(disputed.cluster) : undefined;
  return others && sameValue(others, merged) ? undefined : disputed?.because;
}

/** Arguments keep their order; what both changed at the same place is the user's decision. */
export function mergeSequence(walk: Walk, place: Place, three: Three): unknown {
  const [base, mine, theirs] = [three.base, three.mine, three.theirs].map(textsIn);
  if (!base || !mine || !theirs || sameValue(base, mine) || sameValue(mine, theirs)) return settle(walk, place, three);
  const merged = mergeSequences(base, mine, theirs);
  if (!merged) return decide(walk, place, three, BOTH_CHANGED);
  const disputed = disputedList(walk, place, merged, (cluster) => {
    const own = textsIn(cluster);
    return own && mergeSequences(base, own, theirs);
  });
  return carry(walk, place, three, merged, sameValue(merged, theirs), disputed);
}

function textsIn(list: unknown): readonly string[] | undefined {
  return areTexts(list) ? list : undefined;
}

/** Texts that hold JSON merge member by member; undefined if this is not such a text. */
export function mergeJsonText(walk: Walk, place: Place, three: Three, mergeField: MergeField): { readonly text: unknown } | undefined {
  if (walk.ref.kind !== 'ConfigMap' || typeof three.mine !== 'string') return undefined;
  const [base, mine, theirs] = [readJson(three.base), readJson(three.mine), readJson(three.theirs)];
  if (base && theirs && !mine && walk.mode === 'merge') return { text: decide(walk, place, three, NO_JSON) };
  if (!base || !mine || (three.theirs !== undefined && !theirs)) return undefined;
  const within = { ...place, json: true };
  const merged = mergeField(walk, within, { base: base.value, mine: mine.value, theirs: theirs?.value });
  if (!theirs) return { text: undefined };
  return { text: editJson(String(three.theirs), merged) };
}

const AS_THE_OTHERS = 'Not in your manifest; taken from where your other images come from.';

/** Containers that the release did not have yet, or that the user had removed, come from the user's registry too, with the target's tag. */
export function mapNewImages(
  walk: Walk,
  object: KubeObject,
  { base, mine = base }: { readonly base: KubeObject | undefined; readonly mine: KubeObject | undefined },
  theirs: ReadonlyMap<string, KubeObject>,
): KubeObject {
  const [pod, target] = [podSpecOf(object), theirs.get(identityOf(object))];
  if (!pod || !target || walk.images.isEmpty) return object;
  const named = (list: string, from = base) => new Set(recordsIn(from && podSpecOf(from)?.[list]).map(({ name }) => name));
  const lists = CONTAINERS.filter((list) => Array.isArray(pod[list])).map((list) => {
    const [before, own] = [named(list), named(list, mine)];
    const untouched = new Map(recordsIn(podSpecOf(target)?.[list]).map(({ name, image }) => [name, image]));
    const items = recordsIn(pod[list]).map((container) => {
      const isNew = !(before.has(container.name) && own.has(container.name)) && untouched.get(container.name) === container.image;
      return isNew ? withMappedImage(walk, list, container) : container;
    });
    return [list, items] as const;
  });
  return withPodSpec(object, { ...pod, ...Object.fromEntries(lists) });
}

function withMappedImage(walk: Walk, list: string, container: JsonMap): JsonMap {
  const { image } = container;
  if (typeof image !== 'string') return container;
  const released = repositoryAndTag(image);
  const mine = walk.images.find(released.repository);
  const path = stepInto(stepInto(stepInto('spec.template.spec', list), String(container.name), true), 'image');
  if (mine === undefined) {
    walk.note(
      `${refText(walk.ref)}: ${image} is new in the target and your changes do not tell where you take it from; make sure the nodes can pull it.`,
    );
    return container;
  }
  const own = imageText(mine, released);
  if (own === image) return container;
  tell(walk, { ...ROOT, path, name: 'image' }, { base: undefined, mine: own, theirs: image }, 'kept', AS_THE_OTHERS);
  return { ...container, image: own };
}
