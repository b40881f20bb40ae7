import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { endpointProfiles } from '../../src/features/policies/stored-policies.ts';
import { policyWorld } from '../../src/features/policies/survey.ts';
import { automaticSettings, type HostEndpoint, hostEndpointOf } from '../../src/features/policy-rules/host-endpoint.ts';
import { type FleetFacts, fleetVerdicts } from '../../src/features/policy-rules/host-endpoint-verdicts.ts';
import { ruleSidesOf } from '../../src/features/policy-rules/rule-sides.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { calico } from '../../src/profiles/calico.ts';
import { type Api, type ApiList, unlessGone } from '../control-plane/api.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';
import { IGNORED, VALID } from '../features/policy-rules/ignored-rule-cases.ts';
import { contextOf } from '../fixtures/facts.ts';
import { type CalculationGraphs, type RealHost, startCalculationGraphs } from '../support/calculation-graph.ts';
import { type Counts, otherForPods, otherMoment, otherPosture } from '../support/compared-hosts.ts';
import { type Times, timesOf } from '../support/migrated-endpoints.ts';
import { NAMESPACES, NODES, PODS, type RandomFleet, randomFleet } from '../support/random-fleet.ts';
import { realProgram } from '../support/real-service.ts';
import { manifestFile } from '../support/releases.ts';
import { numbersFrom, seedOf } from '../support/seed.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const RELEASE = CALICO_TARGET;
const GROUP = 'projectcalico.org';
const WORLDS = Number(process.env.WORLDS ?? 150);
/** Brings a world of a longer run back. */
const FIRST = Number(process.env.FIRST ?? 0);
const PLURALS: Readonly<Record<string, string>> = {
  HostEndpoint: 'hostendpoints',
  GlobalNetworkPolicy: 'globalnetworkpolicies',
  NetworkPolicy: 'networkpolicies',
  Tier: 'tiers',
};
const found = realProgram('fj', RELEASE);

describe(`verdicts on host endpoints beside the calculation graph of ${RELEASE}`, function () {
  this.timeout(3_000_000);
  if ('missing' in found) {
    it(`are the same: ${found.missing}`);
    return;
  }
  let plane: ControlPlane;
  let graphs: CalculationGraphs;

  before(async () => {
    plane = await startControlPlane({ simulated: false, maxMinutes: 60 });
    const documents = parseAllDocuments(readFileSync(manifestFile(RELEASE, 'calico.yaml'), 'utf8')).map(
      (one) => one.toJS() as KubeObject | null,
    );
    const definitions = documents.filter((one) => one?.kind === 'CustomResourceDefinition');
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: definitions });
    assertSucceeded(await plane.kubectl(['apply', '--server-side', '-f', '-'], list));
    for (const [name, labels] of Object.entries(NAMESPACES))
      await plane.api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    // Pods of nodes that do not exist are deleted after a while.
    for (const name of NODES) await plane.api.send('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    for (const one of PODS) await pod(plane.api, one);
    // Just defined, they are served a while later.
    await until('the kinds are served', () =>
      clear(plane.api).then(
        () => true,
        () => false,
      ),
    );
    graphs = await startCalculationGraphs(found.program, plane.kubeconfigPath, [...NODES, 'marker'], join(plane.dir, 'graph.jsonl'));
  });
  after(async () => {
    await graphs?.stop();
    await plane?.stop();
  });

  it('agree on which rules make the agents ignore a policy, of those that the API server stores', async () => {
    const shot = async (rule: object, name: string) => {
      await clear(plane.api);
      const spec = { selector: 'all()', types: ['Ingress'], ingress: [{ action: 'Allow', ...rule }] };
      const policy = { apiVersion: `crd.${GROUP}/v1`, kind: 'GlobalNetworkPolicy', metadata: { name }, spec };
      const isStored = await create(plane.api, policy).then(
        () => true,
        () => false,
      );
      await create(plane.api, stored({ ...empty, name: `host-${name}`, node: 'n1' }));
      await create(plane.api, stored({ ...empty, name: `marker-${name}`, node: 'marker' }));
      const host = (await graphs.settled(`marker-${name}`)).get('n1');
      return isStored ? (host?.ingress?.pols.length ?? 0) > 0 : undefined;
    };
    const rules = [...VALID.map((rule) => [rule, true] as const), ...IGNORED.map(([rule]) => [rule, false] as const)];
    const other: string[] = [];
    let asked = 0;
    for (const [index, [rule, counts]] of rules.entries()) {
      const inForce = await shot(rule, `rule-${index}`);
      if (inForce !== undefined) asked += 1;
      if (inForce === !counts) other.push(`${JSON.stringify(rule)}: in force there: ${inForce}`);
    }
    assert.deepEqual(other, []);
    assert.ok(asked >= rules.length - 3, `the API server stores only ${asked} of ${rules.length}`);
  });

  const seed = seedOf(process.env, 1);
  it(`are the same in ${WORLDS} random worlds (SEED=${seed}), host by host, now, once enabled, and once the old endpoints are gone; no change of a rule is missed`, async () => {
    const counts: Counts = { hosts: 0, same: 0, changed: 0, addresses: 0, ends: 0, ports: 0, pods: 0 };
    const wrong: string[] = [];
    for (let index = FIRST; index < FIRST + WORLDS; index += 1) {
      const world = `w${index}`;
      const fleet = randomFleet(numbersFrom(seed * 100_003 + index), world);
      wrong.push(...(await compared(plane.api, graphs, fleet, world, counts)));
      if (wrong.length > 10) break;
    }
    process.stderr.write(`      ${JSON.stringify(counts)}\n`);
    assert.deepEqual(wrong, []);
    // A few worlds are a replay.
    if (WORLDS >= 40)
      assert.ok(
        Object.values(counts).every((count) => count > 0),
        `the worlds show all kinds of verdict: ${JSON.stringify(counts)}`,
      );
  });
});

