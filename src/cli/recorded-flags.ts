import type { RunRecord } from '../kernel/run-record.ts';
import { type CarriedFlag, withRecorded } from './carry.ts';
import { rowsOf } from './flag.ts';
import { targetFlags } from './flags.ts';
import type { CommonFlags } from './seams.ts';

/** What a command that looks at a run takes from its record: which release, from where, installed how. Each is one word. */
const TAKEN = rowsOf(targetFlags).flatMap(([name, { recorded }]) => (recorded ? [name] : []));

/** The flags of a command with what the record of the run says where they do not. */
export interface WithRecord {
  readonly flags: CommonFlags;
  /** What came from the record, as flags of the next command. */
  readonly recorded: readonly CarriedFlag[];
}

export function flagsWithRecord(flags: CommonFlags, record: RunRecord | undefined, clusterUid: string): WithRecord {
  if (record?.clusterUid !== clusterUid) return { flags, recorded: [] };
  const given: Readonly<Record<string, unknown>> = { ...flags };
  const words = [...(record.flags ?? []), `--release=${record.target}`];
  const isTaken = ({ name }: CarriedFlag) => TAKEN.includes(name) && given[name] === undefined;
  const recorded = withRecorded([], words)
    .filter(isTaken)
    .filter(({ name }, index, all) => all.findIndex((one) => one.name === name) === index);
  const taken = Object.fromEntries(recorded.map(({ name, word }) => [name, word.slice(`--${name}=`.length)]));
  return { flags: { ...flags, ...taken }, recorded };
}
