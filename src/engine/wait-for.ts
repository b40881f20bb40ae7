import { waitHostEndpoints } from '../features/hosts/index.ts';
import { waitCrds } from '../features/install-manifest/index.ts';
import { waitApiServices, waitOperator } from '../features/install-operator/index.ts';
import { assertHeld, waitPolicies } from '../features/policies/index.ts';
import { type WaitRequest, waitRollout } from '../features/rollout/index.ts';
import type { Effect } from '../kernel/action.ts';
import type { EnginePorts } from '../kernel/engine-ports.ts';
import type { Performed, Report } from '../kernel/performing.ts';
import type { RolloutProgress } from '../kernel/rollout.ts';

/** What a wait has around it: what ends it, whom it tells, and what earlier ones of the run went on without. */
export interface WaitSurroundings extends Pick<WaitRequest, 'signal' | 'onProgress'> {
  readonly leftBehind: Set<string>;
  readonly report: Report;
  /** A line that a person should read while it goes on. */
  readonly warn: (text: string) => void;
}

/** Waits for what the action expects of the world. */
export async function waitFor(
  ports: EnginePorts,
  { until, timeoutMs }: Extract<Effect, { type: 'wait' }>,
  { signal, leftBehind, report, warn, onProgress }: WaitSurroundings,
): Promise<Performed> {
  const { cluster, clock } = ports;
  switch (until.type) {
    case 'host-endpoints':
      await waitHostEndpoints(ports, until, { timeoutMs, signal, report });
      return {};
    case 'apiservice-available':
      await waitApiServices(cluster, clock, until.names, timeoutMs, signal);
      return {};
    case 'crds-established':
      await waitCrds(ports, until, { timeoutMs, signal, report });
      return {};
    case 'operator-end':
      await waitOperator(ports, until, { timeoutMs, signal, report, warn });
      return {};
    case 'policies-settled':
      await waitPolicies(ports, until, { timeoutMs, signal, report });
      return {};
    case 'time-passed':
      // Whoever ends the wait is heard before the next look.
      await clock.sleep(until.ms, signal).catch(() => undefined);
      return {};
    case 'renaming-held':
      await assertHeld(cluster, until);
      return {};
    case 'rollout': {
      const { targets, maxFailed, goesOn } = until;
      const request = { targets, maxFailed, timeoutMs, signal, onProgress, ...(goesOn ? { leftBehind } : {}) };
      return outcomeOf(await waitRollout(cluster, clock, request));
    }
  }
}

function outcomeOf(progress: readonly RolloutProgress[]): Performed {
  const left = progress.filter(({ done }) => !done);
  if (left.length === 0) return {};
  const names = left.map(nameOf);
  return { left: Object.fromEntries(left.map((one) => [nameOf(one), whyNot(one)])), detail: `left behind: ${names.join(', ')}` };
}

function nameOf({ target: { kind, namespace, name } }: RolloutProgress): string {
  return `${kind} ${namespace}/${name}`;
}

function whyNot({ pods, pending }: RolloutProgress): string {
  return pods.find(({ phase }) => phase === 'failed')?.why ?? pending;
}
