import { K } from '../../src/kernel/kinds.ts';
import { apiVersionOf, groupOf, type Kind, type KubeObject, type OwnerReference } from '../../src/kernel/object.ts';
import type { Cluster } from '../../src/kernel/ports.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { convertUid } from '../../src/kube/converted-uid.ts';
import { policyName, storedMetadata } from '../../src/kube/stored-metadata.ts';
import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { renamePolicies as renameStored } from '../../src/sandbox/policy-renaming.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import type { ApiObject } from '../control-plane/api.ts';
import { BETWEEN_SERVER, isPolicy, NEW_SERVER, OLD_SERVER, PREFIX, servedObject } from '../control-plane/service-objects.ts';
import { installedSandbox } from './sandbox-ports.ts';

/** The service of the sandbox, with controllers that rename stored policies. */
export const renaming: Profile = {
  ...netsvc,
  policyRenaming: { since: 'v3.32.0', prefix: 'default.', switchField: 'spec.controllers.policyMigration.enabled' },
  ...(calico.olderReaders ? { olderReaders: calico.olderReaders } : {}),
};

const OWNER_KINDS: readonly Kind[] = [
  { group: 'netsvc.io', version: 'v3', kind: 'IPPool', plural: 'ippools', namespaced: false },
  { group: 'netsvc.io', version: 'v3', kind: 'GlobalNetworkPolicy', plural: 'globalnetworkpolicies', namespaced: false },
  { group: 'netsvc.io', version: 'v3', kind: 'NetworkPolicy', plural: 'networkpolicies', namespaced: true },
];
const POLICIES = ['GlobalNetworkPolicy', 'NetworkPolicy'];
const DEPENDENTS: readonly Kind[] = [K.ConfigMap, K.Secret, K.ClusterRole];
const SPACE = 'default';

interface OwnerSandboxOptions {
  /** Those of the demo unless said. */
  readonly releasesFolder?: string;
  /** A stored policy, renamed itself by the new controllers, is among what is owned. */
  readonly ownedPolicy?: boolean;
  /** The installed API server converts UIDs already, as from v3.28, and finds policies by the names that it shows. */
  readonly converts?: boolean;
}

export type OwnerSandbox = Awaited<ReturnType<typeof ownerSandbox>>;

