import { Fault, MovedOn, type Outdated } from '../kernel/fault.ts';
import type { AnyStage } from '../kernel/stage.ts';

/** A stage was planned again too often. `outdated`: what ended its last round, if not the end of its actions. */
export function noRest({ id }: Pick<AnyStage, 'id'>, outdated: Outdated | undefined): Fault {
  const because = outdated?.message ?? 'something else keeps changing the same objects';
  const isOthers = outdated === undefined || outdated instanceof MovedOn;
  return new Fault('failed', `${id} keeps changing: ${because}`, isOthers ? OTHER_WRITER : NOT_SO);
}

const OTHER_WRITER = [
  'find the other writer with: kubectl get … --show-managed-fields -o yaml',
  'pause it, then run the same command again',
];
const NOT_SO = ['fix the cause above, then run the same command again'];

/** What actions found out, and what was left behind, in one line; undefined if there is nothing to say. */
export function toldText(told: ReadonlySet<string>, left: ReadonlyMap<string, string>): string | undefined {
  const behind = [...left].map(([what, why]) => `${what} (${why})`).join('; ');
  const all = [...told, ...(behind === '' ? [] : [`left behind: ${behind}`])];
  return all.length === 0 ? undefined : all.join('; ');
}
