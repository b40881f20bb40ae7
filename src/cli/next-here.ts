import type { Finding } from '../core/check.ts';
import { type CarriedFlag, carriedTo } from '../ui/carry.ts';

/**
 * The next steps of findings, as commands for the cluster that was judged: a check names a command without knowing how this
 * cluster was reached, and without `--context` the same words would act on another one.
 */
export function findingsHere(findings: readonly Finding[], carried: readonly CarriedFlag[]): readonly Finding[] {
  return findings.map((finding) => (finding.next === undefined ? finding : { ...finding, next: nextHere(finding.next, carried) }));
}

/** Carried flags come before those of the command, which therefore win. */
export function nextHere(next: string, carried: readonly CarriedFlag[]): string {
  const ours = /^kubectl netsvc-upgrade ([a-z]+)(?= |$)/.exec(next);
  if (ours) return `${ours[0]}${carriedTo(ours[1] ?? '', carried)}${next.slice(ours[0].length)}`;
  return next.startsWith('kubectl ') ? `kubectl${carriedTo('kubectl', carried)}${next.slice('kubectl'.length)}` : next;
}
