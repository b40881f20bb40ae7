import type { ExpectationTypes } from '../../kernel/effect-type.ts';
import { refText } from '../../kernel/object.ts';
import type { Performed } from '../../kernel/performing.ts';
import type { RolloutProgress } from '../../kernel/rollout.ts';
import { type ApiServicesExpected, waitApiServices } from './wait-apiservice.ts';
import type { RolloutExpected } from './wait-rollout.ts';
import { waitRollout } from './wait-rollout.ts';

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly rollout: RolloutExpected;
    readonly 'apiservice-available': ApiServicesExpected;
  }
}

export const rolloutExpectations: Pick<ExpectationTypes, 'rollout' | 'apiservice-available'> = {
  rollout: {
    async wait({ cluster, clock }, { targets, maxFailed, goesOn }, { timeoutMs, stop, onProgress, leftBehind }) {
      const request = { targets, maxFailed, timeoutMs, signal: stop, onProgress, ...(goesOn ? { leftBehind } : {}) };
      return outcomeOf(await waitRollout(cluster, clock, request));
    },
    text: ({ targets }) => targets.map(refText).join(', '),
  },
  'apiservice-available': {
    async wait({ cluster, clock }, { names }, { timeoutMs, stop }) {
      await waitApiServices(cluster, clock, names, timeoutMs, stop);
      return {};
    },
    text: ({ names }) => `APIService ${names.join(', ')}`,
  },
};

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
