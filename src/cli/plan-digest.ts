import { createHash } from 'node:crypto';
import type { Effect } from '../core/action.ts';
import type { Context } from '../core/context.ts';
import type { PlannedObject, PlannedStage } from '../core/plan.ts';

/**
 * sha256 over what a plan does: equal for the same cluster state and the same artifacts, whenever and wherever it is made.
 * Left out is what differs between two runs without meaning: the work folder, the name of the backup, resourceVersions.
 */
export function planDigest(context: Context, stages: readonly PlannedStage[]): string {
  const essence = {
    cluster: context.clusterUid,
    release: context.options.release,
    stages: stages.map((stage) => ({
      id: stage.id,
      skipped: stage.skip !== undefined,
      actions: stage.actions.map((action) => ({ id: action.id, effect: effectEssence(action.effect) })),
      objects: stage.objects.map(objectEssence),
    })),
  };
  const text = JSON.stringify(essence).replaceAll(JSON.stringify(context.workFolder).slice(1, -1), '');
  return createHash('sha256').update(text).digest('hex');
}

function effectEssence(effect: Effect): unknown {
  switch (effect.type) {
    case 'backup':
      return { type: effect.type, files: effect.files.map((file) => file.name) };
    case 'patch': {
      const { target, precondition, patch } = effect;
      const ops = patch.filter((op) => op.path !== '/metadata/resourceVersion');
      return { type: effect.type, target, uid: precondition.uid, ops };
    }
    default:
      return effect;
  }
}

function objectEssence({ ref, change, fields, hidden, taken }: PlannedObject): unknown {
  return { apiVersion: ref.apiVersion, kind: ref.kind, namespace: ref.namespace, name: ref.name, change, fields, hidden, taken };
}
