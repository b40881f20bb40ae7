import type { Edit } from '../kernel/edit.ts';
import { mapAt, parsedJson } from '../kernel/json.ts';
import { refText } from '../kernel/object.ts';
import type { FieldChange, PlannedHost, PlannedObject, PlannedStage, TwoWayField } from '../kernel/plan.ts';
import { plainText, type Said } from '../kernel/step.ts';
import type { Row, Section, TableSection } from './model.ts';
import { hintOf, isFieldGone, OUTCOME_WORDS } from './plan-rows.ts';

/** What of things of others was met: their edits, their fields, their owner references, their hosts. */
export function movedSections(plans: readonly PlannedStage[]): readonly (Section | undefined)[] {
  return [editsSection(plans), twoWaySection(plans), takenSection(plans), ownersSection(plans), hostsSection(plans)];
}

type Headed = Pick<TableSection, 'id' | 'name' | 'title' | 'lead'>;

function section(of: Headed, head: readonly string[], rows: readonly Row[], minor?: { title: string; only: 'names' }): Section | undefined {
  if (rows.length === 0) return undefined;
  return { ...of, kind: 'table', table: { label: of.title, head, rows, unfolded: 20, minor } };
}

/** What the user changed and what became of it (docs/reference/merge.md), what waits for a decision first. */
function editsSection(plans: readonly PlannedStage[]): Section | undefined {
  const edits = plans.flatMap(({ edits = [] }) => edits);
  const rows = [...edits.filter(isOpen), ...edits.filter((edit) => !isOpen(edit))].map(editRow);
  const head = ['Object, field', 'What became of it', 'Yours', 'The target’s', 'Found in'];
  const of = { id: 'edits', name: 'Edits', title: 'Your changes, carried into the target' };
  return section(of, head, rows);
}

const SOURCES: Readonly<Record<Edit['source']['kind'], string>> = {
  file: 'the installed manifest',
  'last-applied': 'what kubectl applied last',
  live: 'the cluster',
};

function isOpen({ outcome, decided }: Edit): boolean {
  return outcome === 'conflict' && decided === undefined;
}

function editRow(edit: Edit): Row {
  const { ref, path, outcome, decided, mine, theirs, source, note } = edit;
  const name = `${refText(ref)} ${path}`.trim();
  const became = decided === undefined ? OUTCOME_WORDS[outcome] : `${OUTCOME_WORDS[outcome]} (decided: ${decided})`;
  const [own, released] = [valueText(mine), valueText(theirs)];
  const from = `${SOURCES[source.kind]}${source.manager === undefined ? '' : `, by ${source.manager}`}`;
  const what = { text: became, tone: isOpen(edit) ? 'o-error' : 'o-ok', small: note || undefined };
  return { cells: [{ text: name }, what, { code: own }, { code: released }, { text: from }] };
}

/** What was accepted where no base tells the user's edits from the release. */
function twoWaySection(plans: readonly PlannedStage[]): Section | undefined {
  const rows = plans.flatMap(({ twoWay = [] }) => twoWay.map(twoWayRow));
  const head = ['Object, field', 'Installed', 'Target', 'Field managers'];
  return section({ id: 'two-way', name: 'Differences', title: 'Differences that no base explains' }, head, rows);
}

function twoWayRow({ ref, path, live, target, owners }: TwoWayField): Row {
  const name = `${refText(ref)} ${path}`.trim();
  const [installed, released, managers] = [valueText(live), valueText(target), owners.join(', ')];
  return { cells: [{ text: name }, { code: installed }, { code: released }, { text: managers }] };
}

/** Fields that other managers owned and that the upgrade took over, and the objects that are delivered from elsewhere. */
function takenSection(plans: readonly PlannedStage[]): Section | undefined {
  const rows = plans.flatMap(({ objects }) => objects.flatMap((object) => [...fieldRows(object), ...deliveryRows(object)]));
  const head = ['Object', 'Field', 'Was of', 'What follows'];
  return section({ id: 'taken', name: 'Ownership', title: 'Ownership taken over' }, head, rows);
}

