import type { KubeObject } from '../kernel/object.ts';
import { refText } from '../kernel/object.ts';
import { stepInto } from '../kube/field-paths.ts';
import { imageText, parseImage } from './images.ts';
import { identityOf, podSpecOf, recordsIn, withPodSpec } from './prepare.ts';
import { tell, type Walk } from './walk.ts';

const LISTS = ['initContainers', 'containers'] as const;
const AS_THE_OTHERS = 'Not in your manifest; taken from where your other images come from.';

/** Containers that the release did not have yet, or that the user had removed, come from the user's registry too, with the target's tag. */
export function mapNewImages(
  walk: Walk,
  object: KubeObject,
  { base, mine = base }: { readonly base: KubeObject | undefined; readonly mine: KubeObject | undefined },
  theirs: ReadonlyMap<string, KubeObject>,
): KubeObject {
  const [pod, target] = [podSpecOf(object), podSpecOf(theirs.get(identityOf(object)) ?? object)];
  if (!pod || !theirs.has(identityOf(object)) || walk.images.isEmpty) return object;
  const known = podSpecOf(base ?? object) ?? {};
  const own = podSpecOf(mine ?? object) ?? {};
  const lists = LISTS.filter((list) => Array.isArray(pod[list])).map((list) => {
    const present = new Set(recordsIn(own[list]).map(({ name }) => name));
    const names = new Set(base ? recordsIn(known[list]).flatMap(({ name }) => (present.has(name) ? [name] : [])) : []);
    const untouched = new Map(recordsIn(target?.[list]).map(({ name, image }) => [name, image]));
    const items = recordsIn(pod[list]).map((container) => {
      const isNew = !names.has(container.name) && untouched.get(container.name) === container.image;
      return isNew ? withMappedImage(walk, list, container) : container;
    });
    return [list, items] as const;
  });
  return withPodSpec(object, { ...pod, ...Object.fromEntries(lists) });
}

type Container = Readonly<Record<string, unknown>>;

function withMappedImage(walk: Walk, list: string, container: Container): Container {
  const { image } = container;
  if (typeof image !== 'string') return container;
  const released = parseImage(image);
  const mine = walk.images.find(released.repository);
  const path = stepInto(stepInto(stepInto('spec.template.spec', list), String(container.name), true), 'image');
  if (mine === undefined) {
    walk.note(
      `${refText(walk.ref)}: ${image} is new in the target and your edits do not tell where you take it from; make sure the nodes can pull it.`,
    );
    return container;
  }
  const own = imageText(mine, released);
  if (own === image) return container;
  tell(
    walk,
    { path, fields: '', name: 'image', gone: false, json: false },
    { base: undefined, mine: own, theirs: image },
    'kept',
    AS_THE_OTHERS,
  );
  return { ...container, image: own };
}
