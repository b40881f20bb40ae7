import { command } from '../../kernel/argv.ts';
import { counted, firstOf } from '../../kernel/counted.ts';
import { type Installation, type InstallPath, isOperated, type Unfinished } from '../../kernel/installation.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import { crdName, type KubeObject, refOf } from '../../kernel/object.ts';
import type { ProcedureNames, Profile } from '../../kernel/profile.ts';
import { containersOf, isNamed, shapeOf } from '../../kube/workload.ts';
import type { Seen } from './seen.ts';

const CRD = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' } as const;

/** The object itself, where somebody is deleting it. */
export function deletionOf(object: KubeObject, hint: string, resource = object.kind.toLowerCase()): readonly Unfinished[] {
  const { deletionTimestamp, finalizers = [], name, namespace } = object.metadata;
  if (deletionTimestamp === undefined) return [];
  const held = finalizers.length === 0 ? '' : `; it waits for ${firstOf(finalizers, 3)}`;
  const next =
    namespace === undefined
      ? command`kubectl get ${resource} ${name} -o yaml`
      : command`kubectl -n ${namespace} get ${resource} ${name} -o yaml`;
  return [
    {
      ref: refOf(object),
      detail: `being deleted since ${deletionTimestamp}${held}`,
      hint,
      next,
    },
  ];
}

const DECIDE =
  'A deletion cannot be taken back, and the new operator completes it: it removes the agents and the CNI plugin from all nodes. Keep a copy of the spec, which the command prints. Then decide: complete the deletion in a maintenance window and install again, or ask the vendor.';
const STORED = 'With this CRD all objects of its kind are deleted. Save them first, then find out who deleted it and what holds it.';
const WORKLOAD = 'Find out who deleted it and what holds it, and have it created again, before the upgrade.';

/** Of what the service needs, and what every stage reads: the Installation, the service's CRDs, its agents and its operator. */
export function deletionsOf(workloads: readonly (KubeObject | undefined)[], { installations, crds, profile }: Seen): readonly Unfinished[] {
  const { crdGroup, operatorGroup, operator } = profile;
  const resource = crdName(operator.installationKind);
  const ofService = crds.filter(({ group }) => group === crdGroup || group === operatorGroup);
  return [
    ...installations.flatMap((one) => deletionOf(one, DECIDE, resource)),
    ...ofService.flatMap(({ name, deletedAt }) =>
      deletionOf({ ...CRD, metadata: { name, ...(deletedAt === undefined ? {} : { deletionTimestamp: deletedAt }) } }, STORED, 'crd'),
    ),
    ...workloads.flatMap((one) => (one ? deletionOf(one, WORKLOAD) : [])),
  ];
}

interface Begun {
  readonly names: ProcedureNames;
  readonly agent: KubeObject | undefined;
  readonly seen: Seen;
}

/** What every stage can see of procedures that nobody ended (domain §12/39). */
export function unfinishedOf(path: InstallPath, agent: KubeObject | undefined, seen: Seen): Installation['unfinished'] {
  const names = seen.profile.procedures;
  const left = leftOfManifest(path, seen);
  return names
    ? [...[lockedStore, movedStore, takenOver, movedAllocations].flatMap((look) => look({ names, agent, seen })), ...left]
    : left;
}

function lockedStore({ names, seen: { clusterInformation, profile } }: Begun): readonly Unfinished[] {
  if ('value' in clusterInformation) return clusterInformation.value ? lockOf(clusterInformation.value, names, profile) : [];
  const { kind, name, plural } = profile.clusterInformation;
  return [
    {
      ref: { apiVersion: `${profile.crdGroup}/v1`, kind, name },
      detail: `whether the datastore is locked could not be read: ${clusterInformation.unread}`,
      hint: 'Make it readable: an upgrade on a locked datastore leaves every new agent waiting.',
      next: command`kubectl auth can-i get ${plural}.${profile.crdGroup}`,
    },
  ];
}

/** New agents wait for as long as the store is locked, and the CNI plugin refuses new pods. */
export function lockOf(
  information: KubeObject,
  { lock }: ProcedureNames,
  { cli, clusterInformation, crdGroup }: Profile,
): readonly Unfinished[] {
  if (jsonAt(information.spec, lock.field) !== false) return [];
  const { name } = information.metadata;
  return [
    {
      ref: refOf(information),
      detail: `the datastore is locked (spec.${lock.field} is false): new agents wait for ever, and new pods get no network`,
      hint: `Find out who locked it: a move of the datastore, a migration of allocations, or a restore. Finish that first. Then unlock it: ${cli.program} ${lock.unlock.join(' ')}`,
      next: command`kubectl get ${clusterInformation.plural}.${crdGroup} ${name} -o yaml`,
    },
  ];
}

