import type { DefectLine } from '../kernel/defect.ts';

/** The day of the state of Calico's release branches, and of its threads, by which open ends below were looked up. */
const LOOKED_UP = '2026-08-22';

/** A line of which a patch release has the fix. */
export function fixed(from: string, fixedIn: string): DefectLine {
  return { from, fixedIn };
}

/** Lines (`v3.29`) of which no release has the fix. */
export function open(...lines: readonly string[]): readonly DefectLine[] {
  return lines.map((line) => openFrom(`${line}.0`));
}

/** A line of which no release from this one on has the fix. */
export function openFrom(from: string): DefectLine {
  return { from, openOn: LOOKED_UP };
}

/** A line without the defect since its first release: it ends what is open in the line before. */
export function without(first: string): DefectLine {
  return { from: first, fixedIn: first };
}
