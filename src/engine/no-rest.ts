import { Fault } from '../kernel/fault.ts';
import { MovedOn, type Outdated } from '../kernel/outdated.ts';
import type { AnyStage } from '../kernel/stage.ts';

/** A stage was planned again and again in vain. `outdated`: what ended its last round, if anything but the end of its actions did. */
export function noRest({ id }: Pick<AnyStage, 'id'>, outdated: Outdated | undefined): Fault {
  const because = outdated?.message ?? 'something else keeps changing the same objects';
  const isOthers = outdated === undefined || outdated instanceof MovedOn;
  return new Fault('failed', `${id} keeps changing: ${because}`, isOthers ? OTHER_WRITER : NOT_SO);
}

const OTHER_WRITER = [
  'find the other writer with: kubectl get … --show-managed-fields -o yaml',
  'pause it, then continue with the same command',
];
const NOT_SO = ['fix what it says, then continue with the same command'];

/** What was left behind, in one line; undefined if nothing was. */
export function leftText(left: ReadonlyMap<string, string>): string | undefined {
  if (left.size === 0) return undefined;
  return `left behind: ${[...left].map(([what, why]) => `${what} (${why})`).join('; ')}`;
}
