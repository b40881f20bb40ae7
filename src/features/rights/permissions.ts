import { K } from '../../kernel/kinds.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { StageId } from '../../kernel/stage.ts';
import {
  backup,
  chartRead,
  chartRelease,
  crossings,
  type DocumentKind,
  detection,
  documents,
  events,
  journal,
  lock,
  mesh,
  type Needs,
  networkProbe,
  operatorEnd,
  ownerReferences,
  ownerSearch,
  type PlanScope,
  podDryRuns,
  probe,
  record,
  removedKinds,
  rollout,
  session,
  stateRead,
  storedResources,
} from './needs.ts';
import { allow, distinct, type Permission } from './permission.ts';

/** Of a namespace or a service account that a host endpoint names. */
const endpointProfiles: Needs = () => [
  ...allow(['get'], K.Namespace, 'profiles of host endpoints'),
  ...allow(['get'], K.ServiceAccount, 'profiles of host endpoints', { required: false }),
];

const podWebhooks: Needs = () => [
  ...[K.ValidatingWebhookConfiguration, K.MutatingWebhookConfiguration].flatMap((kind) =>
    allow(['list'], kind, 'webhooks that are asked about new pods', { required: false }),
  ),
  ...allow(['get'], K.Service, 'pods behind these webhooks', { required: false }),
];

const storeCertificates: Needs = (_, { kvstore = true }) =>
  kvstore ? allow(['get'], K.Secret, 'certificates of the key-value store (--cli-config)', { required: false }) : [];

/** What each stage asks of the account. The chain’s stages and `preflight` are held to it by tests and by docs/reference/rbac.yaml. */
const stageNeeds: Readonly<Record<StageId, readonly Needs[]>> = {
  preflight: [
    detection,
    stateRead,
    storedResources,
    removedKinds,
    ownerSearch,
    documents,
    podDryRuns,
    chartRead,
    crossings,
    () => [K.Namespace, K.PodDisruptionBudget, K.APIService].flatMap((kind) => allow(['list'], kind, 'state of the cluster')),
    () => allow(['get'], K.ConfigMap, 'settings of the agents and of kube-proxy'),
    podWebhooks,
  ],
  'probe-images': [detection, documents, probe],
  backup: [detection, storedResources, chartRead, backup],
  'ownerrefs-strip': [detection, storedResources, ownerSearch, ownerReferences, journal],
  crds: [
    detection,
    ownerSearch,
    journal,
    (profile, scope) => documents(profile, { ...scope, documents: scope.documents.filter(isDefinition) }),
  ],
  apply: [
    detection,
    documents,
    podDryRuns,
    rollout,
    ownerSearch,
    journal,
    chartRead,
    chartRelease,
    () => allow(['list', 'watch'], K.APIService, 'the aggregated API after its manifest'),
    ({ crdGroup: group, controllersConfiguration: { plural } }) => [
      ...allow(['get'], { group, plural }, 'renaming of policies'),
      ...allow(['patch'], { group, plural }, 'renaming of policies (--hold-policy-migration)', { required: false }),
    ],
  ],
  wait: [detection, rollout, chartRead, operatorEnd],
  'ownerrefs-restore': [detection, storedResources, ownerSearch, ownerReferences, chartRead, operatorEnd, journal],
  'ownerrefs-forget': [detection, ownerSearch, journal],
  cli: [detection, storeCertificates],
  alp: [detection, mesh],
  hep: [
    detection,
    storedResources,
    () => [K.DaemonSet, K.Deployment].flatMap((kind) => allow(['get'], kind, 'whether the rolling update is over')),
    () => allow(['get', 'list', 'patch'], K.Node, 'labels of the nodes'),
    endpointProfiles,
    () => [K.Namespace, K.Pod].flatMap((kind) => allow(['list'], kind, 'pods for which rules would select other hosts, metadata only')),
    () => allow(['get'], K.ConfigMap, 'variables of the controllers', { required: false }),
    ({ crdGroup: group }) => allow(['create', 'delete', 'get', 'list', 'watch'], { group, plural: 'hostendpoints' }, 'host endpoints'),
    ({ crdGroup: group, controllersConfiguration: { plural } }) =>
      allow(['get', 'patch', 'update'], { group, plural }, 'automatic host endpoints'),
  ],
  policy: [
    detection,
    storedResources,
    endpointProfiles,
    () => [K.Namespace, K.NetworkPolicy].flatMap((kind) => allow(['list'], kind, 'what decides without the temporary policy')),
    ({ crdGroup: group }) => allow(['create', 'delete', 'get', 'list'], { group, plural: 'globalnetworkpolicies' }, 'the temporary policy'),
  ],
  verify: [
    detection,
    storedResources,
    removedKinds,
    ownerSearch,
    operatorEnd,
    () => [K.DaemonSet, K.Deployment].flatMap((kind) => allow(['get'], kind, 'the result')),
  ],
};

