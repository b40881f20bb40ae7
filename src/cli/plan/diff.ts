import type { Action } from '../../kernel/action.ts';
import type { Invocation } from '../../kernel/argv.ts';
import { changesSomething, type EffectTypes } from '../../kernel/effect-type.ts';
import { type ObjectRef, refKey, refText } from '../../kernel/object.ts';
import type { PlannedObject, PlannedStage } from '../../kernel/plan.ts';
import { plainText } from '../../kernel/step.ts';
import { oneLine } from '../../kernel/visible.ts';
import { objectTexts } from '../../manifest/object-text.ts';
import type { Palette } from '../../report/colour.ts';
import { unifiedLines } from '../../report/line-diff.ts';
import { inNamespace, type PlanView, someStepLines } from '../../report/plan-view.ts';

/** One unified diff per object that changes, then the steps of which no object is known; nothing of what is not changed. */
export function planDiffLines(stages: readonly PlannedStage[], effects: EffectTypes, view: PlanView): readonly string[] {
  const objects = stages.flatMap((stage) => stage.objects).filter(({ ref }) => inNamespace(ref, view));
  const steps = someStepLines(stages, view, isOnlyCommand(stages, effects));
  return [
    ...stages.flatMap(({ id, notes }) => notes.map((note) => view.palette.dim(`# ${id}: ${plainText(note)}`))),
    ...objects.flatMap((object) => objectLines(object, view.palette)),
    ...(steps.length > 0 ? ['', 'Known as commands only, without a diff:', ...steps, ''] : []),
  ];
}

function objectLines(object: PlannedObject, palette: Palette): readonly string[] {
  const { change, bodies, note, ref } = object;
  if (change === 'unchanged' || change === 'left-behind') return [];
  const notes = note === undefined ? [] : [palette.dim(`# ${refText(ref)}: ${plainText(note)}`)];
  if (!bodies) return change === 'refused' ? notes : [`# ${refText(ref)}: ${change}, of which only the command is known`];
  const { before, after } = objectTexts(bodies);
  const [from, to] = [fileName(bodies.isOfRelease ? 'release' : 'live', ref, before), fileName('planned', ref, after)];
  const lines = unifiedLines(linesOf(before), linesOf(after));
  if (lines.length === 0) return notes;
  const head = [`diff -u -N ${from} ${to}`, `--- ${from}`, `+++ ${to}`];
  // A line ends where YAML ends it; other control characters are made visible before colours are added.
  return [...notes, ...head.map(palette.strong), ...lines.map((line) => painted(oneLine(line), palette))];
}

function fileName(side: string, ref: ObjectRef, text: string | undefined): string {
  return text === undefined ? '/dev/null' : `${side}/${refText(ref)}`;
}

function linesOf(text = ''): readonly string[] {
  return text.split('\n').slice(0, -1);
}

function painted(line: string, { good, bad, place }: Palette): string {
  const [sign] = line;
  if (sign === '+') return good(line);
  if (sign === '-') return bad(line);
  return sign === '@' ? place(line) : line;
}

/** An object of which a diff is printed. */
const isDiffed = ({ change, bodies }: PlannedObject): boolean => bodies !== undefined && (change === 'create' || change === 'update');

/** What the texts of objects leave out. */
const UNSEEN = /^\/metadata\/(?:managedFields|resourceVersion|annotations\/meta\.helm\.sh)/;

const isUnseen = (patch: readonly { readonly op: string; readonly path: string }[]): boolean =>
  patch.every(({ op, path }) => op === 'test' || UNSEEN.test(path));

/** A step that writes and is in no diff above: deletions, patches of other objects or fields, and commands of stages without objects. */
function isOnlyCommand(stages: readonly PlannedStage[], effects: EffectTypes): (action: Action) => boolean {
  const shown = new Set(stages.flatMap(({ objects }) => objects.filter(isDiffed).map(({ ref }) => refKey(ref))));
  const told = new Set(stages.filter(({ objects }) => objects.some(isDiffed)).flatMap(({ actions }) => actions));
  return (action) => {
    const { effect } = action;
    if (!changesSomething(effects, action)) return false;
    if (effect.type === 'patch-all')
      return effect.patches.length === 0 || !effect.patches.every(({ target, patch }) => shown.has(refKey(target)) && !isUnseen(patch));
    return effect.type !== 'exec' || !told.has(action) || !appliesObjects(effect.run);
  };
}

/** The objects of a stage are what its applies, or its chart tool, write. */
function appliesObjects({ tool, args }: Invocation): boolean {
  return tool === 'helm' || args.includes('apply');
}
