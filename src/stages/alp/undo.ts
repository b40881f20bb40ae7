import type { Action } from '../../core/action.ts';
import { K } from '../../core/kinds.ts';
import { apiVersionOf, type JsonPatchOp, type KubeObject } from '../../core/object.ts';
import type { StagePlan } from '../../core/stage.ts';
import { sameValue } from '../../merge/json.ts';
import { escapePointer } from '../../merge/json-patch.ts';
import type { AlpFacts } from './facts.ts';
import type { KeptTemplate, Marks } from './template-actions.ts';

/** Former templates come back from what was kept; restarted pods get the former sidecar at their next restart. */
export function undoPlan({ injectors, kept }: AlpFacts): StagePlan {
  const templates = kept
    .map(({ content }) => content as Partial<KeptTemplate>)
    .filter((one) => one.map !== undefined) as readonly KeptTemplate[];
  if (templates.length === 0) return { skip: 'no change of an injector was recorded on this cluster' };
  const byName = new Map(injectors.map(({ map }) => [map.metadata.name, map]));
  // Of several changes in one run the last is taken back.
  const former = new Map(templates.map((one) => [one.map.metadata.name, one]));
  const actions = [...former.values()].flatMap((one): readonly Action[] => {
    const { map: old } = one;
    const live = byName.get(old.metadata.name);
    const { uid } = old.metadata;
    if (!live || uid === undefined || live.metadata.uid !== uid) return [];
    const { name, namespace = '' } = old.metadata;
    const target = { apiVersion: apiVersionOf(K.ConfigMap), kind: 'ConfigMap', name, namespace };
    const patch = [
      ...(sameValue(live.data ?? {}, old.data ?? {}) ? [] : [{ op: 'replace', path: '/data', value: old.data } as const]),
      ...formerMarks(live, one, 'labels'),
      ...formerMarks(live, one, 'annotations'),
    ];
    if (patch.length === 0) return [];
    return [
      {
        id: `undo-${name}`,
        title: `put the former template back into ConfigMap ${namespace}/${name}`,
        ref: '§4.6/1',
        undo: 'full',
        effect: { type: 'patch', target, patch, precondition: { uid } },
      },
    ];
  });
  return actions.length > 0 ? { actions } : { skip: 'the injectors have their former templates' };
}

/** Values that the template replaced come back, and what it added goes, each where it still is as the template left it. */
function formerMarks(live: KubeObject, { map, given = {} }: KeptTemplate, what: keyof Marks): readonly JsonPatchOp[] {
  const [now, before] = [live.metadata[what] ?? {}, map.metadata[what] ?? {}];
  return Object.entries(given[what] ?? {})
    .filter(([key, value]) => now[key] === value && before[key] !== value)
    .map(([key]) => {
      const path = `/metadata/${what}/${escapePointer(key)}`;
      return before[key] === undefined ? { op: 'remove', path } : { op: 'replace', path, value: before[key] };
    });
}
