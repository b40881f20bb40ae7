import { fleetVerdicts } from '../src/features/policy-rules/host-endpoint-verdicts.ts';
import { fleetOf, hep, policy } from '../test/features/policy-rules/fleet.ts';
import { benchFleet } from './hep-fleet.ts';

/** Verdicts over a made-up fleet, without any cluster: nodes, as many old endpoints, and policies; sizes as arguments. */
const [nodeCount = 5000, policyCount = 1000] = process.argv.slice(2).map(Number);
const fleet = benchFleet(nodeCount, policyCount);
const nodes = Object.fromEntries(fleet.nodes.map(({ name, labels }) => [name, labels]));
const endpoints = fleet.endpoints.map(({ name, node, labels }) => hep(name, node, labels));
const policies = fleet.policies.map(({ name, selector, order }) => policy(name, selector, { order }));
const verdicts = fleetVerdicts(fleetOf({ nodes, endpoints, policies })).hosts;
process.stdout.write(`${verdicts.filter(({ verdict }) => verdict !== 'same').length} of ${verdicts.length} nodes change\n`);