type Shot = ReadonlyMap<string, RealHost>;

/** What is otherwise here than there, for people. */
async function compared(
  api: Api,
  graphs: CalculationGraphs,
  fleet: RandomFleet,
  world: string,
  counts: Counts,
): Promise<readonly string[]> {
  await clear(api);
  const all = (some: readonly KubeObject[]) => Promise.all(some.map((one) => create(api, one)));
  const [tiers, policies, networkPolicies, endpoints] = await Promise.all([
    all(fleet.tiers),
    all(fleet.policies),
    all(fleet.networkPolicies),
    all(fleet.endpoints),
  ]);
  const facts = await factsOf(api, { ...fleet, tiers, policies, networkPolicies, endpoints });
  const judged = fleetVerdicts(facts);
  const verdicts = judged.hosts;
  const times = timesOf(facts, verdicts);
  const shots = await played(api, graphs, times, world);
  const wrong = verdicts.flatMap((verdict) => {
    counts.hosts += 1;
    counts[verdict.verdict === 'same' ? 'same' : 'changed'] += 1;
    const [before, atEnable, atDelete] = shots.map((shot) => shot.get(verdict.node));
    assert.ok(before && atEnable && atDelete, `no snapshot of ${verdict.node}`);
    return [
      ...[before, atEnable, atDelete].flatMap((shot, at) => otherPosture(shot, times[at] ?? [], verdict.node, facts.world)),
      ...otherMoment(before, atEnable, verdict.atEnable, counts).map((text) => `enable: ${text}`),
      ...otherMoment(before, atDelete, verdict.atDelete, counts).map((text) => `delete: ${text}`),
    ].map((text) => `${world} ${verdict.node}: ${text}`);
  });
  const ofPods = otherForPods(shots, judged, counts).map((text) => `${world}: ${text}`);
  return wrong.length + ofPods.length > 0 ? [...wrong, ...ofPods, JSON.stringify(fleet)] : [];
}

