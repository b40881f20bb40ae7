import type { Hook } from '@oclif/core/hooks';
import { named } from '../cli/name.ts';

/** Before help and version. */
export const init: Hook.Init = async ({ config }) => {
  named(config);
};
