import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Call, Said, StandInState, Stored, StoredIn } from './stand-in-cli-state.ts';

/** A document of a file, as the v3 API takes it. */
export interface Document {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: object; readonly annotations?: object };
  readonly spec?: object;
}

/** The documents that `-f` names: of a file, or `-` for what comes on stdin. JSON or YAML, several or a List. */
export function documentsOf({ options, stdin }: Call): readonly Document[] {
  const file = options.get('-f') ?? options.get('--filename') ?? '';
  const text = file === '-' ? stdin : readFileSync(file, 'utf8');
  return parsed(text).flatMap((one) => one.items ?? [one]);
}

type Parsed = Document & { readonly items?: readonly Document[] };

function parsed(text: string): readonly Parsed[] {
  if (/^\s*[{[]/.test(text)) {
    const value = JSON.parse(text) as Parsed | readonly Parsed[];
    return Array.isArray(value) ? value : [value as Parsed];
  }
  // Loaded where it is needed: the stand-in is started for every single call.
  const { parseAllDocuments } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  return [...parseAllDocuments(text)].map((document) => document.toJS() as Parsed | null).filter((one) => one !== null);
}

/** What every new client creates first, where it is missing; old ones write the object alone (cli notes 1.1). */
const TIERS: Stored[string] = {
  default: { metadata: { name: 'default' }, spec: { order: 1_000_000, defaultAction: 'Deny' } },
  'kube-admin': { metadata: { name: 'kube-admin' }, spec: { order: 1000, defaultAction: 'Pass' } },
  'kube-baseline': { metadata: { name: 'kube-baseline' }, spec: { order: 10_000_000, defaultAction: 'Pass' } },
};

const WARNINGS = 'I1121 12:00:00.000000       1 warnings.go:107] "Warning: unknown field \\"status\\""\n'.repeat(3);
const NO_TIERS =
  "failed to apply 'GlobalNetworkPolicy' resource: [resource does not exist: Tier(default) with error: the server could not find the requested resource (get Tiers.crd.projectcalico.org default)]\n";

/**
 * `apply -f FILE`: creates what is missing and replaces what is there, spec, labels and annotations alike (cli notes 1.1, 1.6, 1.7).
 * The words for documents of several kinds were not recorded: such a call fails in words of its own.
 */
export function apply(call: Call, store: StoredIn, state: StandInState, storedName: (kind: string, name: string) => string): Said {
  if (!call.options.has('-f') && !call.options.has('--filename')) return { err: 'Usage:\n', exit: 1 };
  const read = documents(call);
  if ('err' in read) return read;
  const kinds = [...new Set(read.found.map(({ kind }) => kind))];
  const [kind = ''] = kinds;
  if (kinds.length !== 1) return { err: 'the stand-in applies documents of one kind at a time\n', exit: 1 };
  const [isNew, inApi] = [state.generation === 'new', store === state.kubernetes];
  if (isNew && !initialised(store, inApi) && kind === 'GlobalNetworkPolicy') return { err: NO_TIERS, exit: 1 };
  const all = store.objects[kind] ?? {};
  const applied = read.found.map(({ metadata, spec }) => {
    const object: Stored[string][string] = { metadata, ...(spec === undefined ? {} : { spec }) };
    return [storedName(kind, metadata.name), isNew && kind === 'GlobalNetworkPolicy' ? inTier(object) : object] as const;
  });
  store.objects[kind] = { ...all, ...Object.fromEntries(applied) };
  const out = `Successfully applied ${read.found.length} '${kind}' resource(s)\n`;
  return { out, ...(isNew && inApi ? { err: WARNINGS } : {}), exit: 0 };
}

function documents(call: Call): { readonly found: readonly Document[] } | { readonly err: string; readonly exit: 1 } {
  try {
    return { found: documentsOf(call) };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
    return { err: `failed to execute command: open ${call.options.get('-f')}: no such file or directory\n`, exit: 1 };
  }
}

/** ClusterInformation, without a version, and the tiers; false if the cluster has no tiers, with ClusterInformation created all the same. */
function initialised(store: StoredIn, inApi: boolean): boolean {
  store.clusterInformation ??= inApi ? { type: 'kdd' } : {};
  if (store.isServed && !store.isServed('Tier')) return false;
  store.objects.Tier = { ...structuredClone(TIERS), ...store.objects.Tier };
  return true;
}

/** New clients say the tier in the object, old ones in the name under which they store it. */
function inTier(object: Stored[string][string]): Stored[string][string] {
  const { metadata, spec } = object as { metadata: Document['metadata']; spec?: object };
  const labels = { ...metadata.labels, 'projectcalico.org/tier': 'default' };
  return { metadata: { ...metadata, labels }, spec: { tier: 'default', ...spec } };
}
