import type { Context } from '../../kernel/context.ts';
import { areTexts, isRecord, isText, jsonAt, mapAt, pointerSteps, pointerTo, textAt } from '../../kernel/json.ts';
import type { KubeObject, ObjectChange } from '../../kernel/object.ts';
import { type ChangedPlace, changedPlaces, changeTo, isUndone, type KeptChange, keptChanges, runOf } from '../../kernel/object-change.ts';
import type { Records } from '../../kernel/run-record.ts';

/** What switches automatic endpoints on, in the controllers' configuration. */
export const SWITCH_FIELD = 'spec.controllers.node.hostEndpoint.autoCreate';
const SWITCH = pointerTo(...SWITCH_FIELD.split('.'));
const LABEL = /^\/metadata\/labels\/[^/]+$/;

/**
 * What the latest migration kept in all its runs, as an interrupted one continues under a new record. It starts at the latest run that
 * enabled, with runs before it that only set labels; if none enabled, all count.
 */
export async function keptOfMigration(records: Pick<Records, 'keptWith'>): Promise<readonly KeptChange[]> {
  const runs = [...Map.groupBy(await keptChanges(records, 'hep', isOfMigration), runOf).values()];
  const enabled = runs.findLastIndex((changes) => changes.some(isEnabling));
  let from = Math.max(enabled, 0);
  while (runs[from - 1]?.every(isOfNode)) from -= 1;
  return runs.slice(from).flat();
}

/** Labels of nodes, whole host endpoints, and the switch of automatic ones: nothing else is believed of a record. */
function isOfMigration({ ref: { kind, name }, before, after, isUndo }: KeptChange): boolean {
  const isOwn = ([place, value]: readonly [string, unknown]) => {
    if (kind === 'HostEndpoint') return place === '' && isEndpoint(value) && textAt(value, 'metadata', 'name') === name;
    return isText(value) && (kind === 'Node' ? LABEL.test(place) : place === SWITCH);
  };
  const isWhole = kind !== 'HostEndpoint' || isUndo || before[''] !== undefined;
  return isWhole && [...Object.entries(before), ...Object.entries(after)].every(isOwn);
}

const isMap = (value: unknown): boolean => value === undefined || (isRecord(value) && Object.values(value).every(isText));

function isEndpoint(value: unknown): boolean {
  const { node = '', interfaceName = '', expectedIPs, profiles } = mapAt(value, 'spec');
  const marks = ['labels', 'annotations'].every((what) => isMap(jsonAt(value, 'metadata', what)));
  return (
    textAt(value, 'kind') === 'HostEndpoint' &&
    marks &&
    [node, interfaceName].every(isText) &&
    [expectedIPs, profiles].every((value) => value === undefined || areTexts(value))
  );
}

const isOfNode = ({ ref }: KeptChange) => ref.kind === 'Node';
const isOfEndpoint = ({ ref }: KeptChange) => ref.kind === 'HostEndpoint';
const isSwitch = ({ after }: KeptChange) => after[SWITCH] !== undefined;
const isEnabling = (one: KeptChange) => isSwitch(one) && !one.isUndo;
const isDone = ({ outcome }: KeptChange) => outcome?.done === true;

/** What switching automatic endpoints on or off changes. */
export function switchTo(value: 'Enabled' | 'Disabled', live: KubeObject | undefined, { profile }: Context): ObjectChange {
  const { kind, name } = profile.controllersConfiguration;
  return changeTo({ ...live, apiVersion: `${profile.apiGroup}/v3`, kind, metadata: { name } }, { [SWITCH]: value });
}

/** The switch before the migration, unless the undo has disabled automatic endpoints: whoever enabled them since wants them. */
export function keptSwitch(kept: readonly KeptChange[]): ChangedPlace | undefined {
  return changedPlaces(kept).find((one) => one.place === SWITCH && !isUndone(one));
}

/** A label that the migration put on a node. */
export interface AddedLabel {
  readonly uid: string | undefined;
  readonly key: string;
  readonly place: ChangedPlace;
  /** That migration enabled automatic endpoints, which were disabled. */
  readonly hasSwitched: boolean;
}

