import type { NotRead, Reading } from '../../kernel/check.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { isOfGroup, K } from '../../kernel/kinds.ts';
import { crdName, type Kind, type KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { conditionOf } from '../../kube/pod-facts.ts';
import { attempt } from '../survey/index.ts';

export interface UnreadKind {
  /** `secrets`, `deployments.apps`, or a whole group. */
  readonly kind: string;
  readonly because: string;
  readonly isAway?: true;
}

export function unreadKind(kind: string, { unread, isAway }: NotRead): UnreadKind {
  return { kind, because: unread, ...(isAway ? { isAway } : {}) };
}

interface Definition {
  readonly group?: string;
  readonly names?: { readonly kind?: string; readonly plural?: string };
  readonly scope?: string;
  readonly versions?: readonly { readonly name: string; readonly served?: boolean }[];
}

/** Kinds that have to be searched although the server did not name them, and those of which not even the definition could be read. */
export interface Undiscovered {
  readonly kinds: readonly Kind[];
  readonly unread: readonly UnreadKind[];
}

const DEFINITIONS = K.CustomResourceDefinition;
const CONCURRENT_READS = 6;

/** Names of all CRDs: what a server that names its kinds is held to. */
export async function readDefined(cluster: Pick<ClusterReader, 'list'>): Promise<Reading<readonly string[]>> {
  return attempt(async () => (await cluster.list(DEFINITIONS, { metadataOnly: true })).map(({ metadata }) => metadata.name));
}

/** Kinds of CRDs that discovery did not name, as an API server behind a load balancer may lag. Only established ones count. */
export async function undiscovered(
  cluster: Pick<ClusterReader, 'get'>,
  named: readonly Kind[],
  defined: Reading<readonly string[]>,
): Promise<Undiscovered> {
  if (!named.some(({ group, plural }) => group === DEFINITIONS.group && plural === DEFINITIONS.plural)) return { kinds: [], unread: [] };
  if ('unread' in defined) return { kinds: [], unread: [unreadKind(crdName(DEFINITIONS), defined)] };
  const known = new Set(named.map(crdName));
  const absent = defined.value.filter((name) => !known.has(name));
  const found = await eachOf(absent, CONCURRENT_READS, async (name): Promise<Undiscovered> => {
    const read = await attempt(() => cluster.get(DEFINITIONS, name));
    if ('unread' in read) return { kinds: [], unread: [unreadKind(name, read)] };
    return { kinds: read.value === undefined ? [] : definedBy(read.value), unread: [] };
  });
  return { kinds: found.flatMap(({ kinds }) => kinds), unread: found.flatMap(({ unread }) => unread) };
}

/** The kind at its first served version: any of them shows every object. */
function definedBy(definition: KubeObject): readonly Kind[] {
  const { metadata, spec } = definition;
  const { group, names, scope, versions = [] } = (spec ?? {}) as Definition;
  const isEstablished = conditionOf(definition, 'Established')?.status === 'True';
  const version = versions.find(({ served }) => served === true)?.name;
  if (!isEstablished || metadata.deletionTimestamp !== undefined || version === undefined) return [];
  if (group === undefined || names?.plural === undefined || names.kind === undefined) return [];
  return [{ group, version, kind: names.kind, plural: names.plural, namespaced: scope === 'Namespaced' }];
}

/** True if another server answers for the kind's group: it hides kinds of leftover CRDs, from garbage collection too. */
export async function isHidden(cluster: Pick<ClusterReader, 'get'>, { group, version }: Kind): Promise<boolean> {
  const read = await attempt(() => cluster.get(K.APIService, `${version}.${group}`));
  return 'value' in read && (read.value?.spec as { readonly service?: unknown } | undefined)?.service !== undefined;
}

/** Something could not be searched, and the only reason is that the server of the aggregated group is away. */
export function isApiAway(unread: readonly UnreadKind[], apiGroup: string): boolean {
  return unread.length > 0 && unread.every(({ kind, isAway }) => kind === apiGroup || (isOfGroup(kind, apiGroup) && isAway));
}
