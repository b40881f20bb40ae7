import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { envOf, findWorkload, serviceWorkloads } from '../rollout/index.ts';
import { evidenceOf, failIfAny, type PreflightCheck, withInstallation } from '../survey/index.ts';
import { conditionOf } from './server-checks.ts';

export const nodesChecks: readonly PreflightCheck[] = [
  {
    id: 'NS-421',
    title: 'nodes Ready',
    category: 'nodes',
    severity: 'error',
    ref: 'domain §12/37',
    judge: (facts): Verdict => {
      const nodes = read(facts.nodes);
      const down = nodes.filter((node) => conditionOf(node, 'Ready')?.status !== 'True');
      return failIfAny(
        down.map((node) => evidenceOf(node, conditionOf(node, 'Ready')?.reason ?? 'no Ready condition')),
        `${counted(nodes.length, 'node')} Ready`,
        (names) => ({
          because: `${down.length} of ${counted(nodes.length, 'node')} not Ready: ${names}`,
          hint: 'Repair or remove them: the rolling update stops at a node whose pod cannot start.',
          next: command`kubectl describe node ${down[0]?.metadata.name ?? ''}`,
        }),
      );
    },
  },
  {
    id: 'NS-422',
    title: 'no node cordoned',
    category: 'nodes',
    severity: 'warning',
    ref: 'domain §12/37',
    judge: (facts) => {
      const cordoned = read(facts.nodes).filter(({ spec }) => (spec as { unschedulable?: boolean } | undefined)?.unschedulable);
      return failIfAny(
        cordoned.map((node) => evidenceOf(node)),
        'no node is cordoned',
        (names) => ({
          because: `${counted(cordoned.length, 'node')} cordoned: ${names}`,
          hint: 'Uncordon them or finish their maintenance: agents still run there, other pods of the service cannot move there.',
          next: command`kubectl uncordon ${cordoned[0]?.metadata.name ?? ''}`,
        }),
      );
    },
  },
  {
    id: 'NS-423',
    title: 'no node under pressure',
    category: 'nodes',
    severity: 'error',
    ref: 'domain §12/37',
    judge: (facts) => {
      const pressed = read(facts.nodes).filter((node) => pressuresOf(node).length > 0);
      return failIfAny(
        pressed.map((node) => evidenceOf(node, pressuresOf(node).join(', '))),
        'no node reports pressure',
        (names) => ({
          because: `${counted(pressed.length, 'node')} under pressure: ${names}`,
          hint: 'Free the resource first: new images may not be pulled and new pods may be evicted there.',
          next: command`kubectl describe node ${pressed[0]?.metadata.name ?? ''}`,
        }),
      );
    },
  },
  /** A restarted agent detects the address of its node again; by the first interface it finds, that may be another one. */
  {
    id: 'NS-428',
    title: 'nodes keep the addresses of their agents',
    category: 'nodes',
    severity: 'warning',
    ref: 'domain §12',
    judge: withInstallation((installation, facts, { profile }): Verdict => {
      const agent = serviceWorkloads(installation, profile)?.agent;
      if (!agent || installation.datastore !== 'api') return notApplicable('the addresses that the agents use are not on the nodes');
      const method = envOf(findWorkload(read(facts.daemonSets), agent), agent.container, METHOD);
      if (method !== undefined && method !== 'first-found') return ok(`${METHOD} is ${method}`);
      const foreign = read(facts.nodes).flatMap((node) => foreignAddress(node, `${profile.apiGroup}/IPv4Address`));
      return failIfAny(foreign, 'every node has the address that its agent uses', (names) => ({
        because: `${counted(foreign.length, 'node')} whose agent uses an address that Kubernetes does not know: ${names}. The new agent detects the address again, and may find another one`,
        hint: `Set ${METHOD} of the agents (an operator has nodeAddressAutodetectionV4) to kubernetes-internal-ip, or to the interface that you want, before the upgrade.`,
        next: 'kubectl get nodes -o wide',
      }));
    }),
  },
];

const PRESSURES = ['DiskPressure', 'MemoryPressure', 'PIDPressure'] as const;

function pressuresOf(node: KubeObject): readonly string[] {
  return PRESSURES.filter((type) => conditionOf(node, type)?.status === 'True');
}

const METHOD = 'IP_AUTODETECTION_METHOD';

function foreignAddress(node: KubeObject, key: string): readonly Evidence[] {
  const used = node.metadata.annotations?.[key]?.split('/')[0];
  const addresses = jsonAt(node.status, 'addresses');
  if (!used || !Array.isArray(addresses) || addresses.some((one) => jsonAt(one, 'address') === used)) return [];
  const known = addresses.filter((one) => jsonAt(one, 'type') === 'InternalIP').map((one) => String(jsonAt(one, 'address')));
  return [evidenceOf(node, `its agent uses ${used}, Kubernetes has ${known.join(', ')}`)];
}
