import type { PreconditionTypes } from '../../kernel/effect-type.ts';
import type { RestartExpected } from './still-restartable.ts';
import { assertRestartable } from './still-restartable.ts';

declare module '../../kernel/action.ts' {
  interface Preconditions {
    readonly restartable: RestartExpected;
  }
}

export const sidecarPreconditions: Pick<PreconditionTypes, 'restartable'> = {
  restartable: { assert: ({ cluster }, expected) => assertRestartable(cluster, expected) },
};
