import { createHash } from 'node:crypto';
import type { Action, Effect } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { JsonPatchOp, ManagedFieldsEntry } from '../../kernel/object.ts';
import type { PlannedObject, PlannedStage } from '../../kernel/plan.ts';

/**
 * sha256 over what a plan does: equal for the same cluster state and the same artifacts, whenever and wherever it is made.
 * Left out is what differs between two runs without meaning: the work folder, the name of the backup, resourceVersions,
 * limits of waits.
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
  return digestOf(essence, context);
}

/** sha256 of what one action does, by the same rules. */
export function actionDigest(context: Context, { effect }: Pick<Action, 'effect'>): string {
  return digestOf(effectEssence(effect), context);
}

/** The same of one object: what the plan does to it. */
export function objectDigest(context: Context, object: PlannedObject): string {
  return digestOf(objectEssence(object), context);
}

function digestOf(essence: unknown, { workFolder }: Context): string {
  const text = JSON.stringify(essence).replaceAll(JSON.stringify(workFolder).slice(1, -1), '');
  return createHash('sha256').update(text).digest('hex');
}

function effectEssence(effect: Effect): unknown {
  switch (effect.type) {
    case 'backup':
      return { type: effect.type, files: effect.files.map((file) => file.name) };
    case 'patch': {
      const { target, precondition, patch } = effect;
      const shown = target.kind === 'Secret' ? patch.map((op) => ({ ...op, value: undefined })) : patch;
      const ops = shown.filter((op) => op.path !== '/metadata/resourceVersion').map(withoutTimes);
      return { type: effect.type, target, uid: precondition.uid, ops };
    }
    // What it looks at right before is a guard, with resourceVersions in it.
    case 'exec':
      return { ...effect, onlyIf: undefined };
    // Its limit follows the number of nodes, which come and go.
    case 'wait':
      return { type: effect.type, until: effect.until };
    // Names of copies carry the time of the run.
    case 'install-cli':
    case 'remove-file':
      return { ...effect, keepAs: undefined };
    default:
      return effect;
  }
}

/** Controllers renew their entries in managedFields with every status they write. */
function withoutTimes(op: JsonPatchOp): JsonPatchOp {
  if (op.path !== '/metadata/managedFields' || !Array.isArray(op.value)) return op;
  const entries = (op.value as readonly ManagedFieldsEntry[]).filter(({ subresource }) => subresource === undefined);
  return { ...op, value: entries.map((entry) => ({ ...entry, time: undefined })) };
}

function objectEssence({ ref, change, fields, hidden, taken }: PlannedObject): unknown {
  return { apiVersion: ref.apiVersion, kind: ref.kind, namespace: ref.namespace, name: ref.name, change, fields, hidden, taken };
}
