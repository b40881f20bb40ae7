import type { Trace } from '../kernel/edit-trace.ts';
import { refText } from '../kernel/object.ts';
import type { FieldChange, PlannedHost, PlannedObject, PlannedStage } from '../kernel/plan.ts';
import { OUTCOME_WORDS } from './edit-rows.ts';
import { hintOf, isGone } from './taken-rows.ts';

/** A change of the user's that a merge met. */
export interface EditRow {
  readonly object: string;
  /** Empty for a whole object. */
  readonly field: string;
  /** In words, with the user's decision where there was one. */
  readonly outcome: string;
  readonly isOpen: boolean;
  readonly mine: string;
  readonly theirs: string;
  /** Where it was found, and who made it. */
  readonly from: string;
  readonly note: string;
}

/** A field of another manager, or without a field an object that somebody delivers and that changes. */
export interface TakenRow {
  readonly object: string;
  readonly field: string;
  /** Who is behind the field manager, and its name where that is another. */
  readonly from: string;
  /** What they will do about it, and what to do before; empty where nobody is known. */
  readonly hint: string;
}

/** A field that differs where no base tells whose wish that is. */
export interface TwoWayRow {
  readonly field: string;
  readonly live: string;
  readonly target: string;
  readonly owners: string;
}

/** An owner reference that was removed from an object, or put back. */
export interface OwnerRow {
  readonly object: string;
  readonly what: 'removed' | 'put back';
  readonly owner: string;
}

const SOURCES: Readonly<Record<Trace['source']['kind'], string>> = {
  file: 'the installed manifest',
  'last-applied': 'what kubectl applied last',
  live: 'the cluster',
};

/** Every edit of the user and what became of it, those that wait for a decision first. */
export function editRows(plans: readonly PlannedStage[]): readonly EditRow[] {
  const rows = plans.flatMap(({ edits = [] }) => edits.map(editRow));
  return [...rows.filter(({ isOpen }) => isOpen), ...rows.filter(({ isOpen }) => !isOpen)];
}

function editRow({ ref, path, outcome, decided, mine, theirs, source, note = '' }: Trace): EditRow {
  const by = source.manager === undefined ? '' : `, by ${source.manager}`;
  return {
    object: refText(ref),
    field: path,
    outcome: decided === undefined ? OUTCOME_WORDS[outcome] : `${OUTCOME_WORDS[outcome]} (decided: ${decided})`,
    isOpen: outcome === 'conflict' && decided === undefined,
    ...{ mine: valueText(mine), theirs: valueText(theirs) },
    from: `${SOURCES[source.kind]}${by}`,
    note,
  };
}

/** Fields that other managers owned and that the upgrade took over, and the objects that are delivered from elsewhere. */
export function takenRows(plans: readonly PlannedStage[]): readonly TakenRow[] {
  return plans.flatMap(({ objects }) => objects.flatMap((object) => [...fieldsOf(object), ...deliveriesOf(object)]));
}

function fieldsOf(object: PlannedObject): readonly TakenRow[] {
  const { ref, taken, takers = [] } = object;
  return taken.map(({ path, manager, subresource }) => {
    const taker = takers.find((one) => one.manager === manager && one.subresource === subresource);
    const from = taker === undefined || taker.name === manager ? manager : `${taker.name} (${manager})`;
    return { object: refText(ref), field: path, from, hint: taker ? hintOf(taker, isGone(object, path)) : '' };
  });
}

function deliveriesOf({ ref, takers = [] }: PlannedObject): readonly TakenRow[] {
  return takers.flatMap(({ name, fields, hint }) => (fields === 0 ? [{ object: refText(ref), field: '', from: name, hint }] : []));
}

/** What is installed against the target, where it was accepted without a base. */
export function twoWayRows(plans: readonly PlannedStage[]): readonly TwoWayRow[] {
  return plans.flatMap(({ twoWay = [] }) =>
    twoWay.map(({ ref, path, live, target, owners }) => ({
      field: `${refText(ref)} ${path}`.trim(),
      live: valueText(live),
      target: valueText(target),
      owners: owners.join(', '),
    })),
  );
}

const OWNER_FIELD = /^metadata\.ownerReferences\b/;

/** Owner references in the order in which they went and came back. */
export function ownerRows(plans: readonly PlannedStage[]): readonly OwnerRow[] {
  return plans.flatMap(({ id, objects }) =>
    id.startsWith('ownerrefs-') ? objects.flatMap(({ ref, fields }) => fields.flatMap((field) => ownerRow(refText(ref), field))) : [],
  );
}

function ownerRow(object: string, { path, before, after }: FieldChange): readonly OwnerRow[] {
  if (!OWNER_FIELD.test(path)) return [];
  if (after === undefined) return [{ object, what: 'removed', owner: ownerText(before) }];
  return [{ object, what: 'put back', owner: ownerText(after) }];
}

/** A reference, which is text in a report that was kept: `IPPool/blue, now of UID 5f1c`. */
function ownerText(value: unknown): string {
  const { kind, name, uid } = referenceOf(value);
  return typeof kind === 'string' && typeof name === 'string' ? `${kind}/${name}, now of UID ${uid}` : valueText(value);
}

function referenceOf(value: unknown): { readonly kind?: unknown; readonly name?: unknown; readonly uid?: unknown } {
  try {
    const read: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}

const WORST: readonly PlannedHost['verdict'][] = ['OPEN', 'NEWLY POLICED', 'CHANGED', 'same'];

/** Each node's verdict when it was first evaluated, the worst first: after its migration it no longer differs. */
export function hostRows(plans: readonly PlannedStage[]): readonly PlannedHost[] {
  const first = new Map<string, PlannedHost>();
  for (const host of plans.flatMap(({ hosts = [] }) => hosts)) if (!first.has(host.node)) first.set(host.node, host);
  return WORST.flatMap((verdict) => [...first.values()].filter((host) => host.verdict === verdict));
}

/** `1 OPEN, 4998 same`. */
export function hostTally(hosts: readonly PlannedHost[]): string {
  return WORST.map((verdict) => [hosts.filter((one) => one.verdict === verdict).length, verdict] as const)
    .filter(([count]) => count > 0)
    .map(([count, verdict]) => `${count} ${verdict}`)
    .join(', ');
}

export function valueText(value: unknown): string {
  if (value === undefined) return '–';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
