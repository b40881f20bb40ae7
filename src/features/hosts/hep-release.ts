import { type Evidence, ok, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { ComponentVersion } from '../../kernel/installation.ts';
import { refText } from '../../kernel/object.ts';
import { ageBeside } from '../../kernel/release.ts';
import { failed, listed, PROGRAM } from '../survey/index.ts';
import type { HepJudged } from './hep-facts.ts';

/** Without one of these there is nobody to make endpoints, or nobody to enforce them. */
const NEEDED = { agent: 'agents', controllers: 'controllers' } as const;

/**
 * Whether all that endpoints depend on runs the target release; a complete rollout is no proof, as an old workload is complete as well.
 * Images without a readable release are warned of, as by NS-302.
 */
export function judgeReleases({ rollouts, components, enabled }: HepJudged, { options: { release } }: Context): Verdict {
  const rolling = read(rollouts)
    .filter(({ done }) => !done)
    .map(({ target, pending }) => ({ text: refText(target), detail: pending }));
  const { old = [], newer = [], untold = [] } = Object.groupBy(components, (one) => ageBeside(one.release, release));
  const groups: Groups = {
    behind: merged([...rolling, ...old.map(imageOf)]),
    newer: merged(newer.map(imageOf)),
    absent: absentFrom(components),
    untold: merged(untold.map(imageOf)),
  };
  const evidence = Object.values(groups).flat();
  if (evidence.length === 0) return ok('agents and controllers run the target release');
  return failed(becauseOf(groups, release, enabled), hintFor(groups, release), {
    evidence,
    ...(evidence.length === groups.untold.length ? { severity: 'warning' } : {}),
    next: nextFor(groups, old.length),
  });
}

/** What is wrong with which workloads; one may be in several groups. */
interface Groups {
  readonly behind: readonly Evidence[];
  readonly newer: readonly Evidence[];
  readonly absent: readonly Evidence[];
  readonly untold: readonly Evidence[];
}

const imageOf = ({ workload, container, image }: ComponentVersion) => ({ text: workload, detail: `${container}: ${image}` });

/** Names a workload once, with all details. */
function merged(found: readonly { readonly text: string; readonly detail: string }[]): readonly Evidence[] {
  return Object.entries(Object.groupBy(found, ({ text }) => text)).map(([text, all = []]) => ({
    text,
    detail: all.map(({ detail }) => detail).join('; '),
  }));
}

function absentFrom(components: HepJudged['components']): readonly Evidence[] {
  const there = new Set(components.map(({ component }) => component));
  return Object.entries(NEEDED).flatMap(([component, text]) => (there.has(component) ? [] : [{ text }]));
}

function becauseOf({ behind, newer, absent, untold }: Groups, release: string, enabled: boolean): string {
  const names = (group: readonly Evidence[]) => listed(group.map(({ text }) => text));
  const harm = enabled
    ? 'older agents do not see the labels of automatic endpoints, which are enabled, and drop host traffic'
    : 'automatic endpoints are off, so nothing is dropped now; enabled with older agents, they would drop host traffic';
  return [
    ...(behind.length > 0 ? [`not yet wholly on the target release: ${names(behind)}; ${harm}`] : []),
    ...(newer.length > 0 ? [`newer than ${release}: ${names(newer)}`] : []),
    ...(absent.length > 0 ? [`not found in the cluster: ${names(absent)}`] : []),
    ...(untold.length > 0 ? [`with an image that does not tell its release: ${names(untold)}`] : []),
  ].join('; ');
}

/** What is old is upgraded, what only rolls is waited for; anything else is for the user to look at. */
function nextFor({ behind }: Groups, old: number): string {
  if (behind.length === 0) return `${PROGRAM} preflight`;
  return old > 0 ? `${PROGRAM} run` : `${PROGRAM} wait`;
}

function hintFor({ behind, newer, absent }: Groups, release: string): string {
  if (behind.length > 0) return `Upgrade the service to ${release} and let the rolling update end first.`;
  if (newer.length > 0) return 'See who upgraded it, or whether --release names too old a release: the service runs as one release.';
  if (absent.length > 0) return 'See that the service runs as a whole, and whether --profile names the right one.';
  return `Compare the digests with those of ${release}.`;
}
