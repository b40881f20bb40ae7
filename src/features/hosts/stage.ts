import type { Action, GuardedPatch } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault } from '../../kernel/fault.ts';
import { acceptsWhole } from '../../kernel/judge.ts';
import { K } from '../../kernel/kinds.ts';
import { apiVersionOf, type JsonPatchOp, type KubeObject } from '../../kernel/object.ts';
import { changeTo, placesIn } from '../../kernel/object-change.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { stage } from '../../kernel/stage.ts';
import { type HostEndpoint, isAllInterfaces, type NodeVerdict, originOf } from '../policy-rules/index.ts';
import { allow, type Needs, needs } from '../rights/index.ts';
import { listed } from '../survey/index.ts';
import { hepChecks } from './checks.ts';
import { awaitEndpoints, deleteOld, switchCall } from './endpoints.ts';
import type { HepFacts, HepJudged } from './facts.ts';
import { hepJudged, isMigrated, plannedHost, undoJudged } from './judged.ts';
import { switchTo } from './kept.ts';
import { endpointsOf, readHepFacts } from './survey.ts';
import { undoPlan } from './undo.ts';

type Surveyed = HepJudged & { readonly read: HepFacts };

const NEEDS: readonly Needs[] = [
  needs.detection,
  needs.storedResources,
  () => allow(['get'], [K.DaemonSet, K.Deployment], 'whether the rolling update is over'),
  () => allow(['get', 'list', 'patch'], K.Node, 'labels of the nodes'),
  needs.endpointProfiles,
  () => allow(['get'], K.ConfigMap, 'variables of the controllers', { required: false }),
  ({ crdGroup: group }) => allow(['create', 'delete', 'get', 'list', 'watch'], { group, plural: 'hostendpoints' }, 'host endpoints'),
  ({ crdGroup: group, controllersConfiguration: { plural } }) =>
    allow(['get', 'patch', 'update'], { group, plural }, 'automatic host endpoints'),
];

const HEP = {
  id: 'hep',
  title: 'Migrate to automatic host endpoints',
  ref: '§4.7',
  readOnly: false,
  needs: NEEDS,
  undoneBy: 'hep --undo',
  optional: true,
  converges: true,
  checks: hepChecks,
} as const;

const surveyedAs =
  (judged: typeof hepJudged) =>
  async (sources: Sources, context: Context): Promise<Surveyed> => {
    const read = await readHepFacts(sources, context);
    return { ...judged(read, context), read };
  };

/** Labels to the nodes, automatic endpoints on, old ones away node by node once their successor stands (§4.7). */
export const hepStage = stage<Surveyed>({
  ...HEP,
  undo: stage<Surveyed>({ ...HEP, survey: surveyedAs(undoJudged), plan: ({ read }, context) => undoPlan(read, context) }),
  survey: surveyedAs(hepJudged),
  plan({ read }, context) {
    if (isMigrated(read)) return { skip: 'automatic host endpoints are enabled, and no old one is left' };
    if ('missing' in read.cli || 'unread' in read.verdicts) return cannotBeDone(read, context);
    const verdicts = read.verdicts.value;
    const removals = deleteOld(read, verdicts, context);
    const actions = [...copyLabels(read, verdicts), ...enable(read, context), ...awaitEndpoints(read, verdicts, context), ...removals];
    return {
      actions,
      // The end is evaluated too: otherwise no finding would show what changed during the last deletions.
      ...(removals.length > 0 || read.judgesEnd ? { again: true } : {}),
      hosts: verdicts.map(plannedHost),
      notes: migrationNotes({ endpoints: endpointsOf(read, context), verdicts, failsafe: read.failsafe }, context.profile),
    };
  },
});

/** Not fixed by accepting the whole check: verdicts that were not read, a missing CLI. */
const NO_WAY: readonly string[] = ['NS-711', 'NS-712', 'NS-713', 'NS-736'];

function cannotBeDone({ cli, verdicts }: HepFacts, { options }: Context): { readonly skip: string } {
  const because = 'missing' in cli ? cli.missing : 'unread' in verdicts ? verdicts.unread : '';
  const open = 'missing' in cli ? [cli.doubt ? 'NS-725' : 'NS-720'] : NO_WAY;
  if (!open.every((id) => acceptsWhole(options, id))) return { skip: 'see the checks above' };
  throw new Fault('blocked', `host endpoints cannot be migrated: ${because}`, [`leave --accept ${open[0]} out and fix the cause`]);
}

function enable({ settings, cli, configuration }: HepFacts, context: Context): readonly Action[] {
  if (settings.autoCreate || 'missing' in cli) return [];
  return [
    {
      id: 'enable',
      title: 'enable automatic host endpoints, on every node at once',
      ref: '§4.7/2',
      undo: 'full',
      afresh: true,
      keep: { changes: [switchTo('Enabled', configuration, context)] },
      effect: switchCall(cli, 'Enabled', context),
    },
  ];
}

