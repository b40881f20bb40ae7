import { groupOf, type Kind } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import type { Transport } from './transport.ts';

/** What a server serves: one entry per resource, at the first version in the server's order that has it. */
export interface Served {
  readonly kinds: readonly Kind[];
  /** Groups that could not be asked (an aggregated API whose backend is away). */
  readonly failed: readonly string[];
}

const AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');

interface Aggregated {
  readonly kind?: string;
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly freshness?: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind?: string };
        readonly scope?: string;
        readonly verbs?: readonly string[];
      }[];
    }[];
  }[];
}

interface Group {
  readonly name: string;
  readonly versions: readonly { readonly version: string }[];
  readonly preferredVersion?: { readonly version: string };
}

interface ResourceList {
  readonly resources?:
    | readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean; readonly verbs?: readonly string[] }[]
    | null;
}

/**
 * Aggregated discovery (two requests), or group by group on servers without it. Throws if the server is not ready: its list may then
 * silently lack kinds of CRDs and aggregated APIs.
 */
export async function discoverAll(transport: Transport): Promise<Served> {
  await assertReady(transport);
  const accept = `${AGGREGATED},application/json`;
  const [core, named] = await Promise.all([
    transport.json<Aggregated>({ path: '/api', accept }),
    transport.json<Aggregated & { readonly groups?: readonly Group[] }>({ path: '/apis', accept }),
  ]);
  if (core.kind === 'APIGroupDiscoveryList' && named.kind === 'APIGroupDiscoveryList') return fromAggregated([core, named]);
  return groupByGroup(transport, named.groups ?? (await transport.json<{ readonly groups: readonly Group[] }>({ path: '/apis' })).groups);
}

/** Only the server's own 500 counts: a missing right is no obstacle, and a server that shuts down still knows all its kinds. */
async function assertReady(transport: Transport): Promise<void> {
  try {
    await transport.text({ path: '/readyz?exclude=shutdown', accept: '*/*' });
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure)) throw thrown;
    if (thrown.status !== 500) return;
    throw new ApiFailure(503, 'NotReady', 'the API server is not ready (/readyz): it may not know all of its kinds yet');
  }
}

function fromAggregated(documents: readonly Aggregated[]): Served {
  const failed = new Set<string>();
  const kinds = documents
    .flatMap((one) => one.items ?? [])
    .flatMap(({ metadata, versions }) => {
      const group = metadata?.name ?? '';
      return (versions ?? []).flatMap(({ version, freshness, resources }) => {
        if (freshness === 'Stale') failed.add(group);
        return (resources ?? []).map(({ resource: plural, responseKind, scope, verbs }) => {
          const kind = { group, version, kind: responseKind?.kind ?? '', plural, namespaced: scope === 'Namespaced' };
          return { ...kind, ...listedBy(verbs) };
        });
      });
    });
  return { kinds: firstOf(kinds), failed: [...failed] };
}

async function groupByGroup(transport: Transport, groups: readonly Group[]): Promise<Served> {
  const wanted = [{ group: '', versions: ['v1'] }, ...groups.map((one) => ({ group: one.name, versions: inOrder(one) }))];
  const failed = new Set<string>();
  const asked = wanted.flatMap(({ group, versions }) =>
    versions.map((version) =>
      resourcesOf(transport, group, version).catch((thrown: unknown) => {
        if (!(thrown instanceof ApiFailure)) throw thrown;
        failed.add(group);
        return [];
      }),
    ),
  );
  return { kinds: firstOf((await Promise.all(asked)).flat()), failed: [...failed] };
}

function inOrder(group: Group): readonly string[] {
  const preferred = group.preferredVersion?.version;
  const versions = group.versions.map((one) => one.version);
  return preferred ? [preferred, ...versions.filter((one) => one !== preferred)] : versions;
}

function listedBy(verbs: readonly string[] | undefined): Pick<Kind, 'unlisted'> {
  return verbs === undefined || verbs.includes('list') ? {} : { unlisted: true };
}

/** Of each resource the first; those without a kind are none. */
function firstOf(kinds: readonly Kind[]): readonly Kind[] {
  const found = new Map<string, Kind>();
  for (const kind of kinds) {
    const key = `${kind.group}/${kind.plural}`;
    if (kind.kind !== '' && !found.has(key)) found.set(key, kind);
  }
  return [...found.values()];
}

async function resourcesOf(transport: Transport, group: string, version: string): Promise<readonly Kind[]> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const { resources } = await transport.json<ResourceList>({ path });
  return (resources ?? [])
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced, verbs }) => ({ group, version, kind, plural: name, namespaced, ...listedBy(verbs) }));
}

/** Finds resources by apiVersion and kind. What is found is remembered; what is not may be installed later. */
export function resolverOf(transport: Transport): (apiVersion: string, kind: string) => Promise<Kind | undefined> {
  const known = new Map<string, Promise<readonly Kind[]>>();
  async function kindsOf(apiVersion: string): Promise<readonly Kind[]> {
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    return resourcesOf(transport, groupOf(apiVersion), version).catch((thrown: unknown) => {
      if (thrown instanceof ApiFailure && thrown.status === 404) return [];
      throw thrown;
    });
  }
  return async (apiVersion, kind) => {
    const remembered = (await known.get(apiVersion)?.catch(() => []))?.find((one) => one.kind === kind);
    if (remembered) return remembered;
    const asked = kindsOf(apiVersion);
    known.set(apiVersion, asked);
    return (await asked).find((one) => one.kind === kind);
  };
}
