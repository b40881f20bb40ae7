import assert from 'node:assert/strict';
import type { PlannedStage } from '../../src/core/plan.ts';
import { editRows, hostRows, hostTally, ownerRows, takenRows } from '../../src/ui/report-parts.ts';
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
    assert.deepEqual(takenRows(plans), [{ object: 'DaemonSet/kube-system/netsvc-node', field: 'spec.replicas', manager: 'flux' }]);
  });

  it('is each owner reference that went and came back, from a kept report too, where references are text', () => {
    const rows = [
      { object: 'ConfigMap/shop/owned', what: 'taken off', owner: 'IPPool/blue' },
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