function fieldRows(object: PlannedObject): readonly Row[] {
  const { ref, taken, takers = [] } = object;
  return taken.map(({ path, manager, subresource }) => {
    const taker = takers.find((one) => one.manager === manager && one.subresource === subresource);
    const from = taker === undefined || taker.name === manager ? manager : `${taker.name} (${manager})`;
    return takenRow(refText(ref), path, from, taker ? hintOf(taker, isFieldGone(object, path)) : '');
  });
}

function deliveryRows({ ref, takers = [] }: PlannedObject): readonly Row[] {
  return takers.flatMap(({ name, fields, hint }) => (fields === 0 ? [takenRow(refText(ref), '', name, hint)] : []));
}

function takenRow(object: string, field: string, from: string, hint: Said): Row {
  return { cells: [{ text: object }, { code: field }, { text: from }, { text: plainText(hint) }] };
}

const OWNER_FIELD = /^metadata\.ownerReferences\b/;

/** Owner references in the order in which they went and came back. */
function ownersSection(plans: readonly PlannedStage[]): Section | undefined {
  const objects = plans.flatMap((plan) => plan.objects);
  const rows = objects.flatMap(({ ref, fields }) =>
    fields.filter(({ path }) => OWNER_FIELD.test(path)).map((field) => ownerRow(refText(ref), field)),
  );
  const of = { id: 'owners', name: 'Owner references', title: 'Owner references moved' };
  return section(of, ['Object', 'What', 'Owner'], rows);
}

function ownerRow(object: string, { before, after }: FieldChange): Row {
  const [what, owner] = after === undefined ? ['removed', ownerText(before)] : ['put back', ownerText(after)];
  return { cells: [{ text: object }, { text: what }, { text: owner }] };
}

/** A reference, which is text in a report that was kept: `IPPool/blue, now of UID 5f1c`. */
function ownerText(value: unknown): string {
  const { kind, name, uid } = mapAt(typeof value === 'string' ? parsedJson(value) : value);
  return typeof kind === 'string' && typeof name === 'string' ? `${kind}/${name}, now of UID ${uid}` : valueText(value);
}

/** The worst first. */
const TONES: Readonly<Record<PlannedHost['verdict'], string>> = {
  OPEN: 'o-error',
  'NEWLY POLICED': 'o-warning',
  CHANGED: 'o-warning',
  same: 'o-ok',
};

/**
 * Each node's verdict when it was first evaluated: after its migration it no longer differs. Hosts whose traffic is evaluated otherwise have a
 * row, the others their name.
 */
function hostsSection(plans: readonly PlannedStage[]): Section | undefined {
  const all = plans.flatMap(({ hosts = [] }) => hosts);
  const first = [...Map.groupBy(all, ({ node }) => node).values()].flatMap(([host]) => host ?? []);
  const groups = Object.keys(TONES).map((verdict) => [verdict, first.filter((host) => host.verdict === verdict)] as const);
  const tally = groups.flatMap(([verdict, { length }]) => (length > 0 ? [`${length} ${verdict}`] : []));
  const rows = groups.flatMap(([, hosts]) => hosts).map(hostRow);
  const of = {
    id: 'hosts',
    name: 'Hosts',
    title: 'Host endpoints, node by node',
    lead: tally.join(', '),
  };
  const minor = { title: `${rows.filter(({ isMinor }) => isMinor).length} where nothing changes`, only: 'names' as const };
  return section(of, ['Node', 'Verdict', 'When, and what applies before and after'], rows, minor);
}

function hostRow({ node, verdict, detail = '' }: PlannedHost): Row {
  const isMinor = verdict === 'same';
  return { cells: [{ text: node }, { text: verdict, tone: TONES[verdict] }, { text: detail }], isMinor };
}

export function valueText(value: unknown): string {
  if (value === undefined) return '–';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
