import { hostEndpointVerdicts } from '../src/policy/host-endpoint-verdicts.ts';
import { fleetOf, hep, policy } from '../test/policy/fleet.ts';

/** Verdicts over a made-up fleet: nodes, as many old endpoints, and policies of every kind of selector; sizes as arguments. */
const [nodeCount = 5000, policyCount = 1000] = process.argv.slice(2).map(Number);

const nodes = Object.fromEntries(
  Array.from({ length: nodeCount }, (_, index) => [
    `node-${index}`,
    { 'kubernetes.io/hostname': `node-${index}`, env: index % 3 === 0 ? 'test' : 'prod', rack: `r${index % 40}`, zone: `z${index % 6}` },
  ]),
);
const endpoints = Array.from({ length: nodeCount }, (_, index) =>
  hep(`old-${index}`, `node-${index}`, { role: index % 7 === 0 ? 'core' : 'edge', team: `t${index % 50}` }),
);
const selectors = [
  (index: number) => `role == "edge" && team in {"t${index % 50}", "t${(index + 1) % 50}"}`,
  (index: number) => `rack == "r${index % 40}" || zone starts with "z${index % 6}"`,
  () => '!has(env) && has(team)',
  (index: number) => `team contains "t${index}"`,
];
const policies = Array.from({ length: policyCount }, (_, index) =>
  policy(`p${index}`, selectors[index % selectors.length]?.(index) ?? 'all()', { order: index }),
);
const verdicts = hostEndpointVerdicts(fleetOf({ nodes, endpoints, policies }));
process.stdout.write(`${verdicts.filter(({ verdict }) => verdict !== 'same').length} of ${verdicts.length} nodes change\n`);
