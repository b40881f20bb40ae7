import assert from 'node:assert/strict';
import type { PlannedStage, Taker } from '../../src/kernel/plan.ts';
import { movedSections } from '../../src/report/moved-sections.ts';
import { reportOf } from '../support/big-report.ts';

const { plans } = reportOf();
const stage = (part: Partial<PlannedStage>): PlannedStage => ({
  id: 'hep',
  title: '',
  ref: '',
  actions: [],
  objects: [],
  notes: [],
  ...part,
});

/** The table of a section: what each cell says. */
function sectionOf(id: string, of: readonly PlannedStage[]) {
  const found = movedSections(of).find((one) => one?.id === id);
  assert.ok(found?.kind === 'table' && found.table);
  const rows = found.table.rows.map(({ cells }) => cells.map(({ text, code }) => text ?? code));
  return { rows, tones: found.table.rows.map(({ cells }) => cells[1]?.tone), lead: found.lead };
}

describe('what a report tells of other people’s things', () => {
  it('is each edit with where it was found and what became of it, those to be decided first', () => {
    assert.deepEqual(
      sectionOf('edits', plans).rows,
      ['to be decided', 'kept', 'already in the target'].map((outcome) => [
        'ConfigMap/kube-system/netsvc-config data.mtu',
        outcome,
        '9000',
        '{"deep":"0"}',
        'the cluster, by anna',
      ]),
    );
  });

  it('is not waiting for a decision that was made', () => {
    const [edit] = plans.flatMap(({ edits = [] }) => edits);
    assert.ok(edit);
    const { rows, tones } = sectionOf('edits', [stage({ edits: [{ ...edit, outcome: 'conflict', decided: 'mine' }] })]);
    assert.deepEqual([rows[0]?.[1], tones[0]], ['to be decided (decided: mine)', 'o-ok']);
  });

  it('is each field that was of another manager', () => {
    const from = 'HorizontalPodAutoscaler nodes (kube-controller-manager)';
    assert.deepEqual(sectionOf('taken', plans).rows, [['DaemonSet/kube-system/netsvc-node', 'spec.replicas', from, 'Change its bounds.']]);
  });

  it('is who is behind those managers, through which subresource, and who delivers the object', () => {
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'typha' };
    const manager = 'kube-controller-manager';
    const takers: readonly Taker[] = [
      { name: 'a controller', kind: 'other', manager, fields: 1, hint: 'It writes again.' },
      { name: 'HorizontalPodAutoscaler typha', kind: 'autoscaler', manager, subresource: 'scale', fields: 1, hint: 'Change its bounds.' },
      { name: 'Argo CD', kind: 'gitops', fields: 0, hint: 'It syncs.' },
    ];
    const taken = [
      { path: 'spec.replicas', manager, subresource: 'scale' },
      { path: 'metadata.labels.a', manager },
    ];
    const { rows } = sectionOf('taken', [stage({ objects: [{ ref, change: 'update', fields: [], hidden: [], taken, takers }] })]);
    assert.deepEqual(rows, [
      ['Deployment/typha', 'spec.replicas', `HorizontalPodAutoscaler typha (${manager})`, 'Change its bounds.'],
      ['Deployment/typha', 'metadata.labels.a', `a controller (${manager})`, 'It writes again.'],
      ['Deployment/typha', '', 'Argo CD', 'It syncs.'],
    ]);
  });

  it('is what differs where no base tells edits from the release', () => {
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' };
    const { rows } = sectionOf('two-way', [stage({ twoWay: [{ ref, path: 'data.mtu', live: '9000', owners: ['anna', 'flux'] }] })]);
    assert.deepEqual(rows, [['ConfigMap/c data.mtu', '9000', '–', 'anna, flux']]);
  });

  it('is each owner reference that went and came back, from a kept report too, where references are text', () => {
    const rows = [
      ['ConfigMap/shop/owned', 'removed', 'IPPool/blue'],
      ['ConfigMap/shop/owned', 'put back', 'IPPool/blue, now of UID 5f1c'],
    ];
    assert.deepEqual(sectionOf('owners', plans).rows, rows);
    const kept = plans.map((plan) => ({
      ...plan,
      objects: plan.objects.map((object) => ({
        ...object,
        fields: object.fields.map((field) => ('after' in field ? { ...field, after: JSON.stringify(field.after) } : field)),
      })),
    }));
    assert.deepEqual(sectionOf('owners', kept).rows, rows);
  });

  it('is the first verdict of each node, the worst first', () => {
    const before = stage({
      hosts: [
        { node: 'a', verdict: 'same' },
        { node: 'b', verdict: 'CHANGED', detail: 'x' },
        { node: 'c', verdict: 'OPEN' },
      ],
    });
    const after = stage({
      hosts: [
        { node: 'c', verdict: 'same' },
        { node: 'd', verdict: 'NEWLY POLICED' },
      ],
    });
    const { rows, lead } = sectionOf('hosts', [before, after]);
    assert.deepEqual(
      rows.map(([node]) => node),
      ['c', 'd', 'b', 'a'],
    );
    assert.equal(lead, '1 OPEN, 1 NEWLY POLICED, 1 CHANGED, 1 same');
  });
});
