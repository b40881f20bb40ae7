/** What a command of the chain loads at once: the stages, and what their actions may do. */
export { chain } from '../features/chain.ts';
export { effects } from './effects.ts';