/** An installation whose objects own others, under a garbage collector that loses no time. */
export async function ownerSandbox({ releasesFolder, ownedPolicy = false, converts = false }: OwnerSandboxOptions = {}) {
  const scenario = await installedSandbox({ nodes: 1, ...(releasesFolder === undefined ? {} : { releasesFolder }) });
  const { store } = scenario.cluster;
  const crd = (kind: string) => find(scenario, kind);
  let rule = converts ? BETWEEN_SERVER : OLD_SERVER;
  const shown = (object: KubeObject, { plural }: Kind) => servedObject(object as ApiObject, 'netsvc.io', plural, rule) as KubeObject;
  const served = (kind: Kind) => store.list(crd(kind.kind)).map((object) => shown(object, kind));
  const asked = (kind: Kind, name: string, namespace: string | undefined): KubeObject | undefined => {
    const space = kind.namespaced ? namespace : undefined;
    // It looks for an object under the very name that it is asked for, or that name with the prefix (host endpoint notes 0.5).
    const isPrefixed = rule.prefixesPolicies && isPolicy(kind.plural);
    const stored = store.get(crd(kind.kind), isPrefixed ? `${PREFIX}${name}` : name, space);
    // Tests have policies that were never written through the API: they are found by their names all the same.
    const plain = isPrefixed && !stored ? store.get(crd(kind.kind), name, space) : undefined;
    if (plain && policyName(plain, renaming) === name && !storedMetadata(plain, renaming.apiGroup).stored) return shown(plain, kind);
    return stored && shown(stored, kind);
  };
  const deleted: string[] = [];

  const uidOf = ({ apiVersion, kind, name }: Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>, namespace?: string) => {
    const v3 = OWNER_KINDS.find((one) => one.kind === kind);
    if (!v3) return undefined;
    const space = v3.namespaced ? namespace : undefined;
    if (groupOf(apiVersion) === 'netsvc.io') return asked(v3, name, space)?.metadata.uid;
    return store.get(crd(kind), name, space)?.metadata.uid;
  };
  const isAlive = (reference: OwnerReference, namespace: string | undefined) =>
    !groupOf(reference.apiVersion).endsWith('netsvc.io') || uidOf(reference, namespace) === reference.uid;
  const dependents = () =>
    [...DEPENDENTS, crd('GlobalNetworkPolicy')].flatMap((kind) =>
      store.list(kind).flatMap(({ metadata }) => (plainName(metadata.name).startsWith('owned-') ? [{ kind, ...metadata }] : [])),
    );
  /** As strict as one can be: an object that has references and no living owner goes at once, whoever would still remember the owner. */
  const collect = () => {
    for (const { kind, name, namespace, ownerReferences = [] } of dependents()) {
      if (ownerReferences.length === 0 || ownerReferences.some((one) => isAlive(one, namespace))) continue;
      if (!store.get(kind, name, namespace)) continue;
      deleted.push(`${kind.kind}/${name}`);
      store.delete(kind, name, namespace);
    }
  };
  store.listen(({ kind }) => {
    if ([...OWNER_KINDS, ...DEPENDENTS].some((one) => one.plural === kind.plural)) collect();
  });
  const graph = () =>
    Object.fromEntries(
      dependents().map(({ kind, name, namespace, ownerReferences = [] }) => [
        `${kind.kind}/${plainName(name)}`,
        ownerReferences.map((one) => textOf(one, isAlive(one, namespace))),
      ]),
    );
  const put = (kind: Kind, name: string, ownerReferences: readonly OwnerReference[]) =>
    store.insert(kind, {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { name, ...(kind.namespaced ? { namespace: SPACE } : {}), ...(ownerReferences.length > 0 ? { ownerReferences } : {}) },
    });

  /** The new API server takes over: from now on UIDs are converted. */
  const switchUids = () => {
    rule = NEW_SERVER;
    collect();
  };
  /** The new controllers rename what is stored under its old name; so many policies at most. Returns how many that were. */
  const renamePolicies = (most = Number.POSITIVE_INFINITY) => {
    let renamed = 0;
    for (const kind of POLICIES) renamed += renameStored(store, crd(kind), renaming, most - renamed);
    collect();
    return renamed;
  };

  fill({ scenario, uidOf, put }, ownedPolicy);
  return {
    scenario,
    /** The cluster with the aggregated v3 API. */
    cluster: withV3(scenario.cluster, served, asked),
    /** What garbage collection deleted: must stay empty. */
    deleted,
    get upgraded() {
      return rule === NEW_SERVER;
    },
    /** The new API server takes over, then the new controllers rename stored policies, unless a person holds that. */
    upgrade({ held } = { held: false }) {
      switchUids();
      if (held) hold(scenario);
      else renamePolicies();
    },
    /** The old API server is back. */
    downgrade() {
      rule = converts ? BETWEEN_SERVER : OLD_SERVER;
      collect();
    },
    ...{ switchUids, renamePolicies, uidOf, put },
    /** Every dependent: its references as `kind/name`, with flags, and whether their owners live. */
    graph,
    /** Everything that is to be owned in the end, as before the upgrade. */
    wanted: graph(),
  };
}

function find({ cluster }: Scenario, kind: string): Kind {
  const found = cluster.kinds().find((one) => one.kind === kind && one.group === 'crd.netsvc.io');
  if (!found) throw new Error(`the sandbox has no kind ${kind}`);
  return found;
}

/** References as a person sees them, whatever the UIDs. */
export function textOf({ kind, name, controller, blockOwnerDeletion, apiVersion }: OwnerReference, alive: boolean): string {
  const flags = `${controller === undefined ? '' : ` controller=${controller}`}${blockOwnerDeletion === undefined ? '' : ` blocks=${blockOwnerDeletion}`}`;
  return `${groupOf(apiVersion)} ${kind}/${plainName(name)}${flags}${alive ? '' : ' DEAD'}`;
}

/** The stored name changes with the migration; the policy is the same. */
export const plainName = (name: string): string => name.replace(/^default\./, '');

