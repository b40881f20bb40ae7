import assert from 'node:assert/strict';
import type { OwnersJudged } from '../../../src/features/ownerrefs/owner-facts.ts';
import { noneLeft } from '../../../src/features/ownerrefs/owner-references-checks.ts';
import { withReturned } from '../../../src/features/ownerrefs/put-back.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { fixOf, judgeAll } from '../../support/judged-worlds.ts';
import { DEPENDENT, entryFor, reference } from '../../support/owner-entries.ts';

const set = reference('v3:set');
const placeOf = (index: number) => ({ ...DEPENDENT, name: `dependent-${index}`, uid: `uid-${index}` });

/** So many objects with one reference that has to be removed; of the first ones it was off. */
function judged({ count = 1, back = count }: { readonly count?: number; readonly back?: number } = {}): OwnersJudged {
  const all = Array.from({ length: count }, (_, index) => placeOf(index));
  const fate = { place: 0, reference: set, owner: { name: set.name }, servedUid: set.uid, removal: 'uid-change' } as const;
  const objects = all.map((object) => ({ owned: { object, references: [set] }, fates: [fate] }));
  return { references: { objects, unread: [], kinds: 1 }, recorded: all.slice(0, back).map((object) => entryFor([set], object)) };
}

/** The live object whose reference this manager owns. */
const live = (index: number, manager: string, uid = `uid-${index}`): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    ...{ name: `dependent-${index}`, namespace: 'shop', uid, ownerReferences: [set] },
    managedFields: [
      {
        ...{ manager, operation: 'Update', time: '2026-11-22T13:00:00Z' },
        fieldsV1: { 'f:metadata': { 'f:ownerReferences': { [`k:{"uid":"${set.uid}"}`]: {} } } },
      },
    ],
  },
});

/** What the check says, and which requests it took. */
async function said(facts: OwnersJudged, objects: readonly KubeObject[], refuses = {}) {
  const { cluster, requests } = clusterOf(objects, { kinds: [K.ConfigMap, K.Deployment, K.StatefulSet], refuses });
  const [finding] = judgeAll([noneLeft], await withReturned(cluster, facts), contextOf());
  assert.equal(finding?.outcome, 'error');
  const gets = requests.filter((one) => one.startsWith('get '));
  return {
    hint: finding.hint ?? '',
    next: finding.next,
    fix: fixOf(finding),
    details: finding.evidence.map(({ detail = '' }) => detail),
    requests: gets,
  };
}

const UNNAMED = /^A controller puts them back: pause it\. Scale its Deployment to 0/;
const ALL = 'kubectl get deployments,statefulsets --all-namespaces -o wide';

describe('a reference that was off and came back', () => {
  it('is told with the field manager that owns it, when it wrote, and how to pause it', async () => {
    const { hint, next, details, requests } = await said(judged(), [live(0, 'set-controller')]);
    assert.match(hint, /^Field manager set-controller put them back: pause that controller\. Scale its Deployment to 0, or suspend/);
    assert.match(details[0] ?? '', /; was removed and is back, by set-controller \(Update\) at 2026-11-22T13:00:00Z$/);
    assert.deepEqual([requests, String(next)], [['get configmaps'], ALL]);
  });

  it('is told with every manager where there are several', async () => {
    const { hint } = await said(judged({ count: 3 }), [live(0, 'one'), live(1, 'other'), live(2, 'one')]);
    assert.match(hint, /^Field managers one, other put them back: pause these controllers\./);
  });

  const workload = (name: string, container: object, more = {}): KubeObject => ({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: 'operators' } },
    spec: { replicas: 2, template: { spec: { containers: [{ name: 'main', ...container }] } }, ...more },
  });
  for (const [title, container, name = 'sets'] of [
    ['its Deployment', {}, 'set-controller'],
    ['its image', { image: 'registry:5000/team/set-controller:v1@sha256:00' }],
    ['its program', { command: ['/bin/set-controller', '--metrics'] }],
    ['its container', { name: 'set-controller' }],
  ] as const)
    it(`is told with the workload to scale down, known by the name of ${title}`, async () => {
      const other = workload('web', { image: 'registry:5000/set-controller/web:v1' });
      const { hint, fix } = await said(judged(), [live(0, 'set-controller'), other, workload(name, container)]);
      assert.match(hint, new RegExp(`Deployment operators/${name} \\(2 replicas\\) goes by that name: scale it to 0\\.`));
      assert.equal(fix, `kubectl -n operators scale deployment/${name} --replicas=0`);
    });

  it('is not told with one that is scaled down, nor with one of several as if it were the one', async () => {
    const off = await said(judged(), [live(0, 'manager'), workload('manager', {}, { replicas: 0 })]);
    const two = await said(judged(), [live(0, 'manager'), ...['a', 'b'].map((name) => workload(name, { name: 'manager' }))]);
    assert.deepEqual([off.next, two.next].map(String), [ALL, ALL]);
    assert.match(two.hint, /These go by that name: Deployment operators\/a \(2 replicas\), Deployment operators\/b/);
  });

  it('is told without a workload where kubectl put it back', async () => {
    const { next } = await said(judged(), [live(0, 'kubectl-edit'), workload('kubectl-edit', {})]);
    assert.equal(String(next), ALL);
  });

  for (const [title, objects, refuses] of [
    ['this account may not read the object', [live(0, 'set-controller')], { configmaps: 403 }],
    ['the object is gone by now', [], {}],
    ['the object is another by now', [live(0, 'set-controller', 'made-anew')], {}],
    ['nothing is booked for it', [{ ...live(0, ''), metadata: { name: 'dependent-0', namespace: 'shop', uid: 'uid-0' } }], {}],
  ] as const)
    it(`is told without a name where ${title}`, async () => {
      const { hint, details } = await said(judged(), objects, refuses);
      assert.match(hint, UNNAMED);
      assert.match(details[0] ?? '', /; was removed and is back$/);
    });

  it('is asked for by name, and at most twenty of them', async () => {
    const count = 30;
    const objects = Array.from({ length: count }, (_, index) => live(index, 'set-controller'));
    const { details, requests } = await said(judged({ count }), objects);
    assert.deepEqual([requests.length, details.filter((one) => one.includes(', by set-controller')).length, details.length], [20, 20, 30]);
  });

  it('is all that is asked for: what was never off costs no request', async () => {
    assert.deepEqual((await said(judged({ count: 3, back: 1 }), [])).requests, ['get configmaps']);
    assert.deepEqual((await said(judged({ count: 3, back: 0 }), [])).requests, []);
  });
});
