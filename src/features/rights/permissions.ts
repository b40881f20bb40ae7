import { K } from '../../kernel/kinds.ts';
import type { Profile } from '../../kernel/profile.ts';
import { POLICY_PLURALS } from '../policies/index.ts';
import type { Needs, PlanScope } from './needs.ts';
import * as needs from './needs.ts';
import { allow, distinct, type Permission } from './permission.ts';

/** Of a namespace or a service account that a host endpoint names. */
const endpointProfiles: Needs = () => [
  ...allow(['get'], K.Namespace, 'profiles of host endpoints'),
  ...allow(['get'], K.ServiceAccount, 'profiles of host endpoints', { required: false }),
];

const podWebhooks: Needs = () => [
  ...allow(['list'], [K.ValidatingWebhookConfiguration, K.MutatingWebhookConfiguration], 'webhooks that are asked about new pods', {
    required: false,
  }),
  ...allow(['get'], K.Service, 'pods behind these webhooks', { required: false }),
];

/** What the upgrade added and nothing uses. */
const addedObjects: Needs = () => {
  const why = 'objects that the upgrade added and nothing uses';
  const kinds = [K.ClusterRole, K.ClusterRoleBinding, K.Role, K.RoleBinding, K.PodDisruptionBudget, K.ServiceAccount];
  return [...allow(['list'], [K.ClusterRoleBinding, K.RoleBinding, K.Pod], why), ...allow(['delete'], kinds, why)];
};

const storeCertificates: Needs = (_, { kvstore = true }) =>
  kvstore ? allow(['get'], K.Secret, 'certificates of the key-value store (--cli-config)', { required: false }) : [];

/** What each stage asks of the account, in the order of the chain. The chain’s stages and `preflight` are held to it by tests, and its roles are made from it. */
const stageNeeds = {
  preflight: [
    needs.detection,
    needs.stateRead,
    needs.storedResources,
    needs.removedKinds,
    needs.ownerSearch,
    needs.documents,
    needs.podDryRuns,
    needs.chartRead,
    needs.crossings,
    () => allow(['list'], [K.Namespace, K.PodDisruptionBudget, K.APIService], 'state of the cluster'),
    () => allow(['get'], K.ConfigMap, 'settings of the agents and of kube-proxy'),
    podWebhooks,
  ],
  backup: [needs.detection, needs.storedResources, needs.chartRead, needs.backup],
  'ownerrefs-strip': [needs.detection, needs.storedResources, needs.ownerSearch, needs.ownerReferences, needs.journal],
  crds: [
    needs.detection,
    needs.ownerSearch,
    needs.journal,
    needs.statuses,
    (profile, scope) =>
      needs.documents(profile, {
        ...scope,
        documents: scope.documents.filter(({ kind }) => kind.plural === K.CustomResourceDefinition.plural),
      }),
  ],
  apply: [
    needs.detection,
    needs.documents,
    needs.podDryRuns,
    needs.rollout,
    needs.ownerSearch,
    needs.journal,
    needs.chartRead,
    needs.chartRelease,
    needs.typhaHold,
    needs.statuses,
    needs.operatorEnd,
    () => allow(['list', 'watch'], K.APIService, 'the aggregated API after its manifest'),
    ({ crdGroup: group, controllersConfiguration: { plural } }) => [
      ...allow(['get'], { group, plural }, 'renaming of policies'),
      ...allow(['patch'], { group, plural }, 'renaming of policies (--until controllers)', { required: false }),
    ],
  ],
  wait: [needs.detection, needs.rollout, needs.chartRead, needs.operatorEnd],
  'ownerrefs-restore': [
    needs.detection,
    needs.storedResources,
    needs.ownerSearch,
    needs.ownerReferences,
    needs.chartRead,
    needs.operatorEnd,
    needs.journal,
  ],
  cli: [needs.detection, storeCertificates],
  alp: [needs.detection, needs.mesh],
  hep: [
    needs.detection,
    needs.storedResources,
    () => allow(['get'], [K.DaemonSet, K.Deployment], 'whether the rolling update is over'),
    () => allow(['get', 'list', 'patch'], K.Node, 'labels of the nodes'),
    endpointProfiles,
    () => allow(['get'], K.ConfigMap, 'variables of the controllers', { required: false }),
    ({ crdGroup: group }) => allow(['create', 'delete', 'get', 'list', 'watch'], { group, plural: 'hostendpoints' }, 'host endpoints'),
    ({ crdGroup: group, controllersConfiguration: { plural } }) =>
      allow(['get', 'patch', 'update'], { group, plural }, 'automatic host endpoints'),
  ],
  policy: [
    needs.detection,
    needs.storedResources,
    endpointProfiles,
    ({ crdGroup: group }) => allow(['delete', 'get', 'list'], { group, plural: 'globalnetworkpolicies' }, 'the temporary policy'),
  ],
  verify: [
    needs.detection,
    needs.storedResources,
    needs.removedKinds,
    needs.ownerSearch,
    needs.operatorEnd,
    needs.holdCopies,
    () => allow(['get'], [K.DaemonSet, K.Deployment], 'the result'),
  ],
  'ownerrefs-forget': [needs.detection, needs.ownerSearch, needs.journal],
  'rollback-check': [needs.detection, needs.storedResources],
  'rollback-stop': [
    needs.detection,
    () => allow(['get', 'patch'], K.Deployment, 'the new controllers, which are stopped first'),
    () => allow(['list'], K.Pod, 'the new controllers, which are stopped first'),
  ],
  'rollback-labels': [
    needs.detection,
    needs.storedResources,
    ({ crdGroup: group }) => allow(['patch'], { group, plural: '*' }, 'labels where the old release reads them'),
  ],
  'rollback-names': [
    needs.detection,
    needs.storedResources,
    () => allow(['get'], K.Deployment, 'whether the new controllers are stopped'),
    ({ crdGroup: group }) =>
      allow(
        ['create', 'delete', 'get'],
        POLICY_PLURALS.map((plural) => ({ group, plural })),
        'policies under the names of the old release',
      ),
  ],
} satisfies Readonly<Record<string, readonly Needs[]>>;

