import type { PlannedStage } from '../kernel/plan.ts';
import { markdownTable, type Room } from './markdown.ts';
import { editRows, hostRows, hostTally, ownerRows, takenRows, twoWayRows } from './report-parts.ts';

/** What of other people's things was met: their edits, their fields, their owner references, their hosts. Empty texts where there is nothing. */
export function movedSections(plans: readonly PlannedStage[], room: Room): readonly string[] {
  return [
    editsSection(plans, room),
    twoWaySection(plans, room),
    takenSection(plans, room),
    ownersSection(plans, room),
    hostsSection(plans, room),
  ];
}

function editsSection(plans: readonly PlannedStage[], room: Room): string {
  const rows = editRows(plans).map(({ object, field, outcome, mine, theirs, from, note }) => [
    `${object} ${field}`.trim(),
    note === '' ? outcome : `${outcome}: ${note}`,
    mine,
    theirs,
    from,
  ]);
  return section('Edits carried into the target', ['Edit', 'What became of it', 'Yours', 'The target’s', 'Found in'], rows, room);
}

function takenSection(plans: readonly PlannedStage[], room: Room): string {
  const rows = takenRows(plans).map(({ object, field, from, hint }) => [object, field, from, hint]);
  return section('Ownership taken over', ['Object', 'Field', 'Was of', 'What follows'], rows, room);
}

function twoWaySection(plans: readonly PlannedStage[], room: Room): string {
  const rows = twoWayRows(plans).map(({ field, live, target, owners }) => [field, live, target, owners]);
  return section('Differences that no base explains', ['Field', 'Installed', 'Target', 'Field managers'], rows, room);
}

function ownersSection(plans: readonly PlannedStage[], room: Room): string {
  const rows = ownerRows(plans).map(({ object, what, owner }) => [object, what, owner]);
  return section('Owner references moved', ['Object', 'What', 'Owner'], rows, room);
}

/** Every node whose traffic is judged otherwise; the others are counted. */
function hostsSection(plans: readonly PlannedStage[], room: Room): string {
  const hosts = hostRows(plans);
  if (hosts.length === 0) return '';
  const rows = hosts.filter(({ verdict }) => verdict !== 'same').map(({ node, verdict, detail = '' }) => [node, verdict, detail]);
  const table = rows.length === 0 ? [] : [markdownTable(['Node', 'Verdict', 'When, and what applies'], rows, room)];
  return ['## Host endpoints', hostTally(hosts), ...table].join('\n\n');
}

function section(title: string, head: readonly string[], rows: readonly (readonly string[])[], room: Room): string {
  return rows.length === 0 ? '' : `## ${title}\n\n${markdownTable(head, rows, room)}`;
}
