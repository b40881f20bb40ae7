import { type EndState, readEndState } from './end-state.ts';

type Api = Parameters<typeof readEndState>[0];

/** What a rollback never puts back: a closed list. */
const NEVER_BACK: readonly (readonly [pattern: RegExp, because: string])[] = [
  [/\/customresourcedefinitions /, 'CRDs never go back'],
  [/\/secrets kube-system\/netsvc-upgrade-/, 'what this program keeps'],
  [/\/clusterinformations /, 'the agents write it'],
  [/\/tigerastatuses /, 'statuses'],
  [/\/installations .*/, 'the newer operator has filled in its defaults'],
];

/** Annotations of kubectl and of controllers that count writes. */
const COUNTED = [
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/revision',
  'deprecated.daemonset.template.generation',
];

/** Objects of the cluster as a user knows them: without generations, managed fields, UIDs, resource versions and statuses. */
export async function readObjects(api: Api): Promise<EndState> {
  const all = Object.entries(await readEndState(api));
  return Object.fromEntries(
    all.filter(([key]) => !NEVER_BACK.some(([pattern]) => pattern.test(key))).map(([key, one]) => [key, lean(one)]),
  );
}

interface Told {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

function lean(object: unknown): unknown {
  const { metadata = {}, ...rest } = object as Told;
  const { owners: _, generation: __, annotations = {}, ...more } = metadata as Record<string, unknown> & NonNullable<Told['metadata']>;
  const own = Object.fromEntries(Object.entries(annotations).filter(([name]) => !COUNTED.includes(name)));
  return { ...rest, metadata: { ...more, ...(Object.keys(own).length > 0 ? { annotations: own } : {}) } };
}