function isDefinition({ kind }: DocumentKind): boolean {
  return kind.plural === K.CustomResourceDefinition.plural;
}

/** The stages of a run without `--include`. */
const USUAL: readonly StageId[] = [
  ...(['preflight', 'backup', 'ownerrefs-strip', 'crds', 'apply', 'wait'] as const),
  ...(['ownerrefs-restore', 'cli', 'alp', 'verify', 'ownerrefs-forget'] as const),
];

const writing = (...stages: readonly StageId[]) => [session, lock, record, ...stages.flatMap((id) => stageNeeds[id]), events];
/** What is only planned writes no journal. */
const reading = (...stages: readonly StageId[]) => [
  session,
  stateRead,
  ...stages.flatMap((id) => stageNeeds[id]).filter((one) => one !== journal),
];

/** What of a preflight is reading. */
const readOnly: Needs = (profile, scope) =>
  reading('preflight')
    .flatMap((needs) => needs(profile, { ...scope, documents: [] }))
    .filter(({ request: { verb, group, resource } }) => READS.includes(verb) && resource !== 'secrets' && group !== '*');

const READS: readonly string[] = ['get', 'list', 'watch'];

/** Every command that asks a cluster, with what it needs; the others need no account. */
const commandNeeds: Readonly<Record<string, readonly Needs[]>> = {
  preflight: reading('preflight'),
  // `preflight --read-only`: no dry run, no Secret, and no search of everything, which would be one of Secrets too.
  'preflight-read-only': [readOnly],
  // With this role besides, preflight may probe images as well.
  'probe-images': [...reading('preflight'), lock, probe],
  plan: reading(...USUAL),
  run: [...writing(...USUAL), networkProbe],
  // With this role besides, run and wait may probe the network; the namespace is anybody's choice.
  'probe-network': [session, lock, (profile, scope) => networkProbe(profile, { probeNamespace: 'default', ...scope })],
  status: [session, stateRead],
  report: [session, stateRead],
  backup: writing('backup'),
  crds: writing('crds'),
  alp: writing('alp'),
  policy: writing('policy'),
  hep: writing('hep'),
  apply: writing('apply'),
  wait: reading('wait'),
  cli: writing('cli'),
  ownerrefs: writing('ownerrefs-strip', 'ownerrefs-restore', 'ownerrefs-forget'),
  // It ends the record of a run that stopped before it.
  verify: writing('verify'),
  unlock: [session, stateRead, lock],
};

/** Commands for which there is a role. */
export const permittedCommands: readonly string[] = Object.keys(commandNeeds);

/** Everything that a command asks of the account, each once; nothing for a command that asks no cluster. */
export function permissionsOf(command: string, profile: Profile, scope: PlanScope): readonly Permission[] {
  return distinct((commandNeeds[command] ?? []).flatMap((needs) => needs(profile, scope)));
}
