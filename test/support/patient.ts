import { setTimeout as wait } from 'node:timers/promises';
import { type Api, ApiError } from '../control-plane/api.ts';

/**
 * What an API server behind the first one answers, which a busy machine may keep waiting longer than the first one does (503), and kinds
 * whose definition has just been changed (429, "storage is (re)initializing").
 */
export async function patient<T>(api: Api, path: string): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await api.get<T>(path);
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || (thrown.status !== 503 && thrown.status !== 429) || attempt === PATIENCE) throw thrown;
      await wait(1_000);
    }
}
/** The first server looks every half minute whether the one behind it answers again. */
const PATIENCE = 40;
