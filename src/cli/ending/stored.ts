import type { Edit } from '../../kernel/edit.ts';
import { maskValue } from '../../kernel/hidden.ts';
import type { RolloutTrace } from '../../kernel/history.ts';
import type { FieldChange, PlannedHost, PlannedObject, PlannedStage } from '../../kernel/plan.ts';
import { clip } from '../../report/columns.ts';
import { slowest } from '../../report/heat-map.ts';
import type { RunReport } from '../documents.ts';

/** Largest report beside the run record, before it is compressed (about ten to one). Bytes of JSON. */
export const STORED_BYTES = 2_000_000;

/** How much of each list is kept: the first that fits is taken. */
type Room = Readonly<Record<'objects' | 'fields' | 'evidence' | 'rows' | 'actions' | 'text', number>>;

const ROOMS: readonly Room[] = [
  { objects: 2000, fields: 100, evidence: 200, rows: 6000, actions: 3000, text: 2000 },
  { objects: 1000, fields: 30, evidence: 50, rows: 6000, actions: 1000, text: 400 },
  { objects: 300, fields: 20, evidence: 20, rows: 1500, actions: 500, text: 300 },
  { objects: 100, fields: 5, evidence: 5, rows: 300, actions: 100, text: 160 },
  { objects: 20, fields: 0, evidence: 1, rows: 30, actions: 30, text: 80 },
];

/** A report as it is kept in the cluster: what was done and found in full, long lists and texts cut until it is small enough. */
export function storedReport(report: RunReport): RunReport {
  let kept = report;
  for (const room of ROOMS) {
    kept = inRoom(report, room);
    if (Buffer.byteLength(JSON.stringify(kept)) <= STORED_BYTES) break;
  }
  return JSON.parse(JSON.stringify(maskValue(kept))) as RunReport;
}

function inRoom(report: RunReport, room: Room): RunReport {
  const { history } = report;
  const findings = report.findings.map((one) => ({
    ...one,
    message: clip(one.message, room.text),
    evidence: one.evidence.slice(0, room.evidence).map((each) => ({ ...each, text: clip(each.text, room.text) })),
  }));
  // What was run is in the history, as commands; the content of each action is not kept twice.
  const plans = report.plans.map((plan) => planIn(plan, room));
  if (!history) return { ...report, findings, plans };
  // The last ones: where something failed, it failed there.
  const short = (text: string | undefined) => text && clip(text, room.text);
  const actions = history.actions.slice(-room.actions).map((one) => ({ ...one, command: short(one.command), detail: short(one.detail) }));
  const notes = history.notes.slice(-room.actions).map((one) => ({ ...one, text: clip(one.text, room.text) }));
  return {
    ...report,
    findings,
    plans,
    history: { ...history, actions, notes, rollouts: history.rollouts.map((one) => rowsIn(one, room.rows)) },
  };
}

function planIn(plan: PlannedStage, room: Room): PlannedStage {
  const { edits, hosts } = plan;
  return {
    ...plan,
    // What the user still has to do is said at the end of a run, and later.
    actions: plan.actions.filter(({ effect }) => effect.type === 'ask'),
    objects: objectsIn(plan.objects, room),
    edits: edits?.slice(0, room.objects).map((one) => shortEdit(one, room.text)),
    hosts: hosts && hostsIn(hosts, room),
  };
}

function shortEdit(edit: Edit, text: number): Edit {
  const { base: _, mine, theirs, ...rest } = edit;
  return { ...rest, mine: shortValue(mine, text), theirs: shortValue(theirs, text) };
}

/** Those whose traffic is evaluated otherwise stay. */
function hostsIn(hosts: readonly PlannedHost[], { rows, text }: Room): readonly PlannedHost[] {
  const [others, same] = [hosts.filter(({ verdict }) => verdict !== 'same'), hosts.filter(({ verdict }) => verdict === 'same')];
  return [...others, ...same].slice(0, rows).map((host) => ({ ...host, detail: host.detail && clip(host.detail, text) }));
}

function objectsIn(objects: readonly PlannedObject[], room: Room): readonly PlannedObject[] {
  return objects
    .filter(({ change }) => change !== 'unchanged')
    .slice(0, room.objects)
    .map((object) => ({
      ...object,
      fields: object.fields.slice(0, room.fields).map((field) => shortField(field, room.text)),
      hidden: object.hidden.slice(0, room.fields),
      taken: object.taken.slice(0, Math.max(room.fields, 1)),
    }));
}

function shortField({ path, before, after }: FieldChange, text: number): FieldChange {
  return { path, before: shortValue(before, text), after: shortValue(after, text) };
}

function shortValue(value: unknown, text: number): string | undefined {
  return value === undefined ? undefined : clip(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), Math.min(text, 300));
}

function rowsIn(trace: RolloutTrace, count: number): RolloutTrace {
  if (trace.rows.length <= count) return trace;
  return { ...trace, rows: slowest(trace.rows, count), omitted: (trace.omitted ?? 0) + trace.rows.length - count };
}
