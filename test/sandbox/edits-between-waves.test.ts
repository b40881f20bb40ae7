import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { interruptionOf } from '../../src/kernel/interruption.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { JsonPatchOp, KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { containersOf } from '../../src/kube/workload.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

/** In waves, on a way on which no UID changes: nothing but the wait gives a reason to look again. */
const { uidChange: _, ...unchanging } = netsvc;
const waved: Profile = { ...unchanging, typhaRefusesAgentsBefore: 'v3.28.0' };
const CONTROLLERS = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kube-system', name: 'netsvc-kube-controllers' };

const live = ({ cluster }: Scenario): KubeObject =>
  cluster.store.get(K.Deployment, CONTROLLERS.name, CONTROLLERS.namespace) ?? assert.fail('there are no controllers');

/** `apply` on the cluster. */
function run(scenario: Scenario, observe: Observer, soft = new AbortController()): Promise<ChainOutcome> {
  const interruption = interruptionOf(soft.signal, new AbortController().signal);
  return performIn(scenario, [applyStage], {}, { profile: waved, ports: sandboxPorts(scenario, { interruption }), observe });
}

/** `apply`, with a person who changes the controllers while the agents are rolled; and how often it looked again before it went on. */
async function applied(scenario: Scenario, edit: (scenario: Scenario) => unknown): Promise<ChainOutcome & { readonly looks: number }> {
  const { cluster, clock } = scenario;
  let edited = false;
  cluster.store.listen(({ kind, after }) => {
    const isNew = (images: readonly { readonly image?: string }[]) => images.some(({ image = '' }) => image.endsWith(`:${NETSVC_TARGET}`));
    if (edited || kind.plural !== K.DaemonSet.plural || !after || !isNew(containersOf(after))) return;
    edited = true;
    clock.schedule(2_000, () => void edit(scenario));
  });
  let looks = 0;
  const outcome = await run(scenario, (event) => {
    if (event.type === 'note' && String(event.text).startsWith('re-checks the cluster before')) looks += 1;
  });
  assert.ok(edited, 'the agents were rolled first');
  return { ...outcome, looks };
}

/** As `kubectl edit` and `kubectl set env` do. */
const edited = (patch: readonly JsonPatchOp[]) => (scenario: Scenario) =>
  scenario.cluster.patch(K.Deployment, CONTROLLERS, patch, 'kubectl-edit');

/** As `kubectl scale` does: under kubectl's own name, through the subresource. */
function scaled(scenario: Scenario): void {
  const object = live(scenario);
  const time = scenario.clock.now().toISOString().replace(/\.\d+/, '');
  const entry = { manager: 'kubectl', operation: 'Update', subresource: 'scale', apiVersion: 'apps/v1', time } as const;
  const managedFields = [...(object.metadata.managedFields ?? []), { ...entry, fieldsV1: { 'f:spec': { 'f:replicas': {} } } }];
  scenario.cluster.store.update(K.Deployment, {
    ...object,
    metadata: { ...object.metadata, managedFields },
    spec: { ...(object.spec as object), replicas: 0 },
  });
}

describe('what a person changes while the agents are rolled', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 3, cli: false });
  });
  const PLACE = '/spec/template/spec/containers/0/env/0/value';

  it('is not written over by a later wave: a variable of the release', async () => {
    const { exit, findings } = await applied(scenario, edited([{ op: 'replace', path: PLACE, value: 'mine' }]));
    const told = findings.find(({ id }) => id === 'NS-208');
    assert.deepEqual([exit, told?.outcome], ['conflicts', 'error']);
    assert.match(told?.evidence[0]?.detail ?? '', /^yours: mine, after the upgrade: kubernetes, set by kubectl-edit at /);
    assert.equal(containersOf(live(scenario))[0]?.env?.[0]?.value, 'mine');
  });

  it('is not written over by a later wave: the number of replicas', async () => {
    const { exit, findings } = await applied(scenario, scaled);
    const told = findings.find(({ id }) => id === 'NS-208');
    assert.deepEqual(
      [exit, told?.evidence.map(({ text }) => text)],
      ['conflicts', ['Deployment/kube-system/netsvc-kube-controllers spec.replicas']],
    );
    assert.equal((live(scenario).spec as { readonly replicas: number }).replicas, 0);
  });

  it('costs one look more per wave that comes after a wait, and nothing stops where nothing was changed', async () => {
    const { exit, looks } = await applied(scenario, () => undefined);
    assert.deepEqual([exit, looks], ['done', 1]);
  });
});

describe('a run that was interrupted after the wave of the agents', () => {
  it('waits for an agent that is not ready any more before it applies the controllers', async () => {
    const scenario = await installedSandbox({ nodes: 3, cli: false });
    const { cluster, clock } = scenario;
    const soft = new AbortController();
    const first = await run(scenario, (event) => event.type === 'action-done' && event.action.id === 'wait-agents' && soft.abort(), soft);
    assert.equal(first.exit, 'interrupted', first.message);
    cluster.nodes.fault('node-02', 'not-ready');
    const isAgent = ({ metadata, spec }: KubeObject) =>
      metadata.name.startsWith('netsvc-node-') && (spec as { readonly nodeName?: string }).nodeName === 'node-02';
    const { metadata } = cluster.store.list(K.Pod).find(isAgent) ?? assert.fail('there is no agent');
    cluster.store.delete(K.Pod, metadata.name, metadata.namespace);
    const begun: string[] = [];
    const { exit, message } = await run(scenario, (event) => {
      if (event.type !== 'action-started' || event.action.effect.type === 'write') return;
      begun.push(event.action.id);
      // Late enough that the controllers would be applied meanwhile.
      if (begun.length === 1) clock.schedule(20_000, () => cluster.nodes.fault('node-02', 'none'));
    });
    assert.deepEqual([exit, begun], ['done', ['wait-agents', 'wave-controllers', 'wait-controllers']], message);
  });
});
