import assert from 'node:assert/strict';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { bystander } from '../support/bystander.ts';
import { shared } from '../support/installed-cluster.ts';
import { ownedPlane } from '../support/owned-cluster.ts';
import { GROUP } from '../support/owned-objects.ts';
import { patient } from '../support/patience.ts';
import { FLAGS, performStage } from '../support/perform-stage.ts';

const DEPENDENTS = 400;
const LEVEL = 'netsvc-upgrade-test';
/** Both are administrators, but none that the server exempts from its limits. */
const [UPGRADER, BYSTANDER] = ['upgrader', 'bystander'];
/** Kubernetes' own objective for a request of one object. */
const IN_TIME_MS = patient(1_000);

describe('an API server under priority and fairness', function () {
  this.timeout(400_000);
  const owned = shared(() => ownedPlane(DEPENDENTS, { maxMinutes: 12, simulated: false }));
  before(async () => {
    const group = 'rbac.authorization.k8s.io';
    await owned.plane.api.send('POST', `/apis/${group}/v1/clusterrolebindings`, {
      metadata: { name: LEVEL },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [UPGRADER, BYSTANDER].map((name) => ({ apiGroup: group, kind: 'User', name })),
    });
  });

  const perform = (stage: AnyStage, flags: object = {}) => performStage(stage, owned.around, { ...FLAGS, as: UPGRADER, ...flags });

  it('that refuses most of what comes at once gets less at a time, and the work is done', async () => {
    await limit(owned.plane, { users: [UPGRADER], limitResponse: { type: 'Reject' } });
    const { exit } = await perform(ownerrefsStripStage);
    const count = await refused(owned.plane);
    assert.equal(exit, 'done');
    // Each list and each patch was refused about once while every request came again by itself.
    assert.ok(count > 0 && count < DEPENDENTS / 8, `${count} refused`);
    assert.ok(Object.values(await owned.graph()).every((references) => references.every((one) => !one.apiVersion.startsWith(`${GROUP}/`))));
  });

  it('that queues them still answers another user of the same queues in time', async () => {
    const queuing = { queues: 16, handSize: 4, queueLengthLimit: 50 };
    await limit(owned.plane, { users: [UPGRADER, BYSTANDER], limitResponse: { type: 'Queue', queuing } });
    const before = await refused(owned.plane);
    const beside = bystander(owned.plane.kubeconfigPath, BYSTANDER);
    const { exit } = await perform(ownerrefsStripStage, { undo: true });
    const took = await beside.end();
    assert.deepEqual([exit, (await refused(owned.plane)) - before], ['done', 0]);
    assert.ok(took.length > 10 && Math.max(...took) < IN_TIME_MS, `${took.length} answers, the slowest after ${Math.max(...took)} ms`);
    assert.deepEqual(await owned.graph(), owned.first);
  });
});

interface Limit {
  readonly users: readonly string[];
  readonly limitResponse: object;
}

/** The server does three things at a time for these users, and lends them nothing. */
async function limit({ kubectl }: ControlPlane, { users, limitResponse }: Limit): Promise<void> {
  const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
  const limited = { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, lendablePercent: 0, limitResponse };
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true };
  const items = [
    { apiVersion, kind: 'PriorityLevelConfiguration', metadata: { name: LEVEL }, spec: { type: 'Limited', limited } },
    {
      ...{ apiVersion, kind: 'FlowSchema', metadata: { name: LEVEL } },
      spec: {
        ...{ priorityLevelConfiguration: { name: LEVEL }, matchingPrecedence: 10, distinguisherMethod: { type: 'ByUser' } },
        rules: [
          {
            subjects: users.map((name) => ({ kind: 'User', user: { name } })),
            resourceRules: [everything],
            nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
          },
        ],
      },
    },
  ];
  const { exitCode, stderr } = await kubectl(
    ['apply', '--server-side', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
  );
  assert.equal(exitCode, 0, stderr);
}

/** How many requests of the level the server has refused so far. */
async function refused({ kubectl }: ControlPlane): Promise<number> {
  const { stdout } = await kubectl(['get', '--raw', '/metrics']);
  const counts = stdout.matchAll(/^apiserver_flowcontrol_rejected_requests_total\{.*priority_level="netsvc-upgrade-test".*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
