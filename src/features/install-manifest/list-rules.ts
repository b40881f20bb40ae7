import { groupOf, type KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { KindRules, ListRules } from '../../kube/list-keys.ts';
import { listRulesOf } from '../../manifest/openapi-lists.ts';
import { attempt, eachOf } from '../survey/index.ts';

/** Requests under way at a time: these documents are large. */
const WIDTH = 2;

/** Kinds without lists that are merged, or whose lists have rules of their own. */
const OWN_RULES = new Set(['ConfigMap', 'Secret', 'Role', 'ClusterRole', 'CustomResourceDefinition']);

/** How the server identifies list items, one request per group and version; without an answer the table applies. */
export async function readListRules(cluster: Pick<ClusterReader, 'raw'>, objects: readonly KubeObject[]): Promise<ListRules> {
  const merged = objects.filter(({ kind, ...fields }) => !OWN_RULES.has(kind) && hasList(fields));
  const versions = [...new Set(merged.map(({ apiVersion }) => apiVersion))];
  const read = await eachOf(versions, WIDTH, async (apiVersion): Promise<readonly (readonly [string, KindRules])[]> => {
    const document = await attempt(async () => parsed(await cluster.raw(pathOf(apiVersion))));
    if ('unread' in document) return [];
    const kinds = [...new Set(merged.filter((one) => one.apiVersion === apiVersion).map(({ kind }) => kind))];
    return kinds.flatMap((kind) => {
      const rules = listRulesOf(document.value, apiVersion, kind);
      return rules ? [[`${apiVersion} ${kind}`, rules] as const] : [];
    });
  });
  return new Map(read.flat());
}

function pathOf(apiVersion: string): string {
  return `/openapi/v3/${groupOf(apiVersion) === '' ? 'api' : 'apis'}/${apiVersion}`;
}

/** A proxy's page of its own is no schema. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasList(value: unknown): boolean {
  if (Array.isArray(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasList);
}
