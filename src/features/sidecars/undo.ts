import type { Action } from '../../kernel/action.ts';
import type { Evidence, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { pointerSteps } from '../../kernel/json.ts';
import { type JsonPatchOp, type KubeObject, type ObjectChange, refOf, refText } from '../../kernel/object.ts';
import { type ChangedPlace, changeTo, isUndone, patchOf, putOp, standingOf, valueIn } from '../../kernel/object-change.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import { applyJsonPatch } from '../../manifest/json-patch.ts';
import { mergeText } from '../../manifest/sequences.ts';
import type { TemplateMounts } from './checks.ts';
import { flexiblyMounted } from './restarted.ts';
import { conflictText, type Data } from './templates.ts';

/** What the undo finds. */
export interface WayBack {
  /** Injectors whose former template is kept, and of which no undo is known to have put it back. */
  readonly former: readonly FormerTemplate[];
  /** Names of those that somebody changed since the former template was put back. */
  readonly edited: readonly string[];
  /** Names of those that are no more. */
  readonly gone: readonly string[];
  /** False: no change of an injector was kept. */
  readonly recorded: boolean;
}

/** Former templates come back from what was kept; restarted pods get the former sidecar at their next restart. */
export function undoPlan({ wayBack }: { readonly wayBack: Reading<WayBack> }, { goal }: Pick<Context, 'goal'>): StagePlan {
  if ('unread' in wayBack) return { skip: `the injectors could not be read: ${wayBack.unread}` };
  const { former, edited, gone, recorded } = wayBack.value;
  if (!recorded)
    return {
      skip: goal.takesBack
        ? 'the upgrade that is taken back has changed no injector'
        : 'no change of an injector was recorded on this cluster',
    };
  const actions = former.filter(({ patch }) => patch.length > 0).map(restore);
  const notes = [...edited.map((name) => `${name} was changed since, and stays so`), ...gone.map((name) => `${name} is no longer there`)];
  if (actions.length > 0) return { actions, notes, objects: former.filter(({ patch }) => patch.length > 0).map(plannedOf) };
  const because = edited.length > 0 ? 'what alp changed was taken back before' : 'the injectors have their former templates';
  return { skip: [because, ...notes].join('; ') };
}

/** What is put back is read before it is written: the record is no source of objects. */
function plannedOf({ live, patch }: FormerTemplate): PlannedObject {
  const fields = patch.map(({ path, value }) => ({ path: path.slice(1).replaceAll('/', '.'), before: valueIn(live, path), after: value }));
  return {
    ref: refOf(live),
    change: 'update',
    fields,
    hidden: [],
    taken: [],
    bodies: { before: live, after: applyJsonPatch(live, patch) },
  };
}

/** What is overwritten is kept before, and only the very version that was evaluated is written over. */
function restore({ live, patch, change, lost }: FormerTemplate): Action {
  const { name, namespace = '' } = live.metadata;
  const over = lost.length > 0 ? ', over what was changed since' : '';
  return {
    id: `undo-${name}`,
    title: `put the former template back into ConfigMap ${namespace}/${name}${over}`,
    ref: '§4.6/1',
    undo: 'full',
    afresh: true,
    keep: { changes: [change], undo: true },
    effect: { type: 'patch-all', what: `put back in ${refText(refOf(live))}`, patches: [patchOf(live, patch)] },
  };
}

/** Injectors in which something was changed since that the former template would overwrite. */
export function changedSince({ former }: WayBack): readonly Evidence[] {
  return former.flatMap(({ live, lost }) => (lost.length > 0 ? [{ text: refText(refOf(live)), detail: lost.join('; ') }] : []));
}

/** How pods mount the policy socket once the former templates are back; the driver of those that stay is no matter of this command. */
export function formerMounts({ former }: WayBack, context: Context): TemplateMounts {
  const back = former.filter(({ patch }) => patch.length > 0);
  const templates = back.map(({ live, data }) => ({ text: refText(refOf(live)), from: 'its former template', data }));
  return { csi: [], flexible: flexiblyMounted(templates, context) };
}

/** An injector with what it was before `alp`, as far as that can be had without losing what was changed since. */
interface FormerTemplate {
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
  const former = places.map((one) => ({ place: one.place, ...formerOf(one, live) }));
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

interface Former {
  /** Undefined: it was not there. */
  readonly value: string | undefined;
  readonly lost?: string;
}

/** Of several changes of one place the last is taken back first. What somebody put there between two of them is kept, merged if it can be. */
function formerOf(last: ChangedPlace, live: KubeObject): Former {
  const { value, ...rest } = formerValue(last, valueIn(live, last.place) as string | undefined);
  return { value: beforeEarlier(last, value), ...rest };
}

function beforeEarlier({ earlier }: ChangedPlace, now: string | undefined): string | undefined {
  if (!earlier || isUndone(earlier)) return now;
  const { value, lost } = formerValue(earlier, now);
  return lost === undefined ? beforeEarlier(earlier, value) : now;
}

/** Labels and annotations are put back if they are as the template set them, and stay otherwise. */
function formerValue(one: ChangedPlace, now: string | undefined): Former {
  const [before, put] = [one.before, one.after] as readonly (string | undefined)[];
  const state = standingOf(one, now);
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
