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

/** The items behind a path with a `limit`, page after page, of `most` pages if that is told. Throws ApiFailure. */
export async function* pagesOf(
  cluster: Pick<ClusterReader, 'raw'>,
  path: string,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly object[]> {
  let after: string | undefined = '';
  for (let page = 0; page < most && after !== undefined; page += 1) {
    const list = parsedJson(await cluster.raw(`${path}${after}`));
    yield itemsOf(list);
    const token = textAt(list, 'metadata', 'continue');
    after = token ? `&continue=${encodeURIComponent(token)}` : undefined;
  }
}
