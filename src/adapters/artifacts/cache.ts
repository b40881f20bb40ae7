import { Fault } from '../../kernel/fault.ts';
import type { Artifact, Artifacts } from '../../kernel/ports.ts';

/**
 * Each release file is fetched once, however often it is asked for: stages are surveyed for the plan and again before
 * they act, and both must see the same bytes. What was not there, or could not be fetched, is asked for again.
 */
export function cachedArtifacts(inner: Artifacts): Artifacts {
  const files = new Map<string, Promise<Artifact>>();
  const present = new Map<string, Promise<boolean>>();
  return {
    ...inner,
    async fetch(release, path, limitBytes) {
      const key = keyOf(release, path);
      const file = await remembered(files, key, () => inner.fetch(release, path, limitBytes));
      if (limitBytes === undefined || file.bytes.length <= limitBytes) return file;
      throw new Fault('failed', `${file.url} is larger than the limit of ${limitBytes} bytes`, ['check that it is the right file']);
    },
    async has(release, path) {
      const key = keyOf(release, path);
      if (files.has(key)) return true;
      const isThere = await remembered(present, key, () => inner.has(release, path));
      if (!isThere) present.delete(key);
      return isThere;
    },
  };
}

function keyOf(release: string, path: string): string {
  return `${release} ${path}`;
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const answer = known.get(key) ?? ask();
  known.set(key, answer);
  answer.catch(() => known.delete(key));
  return answer;
}
