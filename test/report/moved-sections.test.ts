import assert from 'node:assert/strict';
import type { PlannedStage, Taker } from '../../src/kernel/plan.ts';
import { editRows, hostRows, hostTally, ownerRows, takenRows, twoWayRows } from '../../src/report/moved-sections.ts';
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

describe('what a report tells of other people’s things', () => {
  it('is each edit with where it was found and what became of it, those to be decided first', () => {
    assert.deepEqual(
      editRows(plans).map(({ object, field, outcome, mine, theirs, from }) => [object, field, outcome, mine, theirs, from]),
      ['to be decided', 'kept', 'already in the target'].map((outcome) => [
        'ConfigMap/kube-system/netsvc-config',
        'data.mtu',
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
    const [row] = editRows([stage({ edits: [{ ...edit, outcome: 'conflict', decided: 'mine' }] })]);
    assert.deepEqual([row?.outcome, row?.isOpen], ['to be decided (decided: mine)', false]);
  });

  it('is each field that was of another manager', () => {
    assert.deepEqual(takenRows(plans), [
      {
        ...{ object: 'DaemonSet/kube-system/netsvc-node', field: 'spec.replicas', hint: 'Change its bounds.' },
        from: 'HorizontalPodAutoscaler nodes (kube-controller-manager)',
      },
    ]);
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
    const rows = takenRows([stage({ objects: [{ ref, change: 'update', fields: [], hidden: [], taken, takers }] })]);
    assert.deepEqual(
      rows.map(({ object, field, from, hint }) => [object, field, from, hint]),
      [
        ['Deployment/typha', 'spec.replicas', `HorizontalPodAutoscaler typha (${manager})`, 'Change its bounds.'],
        ['Deployment/typha', 'metadata.labels.a', `a controller (${manager})`, 'It writes again.'],
        ['Deployment/typha', '', 'Argo CD', 'It syncs.'],
      ],
    );
  });

  it('is what differs where no base tells edits from the release', () => {
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' };
    const rows = twoWayRows([stage({ twoWay: [{ ref, path: 'data.mtu', live: '9000', owners: ['anna', 'flux'] }] })]);
    assert.deepEqual(rows, [{ field: 'ConfigMap/c data.mtu', live: '9000', target: '–', owners: 'anna, flux' }]);
  });

  it('is each owner reference that went and came back, from a kept report too, where references are text', () => {
    const rows = [
      { object: 'ConfigMap/shop/owned', what: 'removed', owner: 'IPPool/blue' },
      { object: 'ConfigMap/shop/owned', what: 'put back', owner: 'IPPool/blue, now of UID 5f1c' },
    ];
    assert.deepEqual(ownerRows(plans), rows);
    const kept = plans.map((plan) => ({
      ...plan,
      objects: plan.objects.map((object) => ({
        ...object,
        fields: object.fields.map((field) => ('after' in field ? { ...field, after: JSON.stringify(field.after) } : field)),
      })),
    }));
    assert.deepEqual(ownerRows(kept), rows);
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
    const hosts = hostRows([before, after]);
    assert.deepEqual(
      hosts.map(({ node }) => node),
      ['c', 'd', 'b', 'a'],
    );
    assert.equal(hostTally(hosts), '1 OPEN, 1 NEWLY POLICED, 1 CHANGED, 1 same');
  });
});
