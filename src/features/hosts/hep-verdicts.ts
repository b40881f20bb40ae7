import { type Command, command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { ComponentVersion } from '../../kernel/installation.ts';
import { refText } from '../../kernel/object.ts';
import { ageBeside } from '../../kernel/release.ts';
import { failed, failIfAny, listed, table } from '../survey/index.ts';
import type { GoneEndpoint, HepCheck, HepJudged } from './facts.ts';

/** Without one of these there is nobody to make endpoints, or nobody to enforce them. */
const NEEDED = { agent: 'agents', controllers: 'controllers' } as const;

/**
 * Whether all that endpoints depend on runs the target release; a complete rollout is no proof, as an old workload is complete as well.
 * Images without a readable release are warned of, as by NS-302.
 */
export function judgeReleases({ rollouts, components, enabled }: HepJudged, { goal: { release } }: Context): Verdict {
  const rolling = read(rollouts)
    .filter(({ done }) => !done)
    .map(({ target, pending }) => ({ text: refText(target), detail: pending }));
  const { old = [], newer = [], untold = [] } = Object.groupBy(components, (one) => ageBeside(one.release, release));
  const harm = enabled
    ? 'older agents do not see the labels of automatic endpoints, which are enabled, and drop host traffic'
    : 'automatic endpoints are off, so nothing is dropped now; enabled with older agents, they would drop host traffic';
  const behind = merged([...rolling, ...old.map(imageOf)]);
  const groups = [
    {
      of: behind,
      is: (names: string) => `not yet wholly on the target release: ${names}; ${harm}`,
      hint: `Upgrade the service to ${release} and let the rolling update end first.`,
    },
    {
      of: merged(newer.map(imageOf)),
      is: (names: string) => `newer than ${release}: ${names}`,
      hint: 'See who upgraded it, or whether --release names too old a release: the service runs as one release.',
    },
    {
      of: absentFrom(components),
      is: (names: string) => `not found in the cluster: ${names}`,
      hint: 'See that the service runs as a whole, and whether --profile names the right one.',
    },
    {
      of: merged(untold.map(imageOf)),
      is: (names: string) => `with an image that does not tell its release: ${names}`,
      hint: `Compare the digests with those of ${release}.`,
      severity: 'warning' as const,
    },
  ].filter(({ of }) => of.length > 0);
  // The first says what to do; a workload may be in several.
  const [first] = groups;
  if (!first) return ok('agents and controllers run the target release');
  const because = groups.map(({ of, is }) => is(listed(of.map(({ text }) => text)))).join('; ');
  const { hint, severity } = first;
  const evidence = groups.flatMap(({ of }) => of);
  return failed(because, hint, { evidence, ...(severity ? { severity } : {}), next: nextFor(behind.length, old.length) });
}

/** What is old is upgraded, what only rolls is waited for; anything else is for the user to look at. */
function nextFor(behind: number, old: number): Command {
  if (behind === 0) return command`kubectl netsvc-upgrade preflight`;
  return old > 0 ? command`kubectl netsvc-upgrade run` : command`kubectl netsvc-upgrade wait`;
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

export const hepUndoChecks: readonly HepCheck[] = table({ category: 'follow-up', severity: 'error', ref: '§4.7/3' }, [
  /** The undo restores what the migration removed, and nobody else's removals (§4.7/3). */
  {
    id: 'NS-724',
    title: 'old host endpoints removed by the migration',
    severity: 'warning',
    judge({ gone }) {
      if (!gone) return notApplicable('nothing is taken back');
      const [others, untold] = [gone.filter(({ remover }) => remover === 'other'), gone.filter(({ remover }) => remover === 'untold')];
      if (others.length + untold.length === 0) return ok('every old endpoint that is gone was removed by the migration');
      const because = [
        ...(others.length > 0
          ? [`${counted(others.length, 'host endpoint')} removed by somebody else, not created again: ${names(others)}`]
          : []),
        ...(untold.length > 0
          ? [`${counted(untold.length, 'host endpoint')} without a record of who removed them, created again: ${names(untold)}`]
          : []),
      ];
      return failed(because.join('; '), 'Create the former again if you want them back, and delete the latter if they were meant to go.', {
        evidence: [...others, ...untold].map(evidenceOf),
        next: command`kubectl netsvc-upgrade hep --undo --dry-run=client -o wide`,
      });
    },
  },
  /** A record may be somebody else's work: what the migration cannot have made is not touched (§4.7/3). */
  {
    id: 'NS-738',
    title: 'undo touches only what the migration made',
    judge({ gone, refusedBack }) {
      if (!gone) return notApplicable('nothing is taken back');
      return failIfAny(refusedBack, 'the record names only what the migration can have made', (subjects) => ({
        because: `the record names ${counted(refusedBack.length, 'thing')} that the migration cannot have made, or that others own by now; not changed: ${subjects}`,
        hint: 'See who wrote the record. Change these yourself if you want that, and accept them by name: --undo does the rest.',
        next: command`kubectl netsvc-upgrade hep --undo --dry-run=client -o wide`,
      }));
    },
  },
]);

const names = (some: readonly GoneEndpoint[]) => listed(some.map(({ name }) => name));

/** As it was, whole only where it is asked for: the user can create it from that. */
function evidenceOf({ name, node, remover, asItWas }: GoneEndpoint) {
  const who = remover === 'other' ? 'removed by somebody else, stays away' : 'created again, for it cannot be told who removed it';
  return { text: name, brief: `node ${node}; ${who}`, detail: `node ${node}; ${who}; as it was: ${asItWas}` };
}
