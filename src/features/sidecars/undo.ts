import type { Action } from '../../kernel/action.ts';
import type { Evidence, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { refOf, refText } from '../../kernel/object.ts';
import { patchOf } from '../../kernel/object-change.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import type { TemplateMounts } from './checks.ts';
import type { FormerTemplate } from './former-template.ts';
import { flexiblyMounted } from './mounts.ts';

/** What the undo finds. */
export interface WayBack {
  /** Injectors whose former template is kept, and of which no undo is known to have put it back. */
  readonly former: readonly FormerTemplate[];
  /** Names of those that somebody changed since the former template was put back. */
  readonly edited: readonly string[];
  /** Names of those that are no more. */
  readonly gone: readonly string[];
  /** Names of those whose former template another machine kept. */
  readonly elsewhere: readonly string[];
  /** False: no change of an injector was ever kept. */
  readonly recorded: boolean;
}

/** Former templates come back from what was kept; restarted pods get the former sidecar at their next restart. */
export function undoPlan({ wayBack }: { readonly wayBack: Reading<WayBack> }): StagePlan {
  if ('unread' in wayBack) return { skip: `the injectors could not be read: ${wayBack.unread}` };
  const { former, edited, gone, recorded } = wayBack.value;
  if (!recorded) return { skip: 'no change of an injector was recorded on this cluster' };
  const actions = former.filter(({ patch }) => patch.length > 0).map(restore);
  const notes = [...edited.map((name) => `${name} was changed since, and stays so`), ...gone.map((name) => `${name} is no longer there`)];
  if (actions.length > 0) return { actions, notes };
  const because = edited.length > 0 ? 'what alp changed was taken back before' : 'the injectors have their former templates';
  return { skip: [because, ...notes].join('; ') };
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
    effect: patchOf(live, patch),
  };
}

/** Injectors in which something was changed since that the former template would overwrite. */
export function changedSince({ former }: WayBack): readonly Evidence[] {
  return former.flatMap(({ live, lost }) => (lost.length > 0 ? [{ text: refText(refOf(live)), detail: lost.join('; ') }] : []));
}

/** Injectors that would get what another machine kept. */
export function fromElsewhere({ former, elsewhere }: WayBack): readonly Evidence[] {
  return former.flatMap(({ live, patch }) => {
    const text = refText(refOf(live));
    if (patch.length === 0 || !elsewhere.includes(text)) return [];
    return [{ text, object: refOf(live), detail: `would be changed at ${patch.map(({ path }) => path).join(', ')}` }];
  });
}

/** How pods mount the policy socket once the former templates are back; the driver of those that stay is no matter of this command. */
export function formerMounts({ former }: WayBack, context: Context): TemplateMounts {
  const back = former.filter(({ patch }) => patch.length > 0);
  return {
    csi: [],
    flexible: flexiblyMounted(
      back.map(({ live, data }) => ({ text: refText(refOf(live)), from: 'its former template', data })),
      context,
    ),
  };
}
