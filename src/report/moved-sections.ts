import type { Trace } from '../kernel/edit-trace.ts';
import { mapAt, parsedJson } from '../kernel/json.ts';
import { refText } from '../kernel/object.ts';
import type { FieldChange, PlannedHost, PlannedObject, PlannedStage } from '../kernel/plan.ts';
import type { Row, Section, TestCase } from './model.ts';
import { hintOf, isGone, OUTCOME_WORDS } from './plan-rows.ts';

/** What of things of others was met: their edits, their fields, their owner references, their hosts. */
export function movedSections(plans: readonly PlannedStage[]): readonly (Section | undefined)[] {
  return [editsSection(plans), twoWaySection(plans), takenSection(plans), ownersSection(plans), hostsSection(plans)];
}

/** What the user changed and what became of it (docs/reference/merge.md). An edit that waits for a decision does not pass. */
function editsSection(plans: readonly PlannedStage[]): Section | undefined {
  const rows = editRows(plans).map(({ object, field, outcome, isOpen, mine, theirs, from, note }): Row => {
    const name = `${object} ${field}`.trim();
    const lines = [outcome, `yours: ${mine}`, `target: ${theirs}`, `found in ${from}`, note].filter((line) => line !== '');
    const test = { ...passed('edits', name, lines), ...(isOpen ? { outcome: 'failed' as const, message: outcome } : {}) };
    const what = { text: outcome, tone: isOpen ? 'o-error' : 'o-ok', ...(note === '' ? {} : { small: note }) };
    return { cells: [{ text: name }, what, { code: mine }, { code: theirs }, { text: from }], test };
  });
  const head = ['Object, field', 'What became of it', 'Yours', 'The target’s', 'Found in'];
  return section({ id: 'edits', name: 'Edits', title: 'Edits carried into the target', suite: { name: 'edits' } }, head, rows);
}

/** What was accepted where no base tells the user's edits from the release. */
function twoWaySection(plans: readonly PlannedStage[]): Section | undefined {
  const rows = twoWayRows(plans).map(({ field, live, target, owners }): Row => {
    const test = passed('differences', field, [`installed: ${live}`, `target: ${target}`, `field managers: ${owners}`]);
    return { cells: [{ text: field }, { code: live }, { code: target }, { text: owners }], test };
  });
  const suite = { name: 'differences that no base explains' };
  const head = ['Object, field', 'Installed', 'Target', 'Field managers'];
  return section({ id: 'two-way', name: 'Differences', title: 'Differences that no base explains', suite }, head, rows);
}

/** Fields that were of other field managers. */
function takenSection(plans: readonly PlannedStage[]): Section | undefined {
  const rows = takenRows(plans).map(({ object, field, from, hint }): Row => {
    const test = passed('ownership', `${object} ${field}`.trim(), [`was of ${from}${hint === '' ? '' : `. ${hint}`}`]);
    return { cells: [{ text: object }, { code: field }, { text: from }, { text: hint }], test };
  });
  const head = ['Object', 'Field', 'Was of', 'What follows'];
  return section({ id: 'taken', name: 'Ownership', title: 'Ownership taken over', suite: { name: 'ownership taken over' } }, head, rows);
}

function ownersSection(plans: readonly PlannedStage[]): Section | undefined {
  const rows = ownerRows(plans).map(({ object, what, owner }): Row => {
    return { cells: [{ text: object }, { text: what }, { text: owner }], test: passed('owner references', `${object} ${owner}`, [what]) };
  });
  const of = { id: 'owners', name: 'Owner references', title: 'Owner references moved', suite: { name: 'owner references' } };
  return section(of, ['Object', 'What', 'Owner'], rows);
}

const TONES: Readonly<Record<PlannedHost['verdict'], string>> = {
  same: 'o-ok',
  OPEN: 'o-error',
  'NEWLY POLICED': 'o-warning',
  CHANGED: 'o-warning',
};

