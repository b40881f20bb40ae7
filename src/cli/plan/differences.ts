import { counted } from '../../kernel/counted.ts';
import { refKey, refText } from '../../kernel/object.ts';
import type { FieldChange } from '../../kernel/plan.ts';
import type { BasisObject, PlanDocument } from '../documents.ts';

/** What of two plans is compared. */
export type Compared = Pick<PlanDocument, 'installed' | 'stages' | 'basis'>;

/** What is not as the saved plan says, one sentence each; none if it is still what would be done. */
export function planDifferences(saved: Compared, now: Compared): readonly string[] {
  const idle = idleStages(saved, now);
  const isOfOthers = ({ stage }: Difference) => !idle.some(({ id }) => id === stage);
  return [
    ...installedDifferences(saved, now),
    ...artifactDifferences(saved, now),
    ...idle.map(({ id, skip = '' }) => `${id} has nothing to do any more: ${skip}`),
    ...objectDifferences(saved, now).filter(isOfOthers).map(textOf),
    ...actionDifferences(saved, now).filter(isOfOthers).map(textOf),
  ];
}

interface Difference {
  readonly stage: string;
  readonly text: string;
}

const textOf = ({ text }: Difference) => text;

/** Stages that had something to do and have nothing now: said once instead of for every object. */
function idleStages(saved: Compared, now: Compared): Compared['stages'] {
  const busy = new Set(saved.stages.filter(({ skip }) => skip === undefined).map(({ id }) => id));
  return now.stages.filter(({ id, skip }) => skip !== undefined && busy.has(id));
}

function installedDifferences({ installed: then }: Compared, { installed: now }: Compared): readonly string[] {
  const names = ['release', 'path', 'variant', 'datastore'] as const;
  return names
    .filter((name) => then[name] !== now[name])
    .map((name) => `installed ${name}: ${then[name] ?? 'unknown'} → ${now[name] ?? 'unknown'}`);
}

export function artifactDifferences(saved: Compared, now: Compared): readonly string[] {
  const then = saved.basis.artifacts;
  return Object.entries(now.basis.artifacts)
    .filter(([file, digest]) => Object.hasOwn(then, file) && then[file] !== digest)
    .map(([file, digest]) => `${file} is another file (sha256 ${digest.slice(0, 12)}…, was ${(then[file] ?? '').slice(0, 12)}…)`);
}

function objectDifferences(saved: Compared, now: Compared): readonly Difference[] {
  const [before, after] = [byKey(saved), byKey(now)];
  const gone = [...before]
    .filter(([key]) => !after.has(key))
    .map(([, object]) => ({ stage: object.stage, text: `${nameOf(object)} is not in the plan any more` }));
  const found = [...after].flatMap(([key, object]) => {
    const then = before.get(key);
    const what = then ? whatChanged(then, object) : 'is new in the plan';
    const fields = then?.change === object.change ? fieldsText(saved, now, object) : '';
    return what === undefined ? [] : [{ stage: object.stage, text: `${nameOf(object)} ${what}${fields}` }];
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
export function fieldsText(saved: Compared, now: Compared, object: BasisObject): string {
  const [then, is] = [fieldsOf(saved, object), fieldsOf(now, object)];
  const paths = [...new Set([...then.keys(), ...is.keys()])].filter((path) => then.get(path) !== is.get(path));
  if (paths.length === 0) return '';
  return `: ${paths.slice(0, 3).join(', ')}${paths.length > 3 ? ` and ${counted(paths.length - 3, 'more field')}` : ''}`;
}

function fieldsOf({ stages }: Compared, { stage, ref }: BasisObject): ReadonlyMap<string, string> {
  const objects = stages.find(({ id }) => id === stage)?.objects ?? [];
  const found = objects.find((one) => refKey(one.ref) === refKey(ref));
  return new Map((found?.fields ?? []).map((field: FieldChange) => [field.path, JSON.stringify([field.before, field.after])]));
}

function actionDifferences(saved: Compared, now: Compared): readonly Difference[] {
  const of = ({ basis }: Compared) => new Map(basis.actions.map((action) => [`${action.stage}/${action.id}`, action]));
  const [before, after] = [of(saved), of(now)];
  const gone = [...before].filter(([id]) => !after.has(id));
  const found = [...after].flatMap(([id, { stage, does }]) => {
    const then = before.get(id);
    if (!then) return [{ stage, text: `action ${id} is new in the plan` }];
    return then.does === does ? [] : [{ stage, text: `action ${id} does something else` }];
  });
  return [...gone.map(([id, { stage }]) => ({ stage, text: `action ${id} is not in the plan any more` })), ...found];
}

export function byKey({ basis }: Compared): ReadonlyMap<string, BasisObject> {
  return new Map(basis.objects.map((object) => [keyOf(object), object]));
}

export const keyOf = ({ stage, ref }: BasisObject) => `${stage}|${refKey(ref)}`;
export const nameOf = ({ ref }: BasisObject) => refText(ref);
