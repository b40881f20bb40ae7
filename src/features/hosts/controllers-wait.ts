import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { isOlder } from '../../kernel/release.ts';
import { valueAt } from '../policies/index.ts';
import type { HepFacts } from './facts.ts';
import type { HepJudged } from './hep-facts.ts';

type Waited = Pick<HepFacts, 'agents' | 'configuration'>;

/**
 * From the renaming release on the controllers do nothing, endpoints included, before the named DaemonSet is rolled out, unless the
 * renaming is held (host endpoint notes 0.2, 6.2).
 */
export function waitOf({ agents, configuration }: Waited, { profile, options }: Context): HepJudged['obstacles'] {
  const { policyRenaming } = profile;
  if (!policyRenaming?.waitsFor || isOlder(options.release, policyRenaming.since)) return [];
  if (!agents || valueAt(configuration, policyRenaming.switchField) === 'Disabled') return [];
  const text = `DaemonSet ${policyRenaming.waitsFor}`;
  if (agents.metadata.name === policyRenaming.waitsFor) return unfinishedOf(agents).map((rest) => ({ text, ...rest }));
  return [
    {
      text,
      detail: `the controllers wait for it before they make endpoints, and the agents here are called ${agents.metadata.name}`,
      hint: `Switch the renaming of policies off first: ${policyRenaming.switchField}: Disabled.`,
    },
  ];
}

/** The first of the controllers' own conditions that does not hold. Unlike a rollout's, they want no agent where none should be. */
function unfinishedOf({ metadata, status }: KubeObject): readonly { readonly detail: string; readonly hint: string }[] {
  const count = (field: string) => (status as Readonly<Record<string, number | undefined>> | undefined)?.[field] ?? 0;
  const [wanted, misplaced] = [count('desiredNumberScheduled'), count('numberMisscheduled')];
  const all = (field: string) => ({ holds: count(field) === wanted, detail: `${field} is ${count(field)} of ${wanted}`, hint: ROLLING });
  const none = (field: string) => ({ holds: count(field) === 0, detail: `${field} is ${count(field)} of ${wanted}`, hint: ROLLING });
  const conditions = [
    { holds: count('observedGeneration') === (metadata.generation ?? 0), detail: 'its latest change has not been seen yet', hint: ROLLING },
    all('currentNumberScheduled'),
    all('updatedNumberScheduled'),
    none('numberUnavailable'),
    { holds: misplaced === 0, detail: `numberMisscheduled is ${misplaced}: ${strayed(misplaced)}`, hint: STRAYED },
  ];
  const open = conditions.find(({ holds }) => !holds);
  return open ? [{ detail: `the controllers make no endpoints before it is rolled out: ${open.detail}`, hint: open.hint }] : [];
}

const ROLLING = 'Let the rolling update of the agents end first.';
const STRAYED = 'Delete these pods, or let the DaemonSet select and tolerate their nodes again.';

function strayed(nodes: number): string {
  return `agents run on ${counted(nodes, 'node')} that should have none, and the controllers wait forever`;
}