/** Every label that was put on a node and that no undo is known to have removed: a later one is somebody else's. */
export function keptLabels(kept: readonly KeptChange[]): readonly AddedLabel[] {
  const switched = new Set(betweenSwitches(kept).flatMap((changes) => (changes.some(isFromOff) ? changes : [])));
  const labels = changedPlaces(kept).filter((one) => isOfNode(one.kept) && !isUndone(one));
  return labels.map((place) => {
    const key = pointerSteps(place.place).at(-1) ?? '';
    return { uid: place.ref.uid, key, place, hasSwitched: switched.has(place.kept) };
  });
}

const isFromOff = (one: KeptChange) => isEnabling(one) && wasOff(one.before[SWITCH]);

export const wasOff = (before: unknown): boolean => String(before).toLowerCase() !== 'enabled';

/** Parted where the undo has switched automatic endpoints off. */
function betweenSwitches(kept: readonly KeptChange[]): readonly (readonly KeptChange[])[] {
  const parts: KeptChange[][] = [[]];
  for (const one of kept) {
    parts.at(-1)?.push(one);
    if (isSwitch(one) && one.isUndo && isDone(one)) parts.push([]);
  }
  return parts;
}

/**
 * Who removed an old endpoint: the migration, or somebody else before its turn or after it was put back. `untold`: the program was killed
 * between its notes before and after the deletion, or wrote none.
 */
export type Remover = 'migration' | 'other' | 'untold';

/** An old endpoint as it was last kept. */
export interface KeptEndpoint {
  readonly endpoint: KubeObject;
  readonly remover: Remover;
  readonly kept: KeptChange;
}

/** Every old endpoint that the migration was about to delete, by name; what happened last counts. */
export function keptEndpoints(all: readonly KeptChange[]): ReadonlyMap<string, KeptEndpoint> {
  const found = new Map<string, KeptEndpoint>();
  for (const kept of all.filter(isOfEndpoint)) {
    const { name } = kept.ref;
    const earlier = found.get(name);
    if (!kept.isUndo) {
      const endpoint = kept.before[''] as KubeObject;
      const remover = removerOf(kept);
      // A killed program's request may have arrived after the next program looked: nobody knows who was first.
      const isOld = remover === 'other' && earlier?.remover === 'untold' && earlier.endpoint.metadata.uid === endpoint.metadata.uid;
      found.set(name, { endpoint, kept, remover: isOld ? 'untold' : remover });
    } else if (earlier && isDone(kept)) found.set(name, { ...earlier, remover: 'other' });
  }
  return found;
}

/**
 * Old endpoints that this command deleted, for the verdicts at its end; those of an earlier one too, while that one did not come to its end
 * (`isUnended`). What is there again is not among them.
 */
export function removedLately({ kept, stored }: Lately, startedAt: Date, isUnended: boolean): readonly KubeObject[] {
  const there = new Set(stored.map(({ metadata }) => metadata.name));
  const earlier = isUnended ? kept.findLast(({ since }) => since !== undefined)?.since : undefined;
  const lately = kept.filter(({ since }) => since !== undefined && (since === startedAt.toISOString() || since === earlier));
  return lately.filter((one) => !there.has(one.ref.name) && removerOf(one) !== 'other').map(({ before }) => before[''] as KubeObject);
}

interface Lately {
  readonly kept: readonly KeptChange[];
  readonly stored: readonly KubeObject[];
}

function removerOf({ ref, outcome }: KeptChange): Remover {
  if (!outcome) return 'untold';
  return outcome.done && !outcome.except?.includes(ref.name) ? 'migration' : 'other';
}

/** True once the migration has removed an old endpoint since it enabled automatic ones, or an earlier one was undone. */
export function hasRemoved(kept: readonly KeptChange[]): boolean {
  const begun = kept.findLastIndex((one) => isEnabling(one) || (one.isUndo && isDone(one) && !isOfEndpoint(one)));
  return kept.slice(begun + 1).some((one) => isOfEndpoint(one) && !one.isUndo && removerOf(one) === 'migration');
}
