import type { Within } from '../../engine/chain-outcome.ts';
import type { Action } from '../../kernel/action.ts';
import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { firstOf } from '../../kernel/counted.ts';
import { changesSomething, type EffectTypes, type EnginePorts, typeOf } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import type { JournalStore } from '../../kernel/journal.ts';
import { type ObjectRef, refKey, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { AnyStage } from '../../kernel/stage.ts';
import { text } from '../../kernel/step.ts';
import type { PlanDocument } from '../documents.ts';
import { actionDigest } from './document.ts';
import type { SavedPlan } from './file.ts';

/** How much of what goes beyond a plan the user reads. */
const SHOWN = 10;

interface WithinParts extends Pick<EnginePorts, 'effects'> {
  readonly journal: Pick<JournalStore, 'load'>;
  /** Every stage that there is. */
  readonly chain: readonly Pick<AnyStage, 'id' | 'putsBack'>[];
}

/**
 * Holds a run to its saved plan, round by round: an object, action, command or file not in it is refused with Fault('stale') before the
 * stage acts. What was recorded as removed at confirmation may be put back.
 */
export async function withinPlan(saved: SavedPlan, context: Context, { effects, journal, chain }: WithinParts): Promise<Within> {
  const plan = planned(saved.document);
  const recorded = ((await journal.load())?.entries ?? []).map(({ object }) => object);
  // What the plan removes is recorded only once it is off.
  const removed = saved.document.basis.objects.filter(({ stage }) => chain.some(({ putsBack }) => putsBack === stage));
  const mayComeBack = new Set(
    [...recorded, ...removed.map(({ ref }) => ref)].flatMap((ref) => [refKey(ref), refKey(renamed(ref, context))]),
  );
  return (stage, { actions, objects = [] }) => {
    const beyond = chain.some(({ id, putsBack }) => id === stage && putsBack !== undefined)
      ? updatesBut(targetsIn(actions), mayComeBack)
      : [...newObjects(stage, objects, plan), ...otherActions(stage, actions, plan, (action) => heldTo(effects, context, action))];
    if (beyond.length > 0) throw beyondPlan(saved.file, stage, beyond);
  };
}

/** As the new controllers store it, if it is a policy that they rename. */
function renamed(ref: ObjectRef, { profile: { policyRenaming } }: Context): ObjectRef {
  const { prefix } = policyRenaming ?? {};
  return prefix && ref.name.startsWith(prefix) ? { ...ref, name: ref.name.slice(prefix.length) } : ref;
}

interface PlannedIn {
  readonly objects: ReadonlySet<string>;
  /** Objects that its stages patch, by stage. */
  readonly patched: ReadonlyMap<string, ReadonlySet<string>>;
  readonly actions: ReadonlyMap<string, string>;
}

function planned({ basis, stages }: PlanDocument): PlannedIn {
  return {
    patched: new Map(stages.map(({ id, actions }) => [id, new Set(targetsIn(actions).map(refKey))])),
    objects: new Set(basis.objects.filter(({ change }) => change !== 'unchanged').map(({ stage, ref }) => `${stage}|${refKey(ref)}`)),
    actions: new Map(basis.actions.map(({ stage, id, does }) => [`${stage}/${id}`, does])),
  };
}

function newObjects(stage: string, objects: readonly PlannedObject[], plan: PlannedIn): readonly string[] {
  return objects
    .filter(({ change, ref }) => isWritten(change) && !plan.objects.has(`${stage}|${refKey(ref)}`))
    .map(({ change, ref }) => `${change} ${refText(ref)}`);
}

function isWritten(change: PlannedObject['change']): boolean {
  return change === 'create' || change === 'update';
}

/** What a run is held to for an action: nothing, its presence, or its content. */
interface Held {
  readonly counts: boolean;
  readonly does?: string;
}

/** The plan fixes the content of most; a patch is written for the object as it is at that moment, and bound to it. */
function heldTo(effects: EffectTypes, context: Context, action: Action): Held {
  const counts = changesSomething(effects, action) || action.effect.type === 'write';
  return typeOf(effects, action.effect).isFixed ? { counts, does: actionDigest(effects, context, action) } : { counts };
}

function otherActions(stage: string, actions: readonly Action[], plan: PlannedIn, held: (action: Action) => Held): readonly string[] {
  return actions.flatMap((action) => {
    const { counts, does } = held(action);
    if (!counts) return [];
    const agreed = plan.actions.get(`${stage}/${action.id}`);
    if (agreed === undefined) return [action.title];
    if (does !== undefined && does !== agreed) return [`${action.title}: it is another one`];
    return updatesBut(targetsIn([action]), plan.patched.get(stage));
  });
}

const targetsIn = (actions: readonly Action[]): readonly ObjectRef[] =>
  actions.flatMap(({ effect }) => (effect.type === 'patch-all' ? effect.patches.map(({ target }) => target) : []));

/** Objects that would be patched, and are none of these. */
function updatesBut(targets: readonly ObjectRef[], known: ReadonlySet<string> = new Set()): readonly string[] {
  return targets.filter((one) => !known.has(refKey(one))).map((one) => `update ${refText(one)}`);
}

function beyondPlan(file: string, stage: string, beyond: readonly string[]): Fault {
  return new Fault('stale', `${stage} would do what ${file} does not hold, so it did nothing:\n  ${firstOf(beyond, SHOWN, '\n  ')}`, [
    text`make a plan of what is left: ${command`kubectl netsvc-upgrade plan --out ${file === 'plan.json' ? 'new-plan.json' : 'plan.json'}`}`,
    'read it, then run it',
  ]);
}
