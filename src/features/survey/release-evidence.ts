import type { Reading } from '../../kernel/check.ts';
import type { ComponentVersion } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { parseRelease, releaseTag, sameRelease } from '../../kernel/release.ts';
import { operatorRelease } from './operator-sign.ts';

export interface ReleaseFacts {
  readonly components: readonly ComponentVersion[];
  readonly installation?: KubeObject;
  readonly operator?: KubeObject;
  readonly clusterInformation: Reading<KubeObject | undefined>;
}

export interface ReleaseAnswer {
  /** Of the agents' workload; undefined if no evidence gives it. */
  readonly release?: string;
  /** Minor line, where only that is known. */
  readonly line?: string;
  readonly evidence: readonly string[];
}

interface Witness {
  readonly says: string;
  readonly release: string;
}

/**
 * The installed release by the first that shows it (domain §3): agents' image, their pods, Installation status, ClusterInformation,
 * operator tag, chart label. Those that disagree are named, as one is behind.
 */
export function releaseOf(facts: ReleaseFacts, profile: Profile): ReleaseAnswer {
  const found = witnesses(facts, profile);
  const first = found[0];
  const missing = unreadLines(facts);
  if (!first) return { ...lineOf(facts, profile), evidence: [...unknownTags(facts), ...missing] };
  const others = found.slice(1).filter(({ release }) => !sameRelease(release, first.release));
  return {
    release: first.release,
    evidence: [`${first.says} ${first.release}`, ...others.map(({ says, release }) => `but ${says} ${release}`), ...missing],
  };
}

function witnesses({ components, installation, operator, clusterInformation }: ReleaseFacts, profile: Profile): readonly Witness[] {
  const agents = components.filter(({ component, container }) => component === 'agent' && agentContainers(profile).has(container));
  const fromOperator = operator && operatorRelease(operator, profile);
  const information = 'value' in clusterInformation ? clusterInformation.value : undefined;
  return [
    ...agents.slice(0, 1).map(({ image, release }) => witness(`image ${image} of the agents is of`, release)),
    ...sharedRelease(agents.slice(1)),
    witness('the Installation reports', statusVersion(installation, profile)),
    witness(`${profile.clusterInformation.kind} says`, informationVersion(information, profile)),
    witness(`operator ${fromOperator?.tag} installs`, fromOperator?.release),
    witness('the chart label says', chartLabel(operator, profile)),
  ].flatMap((item) => item ?? []);
}

function agentContainers(profile: Profile): ReadonlySet<string> {
  return new Set([profile.operator.agent.container, ...profile.variants.map((variant) => variant.agent.container)]);
}

/** Pods count as one witness, and only where they agree; where they do not, the mixture itself is reported. */
function sharedRelease(pods: readonly ComponentVersion[]): readonly (Witness | undefined)[] {
  const releases = new Set(pods.map(({ release }) => release));
  return releases.size === 1 ? [witness('the running agents are of', pods[0]?.release)] : [];
}

function witness(says: string, text: string | undefined): Witness | undefined {
  const release = text === undefined ? undefined : parseRelease(text);
  return release && { says, release: releaseTag(release) };
}

function statusVersion(installation: KubeObject | undefined, profile: Profile): string | undefined {
  const field = profile.operator.statusVersionField;
  const status = (installation as { status?: Readonly<Record<string, unknown>> } | undefined)?.status;
  const value = field === undefined ? undefined : status?.[field];
  return typeof value === 'string' ? value : undefined;
}

function informationVersion(information: KubeObject | undefined, profile: Profile): string | undefined {
  const spec = (information as { spec?: Readonly<Record<string, unknown>> } | undefined)?.spec;
  const value = spec?.[profile.clusterInformation.versionField];
  return typeof value === 'string' ? value : undefined;
}

function chartLabel(operator: KubeObject | undefined, profile: Profile): string | undefined {
  const prefix = `${profile.operator.chart}-`;
  const label = operator?.metadata.labels?.['helm.sh/chart'];
  return label?.startsWith(prefix) ? label.slice(prefix.length) : undefined;
}

function lineOf({ operator }: ReleaseFacts, profile: Profile): { readonly line?: string } {
  const line = operator && operatorRelease(operator, profile)?.line;
  return line ? { line } : {};
}

function unknownTags({ components }: ReleaseFacts): readonly string[] {
  const agent = components.find(({ component }) => component === 'agent');
  return agent ? [`image ${agent.image} of the agents names no release`] : [];
}

function unreadLines({ clusterInformation }: ReleaseFacts): readonly string[] {
  return 'unread' in clusterInformation ? [`ClusterInformation could not be read: ${clusterInformation.unread}`] : [];
}