type StageId = keyof typeof stageNeeds;

const isStage = (id: string): id is StageId => Object.hasOwn(stageNeeds, id);

const OPTIONAL: readonly StageId[] = ['hep', 'policy'];

/** Of a rollback, beside those of a run. */
const BACK: readonly StageId[] = ['rollback-check', 'rollback-stop', 'rollback-labels', 'rollback-names'];

/** The stages of a run without `--include`. */
const USUAL = Object.keys(stageNeeds)
  .filter(isStage)
  .filter((id) => !OPTIONAL.includes(id) && !BACK.includes(id));

const writing = (...stages: readonly StageId[]) => [
  needs.session,
  needs.lock,
  needs.record,
  ...stages.flatMap((id) => stageNeeds[id]),
  needs.events,
];
/** What is only planned writes no journal. */
const reading = (...stages: readonly StageId[]) => [
  needs.session,
  needs.stateRead,
  ...stages.flatMap((id) => stageNeeds[id]).filter((one) => one !== needs.journal),
];

/** What of a preflight is reading. */
const readOnly: Needs = (profile, scope) =>
  reading('preflight')
    .flatMap((need) => need(profile, { ...scope, documents: [] }))
    .filter(({ request: { verb, group, resource } }) => READS.includes(verb) && resource !== 'secrets' && group !== '*');

const READS: readonly string[] = ['get', 'list', 'watch'];

/** Three stages have one command, `ownerrefs`, and those of a rollback `rollback`; each other one has its own. */
type OwnCommand = Exclude<StageId, `ownerrefs-${string}` | `rollback-${string}`>;
type CommandNeeds = Readonly<Record<string, readonly Needs[]> & Record<OwnCommand, readonly Needs[]>>;

/** Every command that asks a cluster, with what it needs; the others need no account. */
const commandNeeds: CommandNeeds = {
  preflight: reading('preflight'),
  // `preflight --read-only`: no dry run, no Secret, and no search of everything, which would be one of Secrets too.
  'preflight-read-only': [readOnly],
  // With this role besides, preflight may try nodes as well.
  'probe-nodes': [...reading('preflight'), needs.lock, needs.probe],
  plan: reading(...USUAL),
  run: [...writing(...USUAL), needs.canary, needs.networkProbe],
  commit: [...writing(...USUAL), needs.canary, needs.networkProbe],
  rollback: [
    ...writing(
      'backup',
      'hep',
      'alp',
      'ownerrefs-strip',
      ...BACK,
      'apply',
      'wait',
      'ownerrefs-restore',
      'cli',
      'verify',
      'ownerrefs-forget',
    ),
    needs.canary,
    needs.networkProbe,
    addedObjects,
  ],
  // With this role besides, run and wait may probe the network; the namespace is anybody's choice.
  'probe-network': [
    needs.session,
    needs.lock,
    (profile, scope) => needs.networkProbe(profile, { ...scope, probeNamespace: scope.probeNamespace ?? 'default' }),
  ],
  status: [needs.session, needs.recordRead, needs.holdRead, needs.strategyRead],
  report: [needs.session, needs.stateRead],
  backup: writing('backup'),
  crds: writing('crds'),
  alp: writing('alp'),
  policy: writing('policy'),
  hep: writing('hep'),
  apply: [...writing('apply'), needs.canary],
  wait: [needs.session, needs.recordRead, ...stageNeeds.wait],
  cli: writing('cli'),
  ownerrefs: writing('ownerrefs-strip', 'ownerrefs-restore', 'ownerrefs-forget'),
  // It ends the record of a run that stopped before it.
  verify: writing('verify'),
  unlock: [needs.session, needs.recordRead, needs.lock],
};

/** Commands for which there is a role. */
export const permittedCommands: readonly string[] = Object.keys(commandNeeds);

/** Everything that a command asks of the account, each once; nothing for a command that asks no cluster. */
export function permissionsOf(command: string, profile: Profile, scope: PlanScope): readonly Permission[] {
  return distinct((commandNeeds[command] ?? []).flatMap((need) => need(profile, scope)));
}
