import { isRecord, jsonAt, parsedJson, textAt } from '../../kernel/json.ts';
import type { ClusterReader } from '../../kernel/ports.ts';

/** The items of a list; none where the answer is no list. */
export function itemsIn(text: string): readonly object[] {
  return itemsOf(parsedJson(text));
}

function itemsOf(list: unknown): readonly object[] {
  const items = jsonAt(list, 'items');
  return Array.isArray(items) ? items.filter(isRecord) : [];
}

/** The items behind a path with a `limit`, page after page. Throws ApiFailure. */
export async function* pagesOf(cluster: Pick<ClusterReader, 'raw'>, path: string): AsyncGenerator<readonly object[]> {
  let after: string | undefined = '';
  while (after !== undefined) {
    const list = parsedJson(await cluster.raw(`${path}${after}`));
    yield itemsOf(list);
    const token = textAt(list, 'metadata', 'continue');
    after = token ? `&continue=${encodeURIComponent(token)}` : undefined;
  }
}
