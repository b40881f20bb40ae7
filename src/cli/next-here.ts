import type { Finding } from '../kernel/check.ts';
import { type CarriedFlag, carriedTo } from '../report/carry.ts';

export interface Here {
  readonly carried: readonly CarriedFlag[];
  /** The commands that this version has. */
  readonly commands: readonly string[];
}

/**
 * The next steps of findings, as commands for the cluster that was judged: a check names a command without knowing how this
 * cluster was reached, and without `--context` the same words would act on another one.
 */
export function findingsHere(findings: readonly Finding[], { carried, commands }: Here): readonly Finding[] {
  return findings.map((finding) => {
    if (finding.next === undefined) return finding;
    // The procedure has stages that this version has no command for yet: what a person can do about them is in the page.
    const command = ownCommand(finding.next);
    const known = command === undefined || commands.includes(command);
    return { ...finding, next: known ? nextHere(finding.next, carried) : `kubectl netsvc-upgrade explain ${finding.id}` };
  });
}

const OURS = /^kubectl netsvc-upgrade ([a-z]+)(?= |$)/;

function ownCommand(next: string): string | undefined {
  return OURS.exec(next)?.[1];
}

/** Flags that may be given more than once: those of a command add to those that are carried. */
const REPEATABLE: ReadonlySet<string> = new Set(['accept', 'resolve', 'skip', 'include']);

/** Carried flags come before those of the command; what the command says itself is not carried: most flags may be given once. */
export function nextHere(next: string, carried: readonly CarriedFlag[]): string {
  const ours = OURS.exec(next);
  const isSaid = ({ name }: CarriedFlag) => !REPEATABLE.has(name) && new RegExp(`(?:^| )--${name}(?:[= ]|$)`).test(next);
  const more = carried.filter((flag) => !isSaid(flag));
  if (ours) return `${ours[0]}${carriedTo(ours[1] ?? '', more)}${next.slice(ours[0].length)}`;
  return next.startsWith('kubectl ') ? `kubectl${carriedTo('kubectl', carried)}${next.slice('kubectl'.length)}` : next;
}
