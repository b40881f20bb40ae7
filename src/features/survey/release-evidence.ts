import type { Reading } from '../../kernel/check.ts';
import type { ComponentVersion, Installation } from '../../kernel/installation.ts';
import { textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { imageRelease, isOlder, minorOf, parseRelease, releaseTag, sameRelease } from '../../kernel/release.ts';
import { type Container, containersOf, isNamed } from '../../kube/workload.ts';

interface ReleaseFacts extends Pick<Installation, 'components'> {
  readonly installation?: KubeObject;
  readonly operator?: KubeObject;
  readonly clusterInformation: Reading<KubeObject | undefined>;
}

interface Witness {
  readonly says: string;
  readonly release: string;
}

/**
 * The installed release by the first that shows it (domain §3): agents' image, their pods, Installation status, ClusterInformation,
 * operator tag, chart label. Those that disagree are named, as one is behind.
 */
export function releaseOf(facts: ReleaseFacts, profile: Profile): Pick<Installation, 'release' | 'line' | 'evidence'> {
  const found = witnesses(facts, profile);
  const first = found[0];
  const { components, operator, clusterInformation } = facts;
  const missing = 'unread' in clusterInformation ? [`ClusterInformation could not be read: ${clusterInformation.unread}`] : [];
  if (!first) {
    const line = operator && operatorRelease(operator, profile)?.line;
    const agent = components.find(({ component }) => component === 'agent');
    const unknown = agent ? [`image ${agent.image} of the agents names no release`] : [];
    return { ...(line ? { line } : {}), evidence: [...unknown, ...missing] };
  }
  const others = found.slice(1).filter(({ release }) => !sameRelease(release, first.release));
  return {
    release: first.release,
    evidence: [`${first.says} ${first.release}`, ...others.map(({ says, release }) => `but ${says} ${release}`), ...missing],
  };
}

function witnesses({ components, installation, operator, clusterInformation }: ReleaseFacts, profile: Profile): readonly Witness[] {
  const own = new Set([profile.operator.agent, ...profile.variants.map(({ agent }) => agent)].map(({ container }) => container));
  const agents = components.filter(({ component, container }) => component === 'agent' && own.has(container));
  const fromOperator = operator && operatorRelease(operator, profile);
  const information = 'value' in clusterInformation ? clusterInformation.value : undefined;
  const { statusVersionField, chart } = profile.operator;
  const [prefix, label] = [`${chart}-`, operator?.metadata.labels?.['helm.sh/chart']];
  return [
    ...agents.slice(0, 1).map(({ image, release }) => witness(`image ${image} of the agents is of`, release)),
    ...sharedRelease(agents.slice(1)),
    witness('the Installation reports', textAt(installation?.status, statusVersionField ?? '')),
    witness(`${profile.clusterInformation.kind} says`, textAt(information?.spec, profile.clusterInformation.versionField)),
    witness(`operator ${fromOperator?.tag} installs`, fromOperator?.release),
    witness('the chart label says', label?.startsWith(prefix) ? label.slice(prefix.length) : undefined),
  ].flatMap((item) => item ?? []);
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

/** The operator's Deployment, by name, else anywhere by a label or container name (domain §2.1/3). It may be gone. */
export function findOperator(deployments: readonly KubeObject[], profile: Profile): KubeObject | undefined {
  const { namespace, deployment, labels } = profile.operator;
  return (
    deployments.find((object) => isNamed(object, { namespace, name: deployment })) ??
    deployments.find(({ metadata }) => Object.entries(labels).some(([key, value]) => metadata.labels?.[key] === value)) ??
    deployments.find((object) => containersOf(object).some(({ name }) => name === deployment))
  );
}

/** What the operator's own tag says about the service: the release if it is known exactly, else its minor line (domain §3.2). */
interface OperatorRelease {
  readonly tag: string;
  readonly release?: string;
  readonly line?: string;
}

export function operatorRelease(operator: KubeObject, profile: Profile): OperatorRelease | undefined {
  const { deployment, releases, exactReleases = {}, versionEnv } = profile.operator;
  const containers = containersOf(operator);
  const container = containers.find(({ name }) => name === deployment) ?? containers[0];
  const tag = container && (imageRelease(container.image ?? '') ?? envRelease(container, versionEnv));
  const parsed = tag === undefined ? undefined : parseRelease(tag);
  if (tag === undefined || !parsed) return undefined;
  const release = exactReleases[`v${parsed.major}.${parsed.minor}.${parsed.patch}`];
  const line = releases[minorOf(parsed)];
  return { tag, ...(release ? { release } : {}), ...(line ? { line } : {}) };
}

/** Whether the profile's table passes over the operator's line. Newer lines are unknown; alone, a gap means nothing. */
export function isOfOtherLine({ tag, release, line }: OperatorRelease, { operator }: Profile): boolean {
  if (!operator.otherProducts || release !== undefined || line !== undefined) return false;
  return Object.keys(operator.releases).some((known) => parseRelease(`${known}.0`) !== undefined && isOlder(tag, `${known}.0`));
}

function envRelease(container: Container, name: string | undefined): string | undefined {
  const value = container.env?.findLast((entry) => entry.name === name)?.value;
  return value !== undefined && parseRelease(value) ? value : undefined;
}
