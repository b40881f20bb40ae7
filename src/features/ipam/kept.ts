import { areTexts, isRecord } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Records, RunRecord } from '../../kernel/run-record.ts';
import { FAULT_KINDS, type IpamFault } from './faults.ts';
import type { IpamFacts } from './survey.ts';

/** The id of what the run keeps: how the bookkeeping was before its first write. */
const KEPT = 'ipam';
/** Of a fault its text alone is kept, and of each kind at most this number. */
const MOST = 2_000;

/** What was wrong before, by kind. A kind of which more was wrong is not compared later. */
export interface IpamBefore {
  readonly youngestNode: string;
  readonly faults: Readonly<Record<IpamFault['kind'], readonly string[] | 'too many'>>;
}

export function keptIpam({ faults, youngestNode }: IpamFacts): { readonly id: string; readonly content: IpamBefore } {
  const texts = (kind: IpamFault['kind']) => faults.filter((one) => one.kind === kind).map(({ text }) => text);
  const kept = (all: readonly string[]) => (all.length > MOST ? ('too many' as const) : all);
  const [claimed = [], tunnel = [], left = []] = FAULT_KINDS.map(texts);
  return { id: KEPT, content: { youngestNode, faults: { 'twice-claimed': kept(claimed), tunnel: kept(tunnel), 'left-over': kept(left) } } };
}

/** This run has kept it already. */
export const keepsIpam = ({ kept }: Pick<RunRecord, 'kept'>): boolean => kept.some((one) => one.includes(`/${KEPT}#`));

/** What this run kept; undefined where it kept none, and for what is none: a record is text of others. */
export async function readKeptIpam(records: Records, record: RunRecord | undefined): Promise<IpamBefore | undefined> {
  const id = record?.kept.find((one) => one.includes(`/${KEPT}#`));
  const content = id === undefined ? undefined : await records.kept(id);
  return isBefore(content) ? content : undefined;
}

function isBefore(value: unknown): value is IpamBefore {
  if (!isRecord(value) || typeof value.youngestNode !== 'string' || !isRecord(value.faults)) return false;
  const { faults } = value;
  return FAULT_KINDS.every((kind) => {
    const all = faults[kind];
    return all === 'too many' || areTexts(all);
  });
}

/** What is wrong now and was not before, on nodes that were there all the time; and the kinds that cannot be compared. */
export function newFaults(before: IpamBefore, now: IpamFacts, nodes: readonly KubeObject[]) {
  const throughout = new Set(
    nodes.filter(({ metadata }) => (metadata.creationTimestamp ?? '') <= before.youngestNode).map(({ metadata }) => metadata.name),
  );
  const faults = now.faults.filter(({ kind, text, nodes: about }) => {
    const known = before.faults[kind];
    return known !== 'too many' && !known.includes(text) && about.every((one) => throughout.has(one));
  });
  return { faults, uncompared: FAULT_KINDS.filter((kind) => before.faults[kind] === 'too many') };
}
