import type { Effect } from '../../kernel/action.ts';
import type { EnginePorts } from '../../kernel/engine-ports.ts';
import { Fault } from '../../kernel/fault.ts';
import { askGuid, guidIn } from './store-identity.ts';

const LIMIT_MS = 15_000;

/**
 * Right before a write of the service's CLI to a key-value store: its configuration file, or what its endpoints lead to, may have changed
 * since the store was proved. Throws Fault `failed` if it is another one by now, or cannot be told.
 */
export async function assertSameStore(
  { tools }: Pick<EnginePorts, 'tools'>,
  { run, program, store }: Pick<Extract<Effect, { type: 'exec' }>, 'run' | 'program' | 'store'>,
): Promise<void> {
  if (run.tool !== 'netsvcctl') return;
  const config = run.args.filter((argument) => argument.startsWith('--config='));
  if (config.length === 0) return;
  if (store === undefined) throw new Error(`a write by ${config.join(' ')} names no store that it is meant for`);
  const answer = guidIn(
    store,
    await tools.run(askGuid(store, config), { timeoutMs: LIMIT_MS, ...(program === undefined ? {} : { program }) }),
  );
  if ('guid' in answer && answer.guid === store.guid) return;
  const now = 'guid' in answer ? `it has ${store.guidField} ${answer.guid}, not ${store.guid}` : answer.because;
  throw new Fault('failed', `this is another key-value store than the one confirmed, or it cannot be told: ${now}`, [
    `check ${config.join(' ').slice('--config='.length)} and its endpoints; this write was not sent`,
    'then continue with the same command: what is done stays done',
  ]);
}
