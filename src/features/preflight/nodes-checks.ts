import { command } from '../../kernel/argv.ts';
import { read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { evidenceOf, failIfAny, preflightCheck } from '../survey/index.ts';
import { conditionOf } from './server-checks.ts';

export const nodesReady = preflightCheck('NS-421', {
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
});

export const noneCordoned = preflightCheck('NS-422', {
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
});

const PRESSURES = ['DiskPressure', 'MemoryPressure', 'PIDPressure'] as const;

export const noPressure = preflightCheck('NS-423', {
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
});

function pressuresOf(node: KubeObject): readonly string[] {
  return PRESSURES.filter((type) => conditionOf(node, type)?.status === 'True');
}