/** The hosts whose traffic is evaluated otherwise; the others by name. A check evaluates them: each passes, with its verdict. */
function hostsSection(plans: readonly PlannedStage[]): Section | undefined {
  const hosts = hostRows(plans);
  const rows = hosts.map(({ node, verdict, detail = '' }): Row => {
    const isMinor = verdict === 'same';
    const test = passed('host endpoints', node, isMinor ? [] : [`${verdict}: ${detail}`]);
    return { cells: [{ text: node }, { text: verdict, tone: TONES[verdict] }, { text: detail }], isMinor, test };
  });
  const of = {
    id: 'hosts',
    name: 'Hosts',
    title: 'Host endpoints, node by node',
    suite: { name: 'host endpoints' },
    lead: hostTally(hosts),
  };
  const minor = { title: `${rows.filter(({ isMinor }) => isMinor).length} where nothing changes`, only: 'names' as const };
  return section(of, ['Node', 'Verdict', 'When, and what applies before and after'], rows, minor);
}

const passed = (group: string, name: string, lines: readonly string[]): TestCase => ({
  ...{ group, name, outcome: 'passed', text: lines.join('\n') },
});

type Headed = Pick<Section & { readonly kind: 'table' }, 'id' | 'name' | 'title' | 'suite' | 'lead'>;

function section(of: Headed, head: readonly string[], rows: readonly Row[], minor?: { title: string; only: 'names' }): Section | undefined {
  if (rows.length === 0) return undefined;
  return { ...of, kind: 'table', table: { label: of.title, head, rows, unfolded: 20, minor } };
}

const SOURCES: Readonly<Record<Trace['source']['kind'], string>> = {
  file: 'the installed manifest',
  'last-applied': 'what kubectl applied last',
  live: 'the cluster',
};

/** Every edit of the user and what became of it, those that wait for a decision first. */
export function editRows(plans: readonly PlannedStage[]) {
  const rows = plans.flatMap(({ edits = [] }) => edits.map(editRow));
  return [...rows.filter(({ isOpen }) => isOpen), ...rows.filter(({ isOpen }) => !isOpen)];
}

function editRow({ ref, path, outcome, decided, mine, theirs, source, note = '' }: Trace) {
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
export function takenRows(plans: readonly PlannedStage[]) {
  return plans.flatMap(({ objects }) => objects.flatMap((object) => [...fieldsOf(object), ...deliveriesOf(object)]));
}

function fieldsOf(object: PlannedObject) {
  const { ref, taken, takers = [] } = object;
  return taken.map(({ path, manager, subresource }) => {
    const taker = takers.find((one) => one.manager === manager && one.subresource === subresource);
    const from = taker === undefined || taker.name === manager ? manager : `${taker.name} (${manager})`;
    return { object: refText(ref), field: path, from, hint: taker ? hintOf(taker, isGone(object, path)) : '' };
  });
}

function deliveriesOf({ ref, takers = [] }: PlannedObject) {
  return takers.flatMap(({ name, fields, hint }) => (fields === 0 ? [{ object: refText(ref), field: '', from: name, hint }] : []));
}

/** What is installed against the target, where it was accepted without a base. */
export function twoWayRows(plans: readonly PlannedStage[]) {
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
export function ownerRows(plans: readonly PlannedStage[]) {
  return plans.flatMap(({ id, objects }) =>
    id.startsWith('ownerrefs-') ? objects.flatMap(({ ref, fields }) => fields.flatMap((field) => ownerRow(refText(ref), field))) : [],
  );
}

function ownerRow(object: string, { path, before, after }: FieldChange) {
  if (!OWNER_FIELD.test(path)) return [];
  if (after === undefined) return [{ object, what: 'removed', owner: ownerText(before) }];
  return [{ object, what: 'put back', owner: ownerText(after) }];
}

/** A reference, which is text in a report that was kept: `IPPool/blue, now of UID 5f1c`. */
function ownerText(value: unknown): string {
  const { kind, name, uid } = mapAt(typeof value === 'string' ? parsedJson(value) : value);
  return typeof kind === 'string' && typeof name === 'string' ? `${kind}/${name}, now of UID ${uid}` : valueText(value);
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