const OF_MIGRATION =
  'Finish or abort it by its own procedure, and wait until it is gone. Never delete its CRD: after phase Complete that deletes every v1 CRD with all that is stored in it.';

/** Phases differ by what follows from them; every one of them stands against an upgrade. */
function movedStore({ names: { migration }, seen: { migrations } }: Begun): readonly Unfinished[] {
  const next = command`kubectl get ${crdName(migration)} -o yaml`;
  const apiVersion = `${migration.group}/${migration.version}`;
  const { kind } = migration;
  if ('unread' in migrations) {
    const detail = `its CRD is there, and whether a migration is under way could not be read: ${migrations.unread}`;
    return [{ ref: { apiVersion, kind, name: '*' }, detail, hint: OF_MIGRATION, next }];
  }
  return migrations.value.map(({ metadata, status }) => {
    const phase = textAt(status, 'phase') ?? 'none yet';
    const message = textAt(status, 'message');
    const ending = metadata.deletionTimestamp === undefined ? '' : `, being deleted since ${metadata.deletionTimestamp}`;
    const detail = `migration to native CRDs in phase ${phase}${message === undefined ? '' : ` (${message})`}${ending}`;
    return { ref: { apiVersion, kind, name: metadata.name }, detail, hint: OF_MIGRATION, next };
  });
}

/** The migration from another network works node by node; a node without the label has not begun. */
function takenOver({ names: { takeOver }, seen: { configMaps, nodes } }: Begun): readonly Unfinished[] {
  const all = 'value' in nodes ? nodes.value : [];
  const map = configMaps.find(({ metadata }) => metadata.name === takeOver.configMap);
  const open = all.filter(({ metadata: { labels = {} } }) => {
    const state = labels[takeOver.label];
    return labels[takeOver.working] !== undefined || (state === undefined ? map !== undefined : state !== takeOver.done);
  });
  const [first] = open;
  if (!first) return [];
  return [
    {
      ref: { ...refOf(first), apiVersion: 'v1', kind: 'Node' },
      detail: `the migration from flannel has not come to its end on ${counted(open.length, 'node')}: ${firstOf(
        open.map(({ metadata }) => metadata.name),
        3,
      )}`,
      hint: 'Finish that migration, or take it back by its own procedure, and delete its Job; upgrade afterwards.',
      next: command`kubectl get nodes -L ${takeOver.label} -L ${takeOver.working}`,
    },
  ];
}

/** The init container moves what the plugin has allocated at each start of an agent, while that plugin allocates on (calico#11702). */
function movedAllocations({ names: { allocations }, agent, seen: { configMaps } }: Begun): readonly Unfinished[] {
  const { container, key, plugin } = allocations;
  const inits = agent ? (shapeOf(agent).spec?.template?.spec?.initContainers ?? []) : [];
  if (!agent || !inits.some(({ name }) => name === container)) return [];
  const used = new RegExp(`"ipam"\\s*:\\s*\\{[^{}]*"type"\\s*:\\s*"${plugin}"`);
  const ofAgent = configMaps.filter(({ metadata }) => metadata.namespace === agent.metadata.namespace);
  const map = ofAgent.find((one) => used.test(textAt(one.data, key) ?? ''));
  if (!map) return [];
  const { name, namespace = '' } = map.metadata;
  return [
    {
      ref: { ...refOf(map), apiVersion: 'v1', kind: 'ConfigMap' },
      detail: `${key} has ipam type ${plugin}, and the agents have the init container ${container}: at each start it moves the allocations of ${plugin} away, and addresses are given twice`,
      hint: `Remove the init container ${container} if you stay with ${plugin}. Or finish the move: set the ipam type of the service in ${key}.`,
      next: command`kubectl -n ${namespace} get configmap ${name} -o yaml`,
    },
  ];
}

/** The operator's agents run, and workloads of the manifest are still there beside them. */
function leftOfManifest(path: InstallPath, { deployments, profile }: Seen): readonly Unfinished[] {
  if (!isOperated({ path })) return [];
  const names = profile.variants.flatMap(({ controllers, typha }) => [controllers, ...(typha ? [typha] : [])]);
  return deployments
    .filter((one) => containersOf(one).length > 0 && names.some((name) => isNamed(one, name)))
    .map((one) => ({
      ref: { ...refOf(one), apiVersion: 'apps/v1', kind: 'Deployment' },
      detail: 'of the manifest from which the operator took over: the migration to the operator did not come to its end',
      hint: 'Finish that migration. Delete this Deployment once the one of the operator is ready.',
      next: command`kubectl get deployments -A -l ${`k8s-app=${one.metadata.name}`}`,
    }));
}
