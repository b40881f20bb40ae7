import { registerOf } from '../engine/register.ts';
import { featureEffects } from '../features/chain.ts';

/** What a command of the chain loads at once: the stages, and what their actions may do. */
export { chain, chains } from '../features/chain.ts';

/** The one register that the engine, reports and digests are given. */
export const effects = registerOf(featureEffects);
