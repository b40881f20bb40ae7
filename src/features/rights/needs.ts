import type { HelmStorage } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { crdName, groupOf, type Kind } from '../../kernel/object.ts';
import type { OperatorCrossings } from '../../kernel/operator-names.ts';
import type { Profile } from '../../kernel/profile.ts';
import { RECORD_NAME, STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { allow, type Permission } from './permission.ts';

/** A kind that the target's documents hold, and where. */
export interface DocumentKind {
  readonly kind: Kind;
  readonly namespace?: string;
  /** Of the documents, where they are known. */
  readonly names?: readonly string[];
}

/** The lease of the lock: of this name beside the state. */
const LOCK = 'netsvc-upgrade';

/** Kinds of the documents of a full install, an operator and their add-ons: the roles are made for these. */
export const documentKinds: readonly DocumentKind[] = [
  K.Namespace,
  K.ServiceAccount,
  K.ConfigMap,
  K.Secret,
  K.Service,
  K.DaemonSet,
  K.Deployment,
  K.PodDisruptionBudget,
  K.ClusterRole,
  K.ClusterRoleBinding,
  K.Role,
  K.RoleBinding,
  K.CustomResourceDefinition,
  K.APIService,
  { group: 'storage.k8s.io', version: 'v1', kind: 'CSIDriver', plural: 'csidrivers', namespaced: false },
  K.NetworkPolicy,
].map((kind) => ({ kind }));

/** The chart release as far as the rights on it go. */
export interface ChartScope {
  readonly namespace: string;
  /** Where the release is moved to. */
  readonly movesTo?: string;
  readonly storage: HelmStorage;
  /** The release is at the target: it is only read. */
  readonly upgraded: boolean;
  /** Kinds that the installed revision holds. */
  readonly installed: readonly DocumentKind[];
  /** Kinds of the objects that the new revision no longer has. */
  readonly removed: readonly DocumentKind[];
}

/** What the permissions depend on. */
export interface PlanScope {
  readonly documents: readonly DocumentKind[];
  /** Where the chart tool keeps the release; without it none is upgraded. */
  readonly chart?: ChartScope;
  /** False where the mesh is known to be without the policy sidecar: then nothing of it is touched. */
  readonly meshed: boolean;
  /** False where it is known that nothing is kept in a key-value store. */
  readonly kvstore?: boolean;
  /** False where it is known that no operator runs the service. */
  readonly operated?: boolean;
  /** Where Jobs try the network of new pods, if they are to. */
  readonly probeNamespace?: string;
  /** What the server serves; without it every kind counts as served. */
  readonly served?: readonly Pick<Kind, 'group' | 'plural'>[];
}

/** What a part of the work asks of the account. */
export type Needs = (profile: Profile, scope: PlanScope) => readonly Permission[];

declare module '../../kernel/stage.ts' {
  interface Stage<Facts> {
    /** What it asks of the account. The roles of commands are made of it. */
    readonly needs: readonly Needs[];
  }
}

/** Every command that asks a cluster. */
export const session: Needs = () => allow(['get'], K.Namespace, 'which cluster this is', { names: ['kube-system'] });

/** Lock and run record alone, by their names: whoever has no more cannot read tokens of others. */
export const recordRead: Needs = () => [
  ...allow(['get'], K.Lease, 'lock', { namespace: STATE_NAMESPACE, names: [LOCK] }),
  ...allow(['get'], K.Secret, 'run record', { namespace: STATE_NAMESPACE, names: [RECORD_NAME] }),
];

/** What is kept beside the record as well: its names are made during the run. */
export const stateRead: Needs = (...of) => [
  ...recordRead(...of),
  ...allow(['get', 'list'], K.Secret, 'run record', { namespace: STATE_NAMESPACE }),
];

export const lock: Needs = () => allow(['create', 'get', 'update'], K.Lease, 'lock', { namespace: STATE_NAMESPACE, names: [LOCK] });

const TRIED = 'Jobs that try the target on the nodes (--probe-nodes)';

/** `preflight --probe-nodes`. */
export const probe: Needs = () => [
  ...allow(['create', 'delete'], K.Job, TRIED, { required: false }),
  ...allow(['create', 'list'], K.Pod, TRIED, { required: false }),
  ...allow(['get'], [K.Node, K.DaemonSet, K.ConfigMap], TRIED, { required: false }),
  ...allow(['list'], K.Event, TRIED, { required: false }),
];

const POD_LOG = { group: K.Pod.group, plural: K.Pod.plural, subresource: 'log' };

/** `--probe-network`: Jobs in the namespace that is named for them. */
export const networkProbe: Needs = (_, { probeNamespace: namespace }) => {
  if (namespace === undefined) return [];
  const why = 'Jobs that try the network of new pods (--probe-network)';
  return [
    ...allow(['create', 'delete'], K.Job, why, { namespace }),
    ...allow(['list'], K.Pod, why, { namespace }),
    ...allow(['get'], POD_LOG, 'what the pods say of their connections', { namespace }),
    ...allow(['list'], K.Event, 'why such a pod does not start', { namespace, required: false }),
  ];
};

/** Where a run begins to write and where it ends; without the right nothing is told. */
export const events: Needs = () => {
  const why = 'events of the agents’ DaemonSet that tell of the run';
  return [...allow(['get'], K.DaemonSet, why, { required: false }), ...allow(['create'], K.Event, why, { required: false })];
};

export const record: Needs = () => allow(['create', 'get', 'list', 'update'], K.Secret, 'run record', { namespace: STATE_NAMESPACE });

export const detection: Needs = ({ crdGroup, apiGroup, operator, clusterInformation, procedures }) => {
  const { plural } = clusterInformation;
  const why = 'what is installed';
  return [
    ...allow(['list'], [K.DaemonSet, K.Deployment, K.Pod, K.ConfigMap, K.Node], why),
    ...allow(['get', 'list'], K.CustomResourceDefinition, why),
    // Without it a release is identified by what it left on its objects.
    ...allow(['list'], K.Secret, 'releases of a chart, by their metadata', { required: false }),
    ...allow(['list'], operator.installationKind, why),
    ...allow(['get'], { group: crdGroup, plural }, why, { names: ['default'] }),
    ...allow(['get'], { group: apiGroup, plural }, why, { required: false, names: ['default'] }),
    ...[crdGroup, apiGroup].flatMap((group) =>
      allow(['list'], { group, plural: 'felixconfigurations' }, 'the data plane of the agents', { required: false }),
    ),
    ...(operator.crossings?.findings ?? []).flatMap((row) =>
      'service' in row
        ? allow(['get'], K.Service, 'where the operator runs', { namespace: row.namespace, names: [row.service], required: false })
        : [],
    ),
    ...(procedures ? allow(['list'], procedures.migration, 'a migration of the datastore that is under way', { required: false }) : []),
  ];
};

export const storedResources: Needs = ({ crdGroup }) =>
  allow(['get', 'list'], { group: crdGroup, plural: '*' }, 'stored resources of the service');

/** Of a namespace or a service account that a host endpoint names. */
export const endpointProfiles: Needs = () => [
  ...allow(['get'], K.Namespace, 'profiles of host endpoints'),
  ...allow(['get'], K.ServiceAccount, 'profiles of host endpoints', { required: false }),
];

export const removedKinds: Needs = ({ removedKinds: removed }) =>
  allow(['list'], removed, 'resources that the target does not enforce', { required: false });

export const ownerSearch: Needs = () =>
  allow(['list'], { group: '*', plural: '*' }, 'search for owner references, metadata only', { required: false });

/**
 * Removing owner references and putting them back. It lacks `patch` on the dependents, as no role should change every kind: grant it for
 * the kinds that `ownerrefs list` names (docs/reference/permissions.md).
 */
export const ownerReferences: Needs = ({ apiGroup }) => [
  ...allow(['get', 'list'], { group: apiGroup, plural: '*' }, 'owners and their UIDs', { required: false }),
  ...allow(['get', 'list', 'watch'], K.APIService, 'the new API server, before references are put back'),
];

const holds = ({ operator: { typha, ignores } }: Profile, { operated = true }: PlanScope): boolean =>
  operated && typha !== undefined && ignores !== undefined;

/** Typha, which is kept from the operator until every agent is upgraded, and its ReplicaSets, to which annotations are copied. */
export const typhaHold: Needs = (...of) => {
  const why = 'hold of Typha until the agents are upgraded, of the controllers (--until agents), and of the agents in a rollback';
  return holds(...of)
    ? [
        ...allow(['get', 'list', 'patch', 'watch'], K.Deployment, why),
        ...allow(['list', 'patch'], K.ReplicaSet, why),
        ...allow(['get', 'list', 'patch'], K.DaemonSet, why),
      ]
    : [];
};

/** The Installation, which says for a while how many agents may be away at a time. */
export const agentPace: Needs = ({ operator: { agentStrategy, installationKind: kind } }, { operated = true }) => {
  if (!operated || agentStrategy === undefined) return [];
  const why = 'pace of the agents, for a run alone (--max-unavailable)';
  return allow(['get', 'patch'], kind, why, { names: ['default'], required: false });
};

/** Whether an interrupted run has left it so. */
export const holdRead: Needs = (profile, scope) => {
  const { typha, controllers } = profile.operator;
  const names = [...(typha ? [typha.name] : []), controllers.name];
  return holds(profile, scope)
    ? [...allow(['get'], K.Deployment, STILL, { names, required: false }), ...allow(['list'], K.DaemonSet, STILL, { required: false })]
    : [];
};

/** `--canary`: the agents of some nodes are replaced one by one; the DaemonSet itself is among the documents. */
export const canary: Needs = (_, { documents, operated }) => {
  const namespaces = new Set(documents.filter(({ kind }) => kind.plural === K.DaemonSet.plural).map(({ namespace }) => namespace ?? ''));
  if (operated === true) return [];
  return [...namespaces].flatMap((namespace) =>
    allow(['delete'], K.Pod, 'agents of the nodes of --canary', { namespace, required: false }),
  );
};

/** Whether an unfinished run has given the agents an update strategy for a while. */
export const strategyRead: Needs = ({ variants, operator }, { operated }) => {
  const names = [...new Set(variants.map(({ agent }) => agent.name))];
  const why = 'the update strategy of the agents';
  return [
    ...(operated ? [] : allow(['get'], K.DaemonSet, why, { names, required: false })),
    ...(operated !== false && operator.agentStrategy ? allow(['list'], operator.installationKind, why, { required: false }) : []),
  ];
};

export const holdCopies: Needs = (...of) => (holds(...of) ? allow(['list'], [K.ReplicaSet, K.DaemonSet], STILL, { required: false }) : []);

const STILL = 'whether Typha or an agent is still held';

/** What the operator says of its components, before it is replaced. */
export const statuses: Needs = ({ operator: { end }, operatorGroup: group }, { operated = true }) =>
  end && operated ? allow(['list'], { group, plural: end.statusPlural }, 'whether the operator is well') : [];

/** By which digests the images of a release are known: unread, a program could be taken for one of another release. */
export const pinnedImages: Needs = ({ operator: { crossings }, operatorGroup: group }, { operated = true }) =>
  crossings && operated ? allow(['list'], { group, plural: crossings.imageSet.plural }, 'digests by which images are pinned') : [];

/** Where an operator runs the components: what the end of its work is identified by. */
export const operatorEnd: Needs = (
  { operator, operatorGroup: group, crdGroup, clusterInformation: { plural, name } },
  { operated = true },
) => {
  if (!operated) return [];
  const why = 'the end of the operator’s work';
  if (operator.end)
    return [
      ...allow(['get', 'list'], { group, plural: '*' }, why, { required: false }),
      ...allow(['get'], [K.APIService, K.Deployment], why, { required: false }),
      ...allow(['get'], K.Namespace, why, { names: [operator.end.api.oldNamespace], required: false }),
    ];
  return [
    ...allow(['list'], operator.installationKind, why, { required: false }),
    ...allow(['list'], { group: crdGroup, plural }, why, { names: [name], required: false }),
    ...allow(['list'], [K.APIService, K.Service, K.DaemonSet, K.Deployment, K.Pod, K.Node], why, { required: false }),
  ];
};

/** What the target's operator evaluates otherwise than the old one. */
export const crossings: Needs = ({ operator: { crossings: names, end, installationKind }, operatorGroup: group }, { operated = true }) => {
  if (!names) return [];
  const why = 'settings that the target’s operator treats differently';
  const list = (plural: string, required: boolean) => allow(['list'], { group, plural }, why, { required });
  const switched = (end?.statuses ?? []).flatMap(({ plural, needs }) => [plural, needs?.plural].filter((one) => one !== undefined));
  const policies = { group: 'admissionregistration.k8s.io', plural: 'validatingadmissionpolicies' };
  return [
    // Errors are evaluated by them: unread they would stop the upgrade.
    ...[installationKind.plural, names.imageSet.plural, names.gateway.plural, ...switched, ...(end ? [end.statusPlural] : [])].flatMap(
      (plural) => list(plural, true),
    ),
    ...allow(['get'], policies, why, { required: false }),
    ...(operated ? [...certificates(names.certificates), ...reaching(names.guarded)] : []),
  ];
};

function reaching(guarded: OperatorCrossings['guarded']): readonly Permission[] {
  const kinds = (guarded?.reachedBy ?? []).map(({ apiVersion, plural }) => ({ group: groupOf(apiVersion), plural }));
  return [
    ...allow(['list'], kinds, 'what leads to pods that the target guards', { required: false }),
    ...(guarded ? allow(['get'], K.EndpointSlice, 'ports of the API servers', { names: ['kubernetes'], required: false }) : []),
  ];
}

/** The API gives a Secret whole; of these the certificate alone is decoded. */
function certificates(names: OperatorCrossings['certificates']): readonly Permission[] {
  if (!names) return [];
  const { namespace, secrets, api } = names;
  const why = 'issuer, names and end of certificates that the operator keeps';
  return allow(['get'], K.Secret, why, { namespace, names: [...secrets, api.secret], required: false });
}

/** The journal of owner references, in Secrets beside the run record. */
export const journal: Needs = () =>
  allow(['create', 'delete', 'get', 'list', 'update'], K.Secret, 'journal of owner references', {
    namespace: STATE_NAMESPACE,
    required: false,
  });

export const rollout: Needs = () => [
  ...allow(['list', 'watch'], [K.Node, K.Pod], 'the rolling update'),
  ...allow(['get', 'list', 'watch'], [K.DaemonSet, K.Deployment], 'the rolling update'),
];

/** Server-side apply of the target's documents (§1/5), dry run and real: the server asks for the same rights. */
export const documents: Needs = (_, { documents: wanted }) => {
  const why = 'documents of the target';
  const apply = wanted.flatMap(({ kind, namespace, names }) => allow(['create', 'get', 'patch'], kind, why, { namespace, names }));
  const roles = [K.ClusterRole, K.Role].flatMap((role) => {
    const held = wanted.filter(({ kind }) => kind.plural === role.plural && kind.group === role.group);
    return held.length === 0
      ? []
      : [{ role, names: held.every(({ names }) => names) ? held.flatMap(({ names = [] }) => names) : undefined }];
  });
  const grant = 'roles of the target hold more rights than this account';
  const scalers = allow(['list'], K.HorizontalPodAutoscaler, 'names of the autoscalers whose numbers are taken', { required: false });
  return [
    ...apply,
    ...scalers,
    ...roles.flatMap(({ role, names }) => allow(['bind', 'escalate'], role, grant, { required: false, names })),
  ];
};

/** New pods of the target's workloads, in a dry run: admission evaluates pods alone. */
export const podDryRuns: Needs = (_, { documents: wanted }) =>
  wanted
    .filter(({ kind }) => kind.plural === K.DaemonSet.plural || kind.plural === K.Deployment.plural)
    .flatMap(({ namespace }) => allow(['create'], K.Pod, 'dry run of new pods', { namespace, required: false }));

/** Where the release is stored. */
export const chartRead: Needs = (_, { chart }) =>
  chart ? storedIn(chart).flatMap((namespace) => allow(['get', 'list'], K[chart.storage], 'the chart release', { namespace })) : [];

function storedIn({ namespace, movesTo }: ChartScope): readonly string[] {
  return movesTo === undefined ? [namespace] : [namespace, movesTo];
}

/** A new revision of the chart release, and what it no longer holds: helm continues without the right to delete that. */
export const chartRelease: Needs = (_, { chart }) => {
  if (!chart || chart.upgraded) return [];
  const { storage, removed } = chart;
  return [
    ...storedIn(chart).flatMap((namespace) =>
      allow(['create', 'update', 'delete'], K[storage], 'a new revision of the chart release', { namespace }),
    ),
    ...removed.flatMap((one) =>
      allow(['delete', 'get'], one.kind, 'what the new chart no longer has', { namespace: one.namespace, required: false }),
    ),
  ];
};

export const mesh: Needs = (_, { meshed }) => {
  if (!meshed) return [];
  const workload = { required: false };
  return [
    ...allow(['list'], K.ReplicaSet, 'whose pods carry the sidecar', workload),
    ...allow(['list'], K.PodDisruptionBudget, 'what may be restarted', workload),
    ...allow(['get', 'list', 'patch', 'watch'], [K.DaemonSet, K.Deployment, K.StatefulSet], 'restarts of meshed workloads', workload),
    ...allow(['get', 'patch'], K.ConfigMap, 'the injector’s template', workload),
  ];
};

/** Reading back every document of the target, and what the target drops: a backup without it would not be whole. */
export const backup: Needs = ({ operatorGroup: group, removedKinds: removed }, { documents: wanted, chart, served }) => [
  ...[...wanted, ...(chart?.installed ?? [])].flatMap(({ kind, namespace, names }) => allow(['get'], kind, 'backup', { namespace, names })),
  ...allow(['list'], { group, plural: '*' }, 'backup'),
  ...removed
    .filter((kind) => served?.some((one) => crdName(one) === crdName(kind)) ?? true)
    .flatMap((kind) => allow(['list'], kind, 'backup')),
];
