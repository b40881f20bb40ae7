import type { BasisObject } from './basis.ts';
import { artifactDifferences, byKey, type Compared, fieldsText, keyOf, nameOf } from './differences.ts';

/**
 * The differences for a run that was begun with the saved plan and interrupted: what it has done already is as it should be. What is
 * left is planned from where the run stands, so that patches differ; the plan's commands are still the same.
 */
export function differencesSince(saved: Compared, now: Compared): readonly string[] {
  const before = byKey(saved);
  const objects = now.basis.objects.filter(hasState).flatMap((object) => {
    const then = before.get(keyOf(object));
    if (!then) return [`${nameOf(object)} is not in the plan`];
    return isOwnDoing(then, object)
      ? []
      : [`${nameOf(object)} has changed since the plan, and not as planned${fieldsText(saved, now, object)}`];
  });
  return [...artifactDifferences(saved, now), ...objects, ...otherCommands(saved, now)];
}

/** Untouched so far, as planned, or in no need of anything. */
function isOwnDoing(then: BasisObject, now: BasisObject): boolean {
  if (now.before === then.before) return now.change === then.change || now.change === 'unchanged';
  return now.change === 'unchanged' || (now.before !== undefined && now.before === then.after);
}

const hasState = ({ before, after }: BasisObject) => before !== undefined || after !== undefined;

function otherCommands(saved: Compared, now: Compared): readonly string[] {
  const before = new Map(saved.basis.actions.map((action) => [`${action.stage}/${action.id}`, action.does]));
  const commands = now.basis.actions.filter(({ type }) => type === 'exec').map(({ stage, id, does }) => ({ id: `${stage}/${id}`, does }));
  return commands.filter(({ id, does }) => before.has(id) && before.get(id) !== does).map(({ id }) => `action ${id} does something else`);
}
