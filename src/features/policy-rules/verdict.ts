import { firstOf } from '../../kernel/counted.ts';
import type { LanePosture, Posture } from './posture.ts';
import { sideChangeText } from './rule-sides.ts';
import { LANES, type Lane } from './rules.ts';

/** What a change does to a node (§7/3): `OPEN` lets everything through, `NEWLY POLICED` gets first policies, `CHANGED` others. */
export type ChangeVerdict = 'same' | 'CHANGED' | 'NEWLY POLICED' | 'OPEN';

/** What changes on one lane. */
export interface LaneVerdict {
  readonly lane: Lane;
  readonly verdict: Exclude<ChangeVerdict, 'same'>;
  readonly before: LanePosture;
  readonly after: LanePosture;
}

const WEIGHT: readonly ChangeVerdict[] = ['same', 'CHANGED', 'NEWLY POLICED', 'OPEN'];

/** The worst of several verdicts; `OPEN` is worst: nobody notices it. */
export function worst(verdicts: readonly ChangeVerdict[]): ChangeVerdict {
  return verdicts.reduce<ChangeVerdict>((a, b) => (WEIGHT.indexOf(b) > WEIGHT.indexOf(a) ? b : a), 'same');
}

export function compare(before: Posture, after: Posture): readonly LaneVerdict[] {
  return LANES.flatMap((lane) => {
    const verdict = laneVerdict(before[lane], after[lane]);
    return verdict === 'same' ? [] : [{ lane, verdict, before: before[lane], after: after[lane] }];
  });
}

function laneVerdict(before: LanePosture, after: LanePosture): ChangeVerdict {
  if (isSame(before, after)) return 'same';
  if (isOpen(after)) return 'OPEN';
  return isOpen(before) ? 'NEWLY POLICED' : 'CHANGED';
}

/** Even the same policies act otherwise if their rules select otherwise. */
function isSame(one: LanePosture, other: LanePosture): boolean {
  if (other.rules) return false;
  return areEqual(one.policies, other.policies) && (one.end === other.end || areEqual(profilesOf(one), profilesOf(other)));
}

/** No profiles: its end is another. */
const profilesOf = ({ end }: LanePosture): readonly string[] | undefined => (typeof end === 'string' ? undefined : end.profiles);

function areEqual(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.length === other.length && one.every((name, index) => name === other[index]);
}

function isOpen(lane: LanePosture): boolean {
  return lane.policies.length === 0 && lane.end === 'allow';
}

/** A text names at most this many addresses of one set: in a large fleet each host may be in it. */
const MOST_ADDRESSES = 100;

/** `policies a, b, else deny`: for users. With a limit `policies a, b, c and 397 more, else deny`: the first in order. */
export function laneText({ policies, end, rules }: LanePosture, limit = Number.POSITIVE_INFINITY): string {
  const last = typeof end === 'string' ? end : `rules of ${end.profiles.join(', ')}`;
  const other = rules
    ? ` (addresses change: ${firstOf(
        rules.map((one) => sideChangeText(one, Math.min(limit, MOST_ADDRESSES))),
        limit,
      )})`
    : '';
  if (policies.length === 0) return `${last}${other}`;
  return `${policies.length === 1 ? 'policy' : 'policies'} ${firstOf(policies, limit)}, else ${last}${other}`;
}