function fill({ scenario, uidOf, put }: Pick<OwnerSandbox, 'scenario' | 'uidOf' | 'put'>, ownedPolicy: boolean): void {
  const { store } = scenario.cluster;
  const crd = (kind: string) => find(scenario, kind);
  const make = (kind: string, name: string, more: Pick<KubeObject['metadata'], 'annotations' | 'ownerReferences'> = {}): void => {
    const made = store.insert(crd(kind), {
      apiVersion: 'crd.netsvc.io/v1',
      kind,
      metadata: { name, ...(crd(kind).namespaced ? { namespace: SPACE } : {}), ...more },
      spec: kind === 'IPPool' ? { cidr: '10.7.0.0/16' } : { selector: 'all()' },
    });
    // UIDs are counted here: some read the same backwards, and would not change.
    if (convertUid(made.metadata.uid ?? '') !== made.metadata.uid) return;
    store.delete(crd(kind), name, made.metadata.namespace);
    make(kind, name, more);
  };
  const stored = { annotations: { 'netsvc.io/metadata': '{"uid":"x"}' } };
  make('IPPool', 'pool');
  make('GlobalNetworkPolicy', 'default.web', stored);
  make('NetworkPolicy', 'default.db', stored);
  const keeper: OwnerReference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'keeper', uid: 'keeper-uid' };
  const of = (kind: string, name: string, flags: Partial<OwnerReference> = {}, group = 'netsvc.io/v3'): OwnerReference => {
    const uid = uidOf({ apiVersion: group, kind, name }, SPACE);
    if (uid === undefined) throw new Error(`no ${kind} ${name}`);
    return { apiVersion: group, kind, name, uid, ...flags };
  };
  const v1 = 'crd.netsvc.io/v1';
  put(K.ConfigMap, 'owned-pool', [of('IPPool', 'pool', { controller: true, blockOwnerDeletion: true })]);
  put(K.ConfigMap, 'owned-mixed', [keeper, of('IPPool', 'pool'), of('NetworkPolicy', 'db', { blockOwnerDeletion: false })]);
  put(K.Secret, 'owned-web', [of('GlobalNetworkPolicy', 'web')]);
  put(K.Secret, 'owned-stored', [of('IPPool', 'pool', {}, v1), of('GlobalNetworkPolicy', 'default.web', {}, v1), keeper]);
  put(K.ClusterRole, 'owned-role', [of('GlobalNetworkPolicy', 'web'), of('IPPool', 'pool', { controller: true })]);
  if (!ownedPolicy) return;
  const ownerReferences = [keeper, of('IPPool', 'pool', { blockOwnerDeletion: true })];
  make('GlobalNetworkPolicy', 'default.owned-policy', { ...stored, ownerReferences });
}

/** The service's API server before the kinds that it stores. */
function withV3(
  cluster: Cluster,
  served: (kind: Kind) => readonly KubeObject[],
  asked: (kind: Kind, name: string, namespace: string | undefined) => KubeObject | undefined,
): Cluster {
  const v3 = (kind: Pick<Kind, 'group' | 'plural'>) => OWNER_KINDS.find((one) => one.group === kind.group && one.plural === kind.plural);
  return {
    ...cluster,
    async discover() {
      const { kinds, failed } = await cluster.discover();
      return { kinds: [...kinds, ...OWNER_KINDS], failed };
    },
    resolve: async (apiVersion, kind) =>
      OWNER_KINDS.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind) ?? cluster.resolve(apiVersion, kind),
    async list(kind, options = {}) {
      const mine = v3(kind);
      if (!mine) return cluster.list(kind, options);
      return served(mine).filter(({ metadata }) => options.namespace === undefined || metadata.namespace === options.namespace);
    },
    async get(kind, name, namespace) {
      const mine = v3(kind);
      return mine ? asked(mine, name, namespace) : cluster.get(kind, name, namespace);
    },
  };
}

function hold(scenario: Scenario): void {
  const { kind, name } = renaming.controllersConfiguration;
  const spec = { controllers: { policyMigration: { enabled: 'Disabled' } } };
  const configuration = { apiVersion: 'crd.netsvc.io/v1', kind, metadata: { name }, spec };
  scenario.cluster.store.insert(find(scenario, kind), configuration);
}