/** Plays controllers and migration; the first endpoints are there already. */
async function played(api: Api, graphs: CalculationGraphs, times: Times, world: string): Promise<readonly Shot[]> {
  const shots: Shot[] = [];
  let standing = times[0];
  for (const [at, wanted] of times.entries()) {
    const [before, after] = [standing, wanted].map((some) => new Set(some.map(({ name }) => name)));
    const gone = standing.filter(({ name }) => !after?.has(name)).map(({ name }) => name);
    for (const one of wanted) if (!before?.has(one.name)) await create(api, stored(one));
    for (const name of gone) await remove(api, 'HostEndpoint', name);
    standing = wanted;
    const marker = `marker-${world}-${at}`;
    await create(api, stored({ ...empty, name: marker, node: 'marker' }));
    shots.push(await graphs.settled(marker, gone));
  }
  return shots;
}

async function factsOf(api: Api, { nodes, endpoints, policies, networkPolicies, tiers }: RandomFleet): Promise<FleetFacts> {
  const cluster = {
    get: async (kind: Kind, name: string, namespace?: string) => {
      const place = namespace === undefined ? '' : `namespaces/${namespace}/`;
      return api.get<KubeObject>(`/api/v1/${place}${kind.plural}/${name}`).catch(() => undefined);
    },
  };
  const hosts = endpoints.map((one) => hostEndpointOf(one, GROUP));
  const objects = async () => [];
  const profiles = await endpointProfiles({ cluster: cluster as never, objects, profile: calico, datastore: 'api' }, hosts);
  const nameOf = ({ metadata: { namespace, name } }: KubeObject) => (namespace === undefined ? name : `${namespace}/${name}`);
  const sets = (some: readonly KubeObject[]) => new Map(some.map((one) => [nameOf(one), ruleSidesOf(one, calico)]));
  return {
    nodes: nodes.map((one) => ({ ...one, node: one.name })),
    endpoints: hosts,
    settings: automaticSettings({}),
    signs: calico.labels,
    world: policyWorld(contextOf({}, calico), { policies, tiers, profiles }, true),
    rules: { global: sets(policies), profiles: sets(profiles), namespaced: sets(networkPolicies) },
  };
}

const empty: HostEndpoint = { name: '', node: '', interfaceName: '*', expectedIPs: [], profiles: [], ports: [], labels: {} };

function stored({ name, node, interfaceName, expectedIPs, profiles, ports, labels }: HostEndpoint): KubeObject {
  const spec = { node, interfaceName, expectedIPs, profiles, ports };
  return { apiVersion: `crd.${GROUP}/v1`, kind: 'HostEndpoint', metadata: { name, labels }, spec };
}

function pathOf(kind: string, { name, namespace }: { readonly name?: string; readonly namespace?: string | undefined } = {}): string {
  const place = namespace === undefined ? '' : `namespaces/${namespace}/`;
  return `/apis/crd.${GROUP}/v1/${place}${PLURALS[kind]}${name === undefined ? '' : `/${name}`}`;
}

/** With an address, as a kubelet says it: the agents follow no other pods. */
async function pod(api: Api, { name, namespace, node, labels: own }: (typeof PODS)[number]): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const spec = {
    nodeName: node,
    containers: [{ name: 'c', image: 'none' }],
    automountServiceAccountToken: false,
    tolerations: [{ operator: 'Exists' }],
  };
  await until('the pod is accepted', () =>
    api.send('POST', path, { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: own }, spec }).then(
      () => true,
      () => false,
    ),
  );
  const podIP = `10.8.0.${PODS.findIndex((one) => one.name === name) + 1}`;
  const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }] };
  await api.send('PATCH', `${path}/${name}/status`, { status }, 'application/merge-patch+json');
}

/** Resolves to what the server made of it. */
async function create(api: Api, object: KubeObject): Promise<KubeObject> {
  return api.send<KubeObject>('POST', pathOf(object.kind, { namespace: object.metadata.namespace }), object);
}

async function remove(api: Api, kind: string, name: string, namespace?: string): Promise<void> {
  await api.send('DELETE', pathOf(kind, { name, namespace })).catch(unlessGone);
}

async function clear(api: Api): Promise<void> {
  for (const kind of Object.keys(PLURALS)) {
    const { items } = await api.get<ApiList>(pathOf(kind));
    await Promise.all(items.map(({ metadata: { name, namespace } }) => remove(api, kind, name, namespace)));
  }
}