/** What the user should know of the hosts before saying yes: opened by the allow-all profile, unchanged, or unusual but fine. */
export function migrationNotes({ endpoints, verdicts, failsafe }: Noted, { labels }: Profile): readonly string[] {
  // A named one goes before those of all interfaces on its interface, one by addresses is found by these.
  const others = endpoints
    .filter((one) => !isAllInterfaces(one))
    .map(({ name, interfaceName }) => `${name} (${interfaceName === undefined ? 'by its addresses' : `interface ${interfaceName}`})`);
  const automatic = new Set(endpoints.filter((one) => originOf(one, labels) === 'automatic').map(({ node }) => node));
  const half = verdicts.filter(({ node, old }) => old.length > 0 && automatic.has(node)).map(({ node }) => node);
  const several = verdicts
    .filter(({ old }) => old.length > 1)
    .map(({ node, old }) => `${node} (${old.map(({ name }) => name).join(', ')})`);
  return [
    allowAll(verdicts),
    ...openPorts(failsafe),
    ...noteOn(others, 'host endpoint', 'not of all interfaces, not migrated'),
    ...noteOn(half, 'node', 'with an automatic endpoint beside old ones already', '; the migration resumes there'),
    ...noteOn(several, 'node', 'with several old endpoints, of which the first by name acts now', '; they go together'),
  ];
}

function noteOn(names: readonly string[], what: string, are: string, then = ''): readonly string[] {
  return names.length === 0 ? [] : [`${counted(names.length, what)} ${are}: ${listed(names)}${then}`];
}

interface Noted extends Pick<HepFacts, 'failsafe'> {
  readonly endpoints: readonly HostEndpoint[];
  readonly verdicts: readonly NodeVerdict[];
}

/** What a wrong policy cannot interrupted. */
function openPorts(failsafe: Noted['failsafe']): readonly string[] {
  if ('unread' in failsafe) return [`which failsafe ports stay open could not be read: ${failsafe.unread}`];
  if (!failsafe.value) return [];
  const [inbound, outbound] = [failsafe.value.inbound, failsafe.value.outbound].map((ports) => ports.join(', ') || 'none');
  return [`failsafe ports stay open whatever policies say: to the host ${inbound}; from the host ${outbound}`];
}

function allowAll(verdicts: readonly NodeVerdict[]): string {
  const open = verdicts.filter(({ atDelete }) => atDelete.changes.some(({ verdict }) => verdict === 'OPEN'));
  const warning = 'automatic host endpoints carry an allow-all profile: where no policy selects a host, all its traffic is let through';
  return open.length === 0
    ? warning
    : `${warning}: ${listed(open.map(({ node }) => node))}${open.length > 3 ? ' (NS-711 names all, with -o wide)' : ''}`;
}

/** Every label of the old endpoints that its node lacks (§4.7/1); a key that appears meanwhile is not written over. */
function copyLabels({ nodes }: HepFacts, verdicts: readonly NodeVerdict[]): readonly Action[] {
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const added = verdicts.flatMap(({ kubernetesNode, labels: { copies } }) => {
    const node = byName.get(kubernetesNode);
    if (copies.length === 0 || node?.metadata.uid === undefined) return [];
    return [{ node, labels: Object.fromEntries(copies.map(({ key, value }) => [key, value])) }];
  });
  if (added.length === 0) return [];
  const count = added.reduce((sum, { labels }) => sum + Object.keys(labels).length, 0);
  return [
    {
      id: 'labels',
      title: `copy ${counted(count, 'label')} of old host endpoints to ${counted(added.length, 'node')}`,
      ref: '§4.7/1',
      undo: 'full',
      keep: { changes: added.map(({ node, labels }) => changeTo(node, placesIn(LABELS, labels))) },
      effect: { type: 'patch-all', what: 'nodes labelled', patches: added.map(({ node, labels }) => addLabels(node, labels)) },
    },
  ];
}

const LABELS = ['metadata', 'labels'];
type Labels = Readonly<Record<string, string>>;

/** A patch that adds labels to the very node that was read. */
export function addLabels({ metadata }: KubeObject, labels: Labels): GuardedPatch {
  const target = { apiVersion: apiVersionOf(K.Node), kind: 'Node', name: metadata.name };
  return { target, uid: metadata.uid ?? '', patch: additions(labels, metadata) };
}

/** JSON patch cannot test that a key is absent, so it tests the labels read or, for a node without any, its version. */
function additions(labels: Labels, { labels: before, resourceVersion }: KubeObject['metadata']): readonly JsonPatchOp[] {
  const each = Object.entries(placesIn(LABELS, labels)).map(([path, value]): JsonPatchOp => ({ op: 'add', path, value }));
  return before
    ? [{ op: 'test', path: '/metadata/labels', value: before }, ...each]
    : [
        ...(resourceVersion ? [{ op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion } as const] : []),
        { op: 'add', path: '/metadata/labels', value: labels },
      ];
}
