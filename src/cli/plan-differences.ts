import { type ObjectRef, refText } from '../core/object.ts';
import type { FieldChange } from '../core/plan.ts';
import type { PlanDocument } from './documents.ts';
import type { BasisObject } from './plan-basis.ts';

type Compared = Pick<PlanDocument, 'installed' | 'stages' | 'basis'>;

/** What is not as the saved plan says, one sentence each; none if it is still what would be done. */
export function planDifferences(saved: Compared, now: Compared): readonly string[] {
  return [
    ...installedDifferences(saved, now),
    ...artifactDifferences(saved, now),
    ...objectDifferences(saved, now),
    ...actionDifferences(saved, now),
  ];
}

/**
 * The same for a run that was begun with the saved plan and cut off: what it has done already is as it should be. What is
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

function installedDifferences({ installed: then }: Compared, { installed: now }: Compared): readonly string[] {
  const names = ['release', 'path', 'variant', 'datastore'] as const;
  return names
    .filter((name) => then[name] !== now[name])
    .map((name) => `installed ${name}: ${then[name] ?? 'unknown'} → ${now[name] ?? 'unknown'}`);
}

function artifactDifferences(saved: Compared, now: Compared): readonly string[] {
  const then = saved.basis.artifacts;
  return Object.entries(now.basis.artifacts)
    .filter(([file, digest]) => Object.hasOwn(then, file) && then[file] !== digest)
    .map(([file, digest]) => `${file} is another file (sha256 ${digest.slice(0, 12)}…, was ${(then[file] ?? '').slice(0, 12)}…)`);
}

function objectDifferences(saved: Compared, now: Compared): readonly string[] {
  const [before, after] = [byKey(saved), byKey(now)];
  const gone = [...before].filter(([key]) => !after.has(key)).map(([, object]) => `${nameOf(object)} is not in the plan any more`);
  const found = [...after].flatMap(([key, object]) => {
    const then = before.get(key);
    const what = then ? whatChanged(then, object) : 'is new in the plan';
    return what === undefined ? [] : [`${nameOf(object)} ${what}${then?.change === object.change ? fieldsText(saved, now, object) : ''}`];
  });
  return [...gone, ...found];
}

/** In words; undefined if nothing has. */
function whatChanged(then: BasisObject, now: BasisObject): string | undefined {
  if (then.change === 'create' && now.change !== 'create') return 'has been made since the plan';
  if (then.change !== 'create' && now.change === 'create') return 'has vanished since the plan';
  if (then.before !== now.before) return 'has changed since the plan';
  if (then.change !== now.change) return `is planned otherwise: ${then.change} → ${now.change}`;
  return then.does === now.does ? undefined : 'is planned otherwise';
}

/** Which of its planned fields are not what they were: where they are known by name. */
function fieldsText(saved: Compared, now: Compared, object: BasisObject): string {
  const [then, is] = [fieldsOf(saved, object), fieldsOf(now, object)];
  const paths = [...new Set([...then.keys(), ...is.keys()])].filter((path) => then.get(path) !== is.get(path));
  if (paths.length === 0) return '';
  return `: ${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ` and ${paths.length - 3} more fields` : ''}`;
}

function fieldsOf({ stages }: Compared, { stage, ref }: BasisObject): ReadonlyMap<string, string> {
  const objects = stages.find(({ id }) => id === stage)?.objects ?? [];
  const found = objects.find((one) => refKey(one.ref) === refKey(ref));
  return new Map((found?.fields ?? []).map((field: FieldChange) => [field.path, JSON.stringify([field.before, field.after])]));
}

function actionDifferences(saved: Compared, now: Compared): readonly string[] {
  const of = ({ basis }: Compared) => new Map(basis.actions.map((action) => [`${action.stage}/${action.id}`, action.does]));
  const [before, after] = [of(saved), of(now)];
  return [
    ...[...before.keys()].filter((id) => !after.has(id)).map((id) => `action ${id} is not in the plan any more`),
    ...[...after].flatMap(([id, does]) => {
      if (!before.has(id)) return [`action ${id} is new in the plan`];
      return before.get(id) === does ? [] : [`action ${id} does something else`];
    }),
  ];
}

function otherCommands(saved: Compared, now: Compared): readonly string[] {
  const before = new Map(saved.basis.actions.map((action) => [`${action.stage}/${action.id}`, action.does]));
  const commands = now.basis.actions.filter(({ type }) => type === 'exec').map(({ stage, id, does }) => ({ id: `${stage}/${id}`, does }));
  return commands.filter(({ id, does }) => before.has(id) && before.get(id) !== does).map(({ id }) => `action ${id} does something else`);
}

function byKey({ basis }: Compared): ReadonlyMap<string, BasisObject> {
  return new Map(basis.objects.map((object) => [keyOf(object), object]));
}

const keyOf = ({ stage, ref }: BasisObject) => `${stage}|${refKey(ref)}`;
const refKey = ({ apiVersion, kind, namespace = '', name }: ObjectRef) => `${apiVersion}|${kind}|${namespace}|${name}`;
const nameOf = ({ ref }: BasisObject) => refText(ref);
