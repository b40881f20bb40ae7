import type { PlannedHost, PlannedStage } from '../kernel/plan.ts';
import { editRows, hostRows, hostTally, ownerRows, takenRows, twoWayRows } from './report-parts.ts';
import type { Row, Section, TestCase } from './section.ts';

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
  return { ...of, kind: 'table', table: { label: of.title, head, rows, unfolded: 20, ...(minor === undefined ? {} : { minor }) } };
}
