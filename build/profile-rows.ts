import type { Defect, DefectText } from '../src/kernel/defect.ts';
import { shippedProfiles } from '../src/profiles/index.ts';

/** A row of the tables by which NS-609, NS-508 and NS-112 look, as pages show it. */
export interface ProfileRow extends Pick<DefectText, 'id' | 'sources'> {
  readonly check: string;
  readonly seen: string;
  /** The releases with the fix, and what helps besides. */
  readonly help: string;
}

const CHANGE_CHECKS = { meaning: 'NS-508', rollout: 'NS-112' } as const;

export const profileRows: readonly ProfileRow[] = shippedProfiles.flatMap(({ defects = [], changes = [] }) => [
  ...defects.map((one) => rowOf(one, 'NS-609', fixedIn(one))),
  ...changes.map((one) => rowOf(one, CHANGE_CHECKS[one.effect])),
]);

function rowOf({ id, symptom, advice = '', sources }: DefectText, check: string, fixed = ''): ProfileRow {
  return { check, id, seen: symptom, help: `${fixed} ${advice}`.trim(), sources };
}

function fixedIn({ lines }: Defect): string {
  const fixes = lines.flatMap((line) => ('fixedIn' in line && line.fixedIn !== line.from ? [line.fixedIn] : []));
  return fixes.length > 0 ? `Fixed in ${fixes.join(', ')}.` : '';
}

/** Threads (`projectcalico/calico#12700`) as links; what is none stays a text. */
export function linked(sources: readonly string[]): string {
  return sources.map(link).join(', ');
}

function link(source: string): string {
  const [, repository, number] = /^([\w.-]+\/[\w.-]+)#(\d+)$/.exec(source) ?? [];
  return repository ? `[${source.split('/')[1]}](https://github.com/${repository}/issues/${number})` : source;
}
