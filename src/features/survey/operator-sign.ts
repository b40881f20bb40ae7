import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { imageRelease, isOlder, minorOf, parseRelease } from '../../kernel/release.ts';
import { type Container, containersOf, isNamed } from './workload.ts';

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
export interface OperatorRelease {
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
