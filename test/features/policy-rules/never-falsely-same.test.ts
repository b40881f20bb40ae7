import assert from 'node:assert/strict';
import { policyWorld } from '../../../src/features/policies/survey.ts';
import { labelsGiven } from '../../../src/features/policy-rules/global-policy.ts';
import { automaticSettings, effective, type HostEndpoint, hostEndpointOf } from '../../../src/features/policy-rules/host-endpoint.ts';
import { type FleetFacts, fleetVerdicts } from '../../../src/features/policy-rules/host-endpoint-verdicts.ts';
import { inherited, policiesInForce, postureOf } from '../../../src/features/policy-rules/posture.ts';
import { ruleSidesOf } from '../../../src/features/policy-rules/rule-sides.ts';
import { LANES } from '../../../src/features/policy-rules/rules.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { timesOf } from '../../support/migrated-endpoints.ts';
import { NAMESPACES, type RandomFleet, randomFleet } from '../../support/random-fleet.ts';
import { numbersFrom, seedOf } from '../../support/seed.ts';
import { selectedByRules } from '../../support/selected-by-rules.ts';
import { GROUP } from './fleet.ts';

const WORLDS = 400;
const nameOf = ({ metadata: { namespace, name } }: KubeObject) => (namespace === undefined ? name : `${namespace}/${name}`);

const PROFILES = Object.entries(NAMESPACES).map(([name, labels]): KubeObject => {
  const allow = [{ action: 'Allow' }];
  const spec = { labelsToApply: labelsGiven({ name, labels }, 'pcns.', GROUP), ingress: allow, egress: allow };
  return { apiVersion: '', kind: 'Profile', metadata: { name: `kns.${name}` }, spec };
});

function factsOf({ nodes, endpoints, policies, networkPolicies, tiers }: RandomFleet): FleetFacts {
  const sides = (some: readonly KubeObject[]) => new Map(some.map((one) => [nameOf(one), ruleSidesOf(one, calico)]));
  return {
    nodes: nodes.map((one) => ({ ...one, node: one.name })),
    endpoints: endpoints.map((one) => hostEndpointOf(one, GROUP)),
    settings: automaticSettings({}),
    signs: calico.labels,
    world: policyWorld(contextOf({}, calico), { policies, tiers, profiles: PROFILES }, true),
    rules: { global: sides(policies), namespaced: sides(networkPolicies), profiles: sides(PROFILES) },
  };
}

/** What is said to stay and does not, and how often what was said of rules that stay and change. */
function judged(fleet: RandomFleet) {
  const facts = factsOf(fleet);
  const { world } = facts;
  const { hosts, policies } = fleetVerdicts(facts);
  const times = timesOf(facts, hosts);
  const labelsOf = (one: HostEndpoint) => inherited(one, world);
  const selected = (one: KubeObject, way: 'ingress' | 'egress') => times.map((some) => selectedByRules(one, way, some, labelsOf));
  const texts = new Map(
    [...fleet.policies, ...fleet.networkPolicies].map((one) => [
      nameOf(one),
      { ingress: selected(one, 'ingress'), egress: selected(one, 'egress') },
    ]),
  );
  const told = new Set(policies.map(({ name }) => name));
  const changed = [...texts].filter(([, ways]) => Object.values(ways).some((all) => new Set(all).size > 1)).map(([name]) => name);
  const falsely = changed.filter((name) => !told.has(name));
  for (const { node, atEnable, atDelete, inForce, old } of hosts) {
    const at = (some: readonly HostEndpoint[]) => effective(some.filter((one) => one.node === node));
    const before = inForce ? effective(old) : at(times[0]);
    for (const [index, { changes }] of [atEnable, atDelete].entries()) {
      const after = at(times[index + 1] ?? []);
      for (const lane of LANES.filter((one) => !changes.some((change) => change.lane === one))) {
        const names = (one: HostEndpoint | undefined) => (one ? policiesInForce(one, world)(lane).map(({ name }) => name) : []);
        assert.deepEqual(names(after), names(before), `${node} ${lane}`);
        assert.equal(typeof postureOf(after, world)[lane].end, typeof postureOf(before, world)[lane].end, `${node} ${lane}`);
        const way = lane.endsWith('egress') ? 'egress' : 'ingress';
        const other = names(after).filter((name) => texts.get(name)?.[way][0] !== texts.get(name)?.[way][index + 1]);
        falsely.push(...other.map((name) => `${name} on ${node}, ${lane}`));
      }
    }
  }
  const same = hosts.filter(({ verdict }) => verdict === 'same').length;
  return { falsely, changed: changed.length, told: told.size, policies: texts.size, same };
}

describe('the verdict that a host stays the same', () => {
  const seed = seedOf(process.env, 1);
  it(`is never said where a rule in force selects otherwise, nor is a policy left out, in ${WORLDS} random worlds (SEED=${seed})`, () => {
    const sum = { changed: 0, told: 0, policies: 0, same: 0 };
    for (let index = 0; index < WORLDS; index += 1) {
      const world = `w${index}`;
      const { falsely, ...counts } = judged(randomFleet(numbersFrom(seed * 100_003 + index), world));
      assert.deepEqual(falsely, [], world);
      for (const key of Object.keys(sum) as readonly (keyof typeof sum)[]) sum[key] += counts[key];
    }
    // It is no use to say that all is other.
    assert.ok(sum.changed > 400 && sum.same > 200 && sum.told < sum.policies / 2, JSON.stringify(sum));
  });
});
