import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { pointerSteps } from '../../kernel/json.ts';
import type { JsonPatchOp, KubeObject, ObjectChange } from '../../kernel/object.ts';
import { type ChangedPlace, changeTo, placesIn, putOp, standing, valueIn } from '../../kernel/object-change.ts';
import { templateObject, templateText } from '../../manifest/injector-template.ts';
import { applyJsonPatch } from '../../manifest/json-patch.ts';
import { mergeText } from '../../manifest/sequences.ts';
import { conflictText, type Data } from './merge.ts';
import type { Injector, InjectorOutcome } from './templates.ts';

/** An injector with what it was before `alp`, as far as that can be had without losing what was changed since. */
export interface FormerTemplate {
  readonly live: KubeObject;
  readonly patch: readonly JsonPatchOp[];
  /** What the patch changes, and the places of `alp` that it leaves. */
  readonly change: ObjectChange;
  /** Its data after the patch. */
  readonly data: Data;
  /** Places changed since that the patch overwrites. */
  readonly lost: readonly string[];
}

/** Puts back only what `alp` changed: an unchanged place to its former text, a key edited since by a three-way merge with that edit. */
export function formerTemplate(live: KubeObject, places: readonly ChangedPlace[]): FormerTemplate {
  const former = places.map((one) => ({ ...one, ...formerValue(one, live) }));
  const moved = former.filter(({ place, value }) => value !== valueIn(live, place));
  const noData = live.data === undefined && moved.some(({ place }) => place.startsWith(DATA));
  const patch = [
    ...(noData ? [{ op: 'add', path: '/data', value: {} } as const] : []),
    ...moved.map(({ place, value }) => putOp(live, place, value)),
  ];
  const change = changeTo(live, Object.fromEntries(former.map(({ place, value }) => [place, value])));
  return { live, patch, change, data: (applyJsonPatch(live, patch).data ?? {}) as Data, lost: former.flatMap(({ lost }) => lost ?? []) };
}

const DATA = '/data/';

interface FormerValue {
  /** Undefined: it was not there. */
  readonly value: string | undefined;
  readonly lost?: string;
}

/** Labels and annotations are put back if they are as the template set them, and stay otherwise. */
function formerValue(one: ChangedPlace, live: KubeObject): FormerValue {
  const [now, before, put] = [valueIn(live, one.place), one.before, one.after] as readonly (string | undefined)[];
  const state = standing(one, live);
  if (state === 'ours') return { value: before };
  if (state === 'former' || !one.place.startsWith(DATA)) return { value: now };
  const key = pointerSteps(one.place).at(-1) ?? '';
  if (now === undefined) return { value: before, lost: `${key}: it was taken away since` };
  if (before === undefined || put === undefined) return { value: before, lost: `${key}: it was changed since` };
  const merged = mergeText(put, now, before);
  if ('text' in merged) return { value: merged.text };
  return { value: before, lost: conflictText(key, merged.conflicts, { mine: 'now', theirs: 'before alp' }) };
}

const PLACE = /^\/(?:data|metadata\/(?:labels|annotations))\/[^/]+$/;

/** True for what `alp` and its undo may have changed: texts of a ConfigMap. */
export function isTemplateChange({ ref, before, after }: ObjectChange): boolean {
  const texts = [...Object.entries(before), ...Object.entries(after)];
  return ref.kind === 'ConfigMap' && texts.every(([place, value]) => PLACE.test(place) && typeof value === 'string');
}

/** What the template changes in an injector. Labels and annotations count where the template has any. */
function templateChange(map: KubeObject, { isObject, data, labels, annotations }: Template): ObjectChange {
  const marks = isObject ? { ...placesIn(['metadata', 'labels'], labels), ...placesIn(['metadata', 'annotations'], annotations) } : {};
  const wanted = Object.entries({ ...placesIn(['data'], data), ...marks });
  return changeTo(map, Object.fromEntries(wanted.filter(([place, value]) => valueIn(map, place) !== value)));
}

type Template = Extract<InjectorOutcome, { readonly type: 'template' }>;

/** As the procedure says for a whole object; releases that ship only `data` need a patch (§4.6/1, domain §9). */
export function templateActions({ injectors }: { readonly injectors: readonly Injector[] }, { workFolder }: Context): readonly Action[] {
  return injectors.flatMap(({ map, outcome }) => {
    if (outcome.type !== 'template') return [];
    const change = templateChange(map, outcome);
    if (Object.keys(change.after).length === 0) return [];
    const { name, namespace = '' } = map.metadata;
    const file = `${name}-template.yaml`;
    const path = `${workFolder}/${file}`;
    const args = outcome.isObject ? ['apply', '-f', path] : ['patch', 'configmap', name, '-n', namespace, '--patch-file', path];
    return [
      {
        id: `file-${name}`,
        title: `write the template of ${name}`,
        ref: '§4.6/1',
        undo: 'full',
        effect: { type: 'write', file, content: textOf(map, outcome) },
      },
      {
        id: `template-${name}`,
        title: `put the template of the target into ConfigMap ${namespace}/${name}${outcome.edited ? ', with your edits' : ''}`,
        ref: '§4.6/1',
        undo: 'full',
        afresh: true,
        keep: { changes: [change] },
        effect: { type: 'exec', run: { tool: 'kubectl', args } },
      },
    ] satisfies readonly Action[];
  });
}

function textOf({ metadata: { name, namespace } }: KubeObject, { isObject, labels, annotations, data }: Template): string {
  if (!isObject) return templateText(data);
  const given = (what: 'labels' | 'annotations', marks: Readonly<Record<string, string>>) =>
    Object.keys(marks).length > 0 ? { [what]: marks } : {};
  return templateObject({ name, namespace, ...given('labels', labels), ...given('annotations', annotations) }, data);
}
