import { K } from '../../core/kinds.ts';
import type { Kind, KubeObject } from '../../core/object.ts';
import type { ClusterReader } from '../../core/ports.ts';
import { attempt } from '../reading.ts';
import type { UnreadKind } from './survey.ts';

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

/**
 * Kinds that a CRD defines and that the server did not name: behind a balancer one API server answers for the next, which has just started or
 * lags behind, and nothing in its answer says so. A definition that is not established yet, or is being removed, promises nothing.
 * Where definitions may not be listed nothing is found: they are a kind themselves, and named as unread by whoever searches all.
 */
export async function undiscovered(cluster: Pick<ClusterReader, 'list' | 'get'>, named: readonly Kind[]): Promise<Undiscovered> {
  const definitions = K.CustomResourceDefinition;
  const none = { kinds: [], unread: [] };
  if (!named.some(({ group, plural }) => group === definitions.group && plural === definitions.plural)) return none;
  const listed = await attempt(() => cluster.list(definitions, { metadataOnly: true }));
  if ('unread' in listed) return none;
  const known = new Set(named.map(({ group, plural }) => `${plural}.${group}`));
  const absent = listed.value.map(({ metadata }) => metadata.name).filter((name) => !known.has(name));
  const found = await Promise.all(
    absent.map(async (name): Promise<Undiscovered> => {
      const read = await attempt(() => cluster.get(definitions, name));
      if ('unread' in read) return { kinds: [], unread: [{ kind: name, because: read.unread }] };
      return { kinds: read.value === undefined ? [] : definedBy(read.value), unread: [] };
    }),
  );
  return { kinds: found.flatMap(({ kinds }) => kinds), unread: found.flatMap(({ unread }) => unread) };
}

/** The kind at its first served version: any of them shows every object. */
function definedBy({ metadata, spec, status }: KubeObject): readonly Kind[] {
  const { group, names, scope, versions = [] } = (spec ?? {}) as Definition;
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  const isEstablished = conditions.some(({ type, status: holds }) => type === 'Established' && holds === 'True');
  const version = versions.find(({ served }) => served === true)?.name;
  if (!isEstablished || metadata.deletionTimestamp !== undefined || version === undefined) return [];
  if (group === undefined || names?.plural === undefined || names.kind === undefined) return [];
  return [{ group, version, kind: names.kind, plural: names.plural, namespaced: scope === 'Namespaced' }];
}
