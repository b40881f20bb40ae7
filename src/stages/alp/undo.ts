import type { Action } from '../../core/action.ts';
import { K } from '../../core/kinds.ts';
import { apiVersionOf, type KubeObject } from '../../core/object.ts';
import type { StagePlan } from '../../core/stage.ts';
import { sameValue } from '../../merge/json.ts';
import type { AlpFacts } from './facts.ts';

/** Former templates come back from what was kept; restarted pods get the former sidecar at their next restart. */
export function undoPlan({ injectors, kept }: AlpFacts): StagePlan {
  const maps = kept.map(({ content }) => (content as { readonly map?: KubeObject }).map).filter((map) => map !== undefined);
  if (maps.length === 0) return { skip: 'no change of an injector was recorded on this cluster' };
  const byName = new Map(injectors.map(({ map }) => [map.metadata.name, map]));
  // Of several changes in one run the last is taken back.
  const former = new Map(maps.map((map) => [map.metadata.name, map]));
  const actions = [...former.values()].flatMap((old): readonly Action[] => {
    const live = byName.get(old.metadata.name);
    const { uid } = old.metadata;
    if (!live || uid === undefined || live.metadata.uid !== uid || sameValue(live.data ?? {}, old.data ?? {})) return [];
    const { name, namespace = '' } = old.metadata;
    const target = { apiVersion: apiVersionOf(K.ConfigMap), kind: 'ConfigMap', name, namespace };
    const patch = [{ op: 'replace', path: '/data', value: old.data } as const];
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
