import { counted } from '../../kernel/counted.ts';
import type { ChartRelease, Detection, InstallPath, ManagedBy } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { type Agents, agentText } from './components.ts';
import { type Decision, installed, managers } from './installed-sign.ts';
import { findOperator, isOfOtherLine, operatorRelease } from './release-evidence.ts';
import { type Seen, valueOr } from './seen.ts';
import { namedRelease, newestRevision } from './stored-release.ts';

/** Paths A and B: an Installation resource exists (domain §2.1/3). `said` decides where the release or the operator's line does not. */
export function detectOperated(installation: KubeObject, agents: Agents, seen: Seen, said: InstallPath | undefined): Detection {
  const { profile, nodes } = seen;
  const agent = agents.operated[0];
  const operator = findOperator(seen.deployments, profile);
  const chart = chartOf(operator ? [operator, installation] : [installation], seen);
  const evidence = [
    `there is ${installation.kind} ${installation.metadata.name}`,
    agent ? `agents: ${agentText(agent)}` : `no agents yet: ${profile.operator.workloadNamespace} has none`,
    operator ? `operator: Deployment/${operator.metadata.namespace}/${operator.metadata.name}` : 'the operator itself is not there',
    ...(chart.type === 'none' ? [] : [chart.evidence]),
    ...('unread' in nodes ? [`labels of nodes could not be read: ${nodes.unread}`] : []),
  ];
  const byChart = chart.type === 'release' || (chart.type === 'lost' && said === 'chart');
  const decision: Decision = {
    path: byChart ? 'chart' : 'operator',
    datastore: 'api',
    agent,
    operator,
    installation,
    ...(byChart ? { chart: chart.chart } : {}),
    evidence,
  };
  const doubt = said === 'chart' || said === 'operator' ? undefined : (otherLine(operator, profile) ?? lostRelease(chart));
  if (doubt !== undefined) {
    const candidates = chart.type === 'lost' ? ['chart', 'operator'] : [decision.path];
    return { type: 'ambiguous', because: doubt, candidates, evidence, managedBy: managers(decision, seen) };
  }
  const found = installed(decision, seen);
  return { type: 'found', installation: { ...found, managedBy: [...found.managedBy, ...renderedBy(chart, found.managedBy)] } };
}

function otherLine(operator: KubeObject | undefined, profile: Profile): string | undefined {
  const release = operator && operatorRelease(operator, profile);
  if (!release || !isOfOtherLine(release, profile)) return undefined;
  return `operator ${release.tag} is of a line that installs no release of ${profile.title}: it may be another product's`;
}

function lostRelease(chart: ChartAnswer): string | undefined {
  if (chart.type !== 'lost') return undefined;
  return `the operator names the chart release ${chart.chart.namespace}/${chart.chart.name}, but no such release is stored`;
}

/** A chart that was rendered and applied is kept by a delivery tool, or else by the user. */
function renderedBy(chart: ChartAnswer, known: readonly ManagedBy[]): readonly ManagedBy[] {
  if (chart.type !== 'rendered' || known.length > 0) return [];
  return [
    {
      name: 'a rendered chart',
      kind: 'gitops',
      evidence: chart.evidence,
      hint: 'Render the chart of the target release where this one was rendered, and commit that.',
    },
  ];
}

/** A migration from a manifest to the operator that has not come to its end (domain §2.1/2). */
export function detectHalfMigrated(installation: KubeObject | undefined, agents: Agents, seen: Seen): Detection | undefined {
  const both = agents.operated.length > 0 && agents.named.length > 0;
  const begun = installation !== undefined && agents.named.length > 0;
  const pending = installation === undefined ? [] : pendingNodes(seen);
  if (!both && !begun && pending.length === 0) return undefined;
  const where = [...agents.operated, ...agents.named].map(agentText);
  const because =
    both || begun
      ? `the migration to the operator is not finished: ${both ? 'agents of both kinds exist' : 'an Installation exists'}, with ${where.join(' and ')}`
      : `the migration to the operator is not finished: ${counted(pending.length, 'node')} left`;
  const nodes = pending.length > 0 ? [`nodes that wait: ${pending.slice(0, 5).join(', ')}${pending.length > 5 ? ', …' : ''}`] : [];
  return { type: 'half-migrated', because, evidence: [...where.map((text) => `agents: ${text}`), ...nodes] };
}

function pendingNodes({ nodes, profile }: Seen): readonly string[] {
  const label = profile.operator.migrationLabel;
  if (!label) return [];
  return valueOr(nodes, [])
    .filter(({ metadata }) => metadata.labels?.[label.key] === label.pending)
    .map(({ metadata }) => metadata.name);
}

type ChartAnswer =
  | { readonly type: 'release'; readonly chart: ChartRelease; readonly evidence: string }
  /** Rendered with the chart tool and applied by something else: there is no release. */
  | { readonly type: 'rendered'; readonly evidence: string }
  /** The objects name a release that is not stored (any more, or out of the cluster). */
  | { readonly type: 'lost'; readonly chart: ChartRelease; readonly evidence: string }
  | { readonly type: 'none' };

/** Whether the operator's objects belong to a chart release: by annotations, confirmed by the stored one's labels (domain §2.2). */
function chartOf(objects: readonly KubeObject[], { chartReleases: stored, moved }: Pick<Seen, 'chartReleases' | 'moved'>): ChartAnswer {
  const named = namedRelease(objects);
  if (!named) return renderedOrNone(objects);
  const { owned, name, namespace } = named;
  const where = `${owned.kind} ${owned.metadata.name} belongs to chart release ${namespace}/${name}`;
  if ('unread' in stored) {
    return { type: 'release', chart: { name, namespace }, evidence: `${where} (its Secrets could not be read: ${stored.unread})` };
  }
  const newest = newestRevision(stored.value, name, namespace);
  if (newest)
    return { type: 'release', chart: { name, namespace, ...newest }, evidence: `${where}, revision ${newest.revision} ${newest.status}` };
  const former = movedFrom(stored.value, valueOr(moved, []), name);
  if (!former)
    return { type: 'lost', chart: { name, namespace }, evidence: `${where}, which is stored neither in Secrets nor in ConfigMaps` };
  const evidence = `${where}, which is stored in namespace ${former.namespace} until the move that the run has begun is finished`;
  return { type: 'release', chart: { name, ...former }, evidence };
}

function renderedOrNone(objects: readonly KubeObject[]): ChartAnswer {
  const labelled = objects.find(({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'Helm');
  if (!labelled) return { type: 'none' };
  return { type: 'rendered', evidence: `${labelled.kind} ${labelled.metadata.name} was rendered from a chart, without a release` };
}

/** By UIDs alone: a Secret of any namespace may say that it holds the release. */
function movedFrom(stored: readonly KubeObject[], moved: readonly string[], name: string): Omit<ChartRelease, 'name'> | undefined {
  const namespace = stored.find(({ metadata }) => moved.includes(metadata.uid ?? ''))?.metadata.namespace;
  const newest = namespace === undefined ? undefined : newestRevision(stored, name, namespace);
  return namespace === undefined || newest === undefined ? undefined : { namespace, ...newest };
}
