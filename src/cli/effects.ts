import { registerOf } from '../engine/register.ts';
import { featureEffects } from '../features/effects.ts';

/** What actions may do: the one register that the engine, reports and digests are given. */
export const effects = registerOf(featureEffects);
