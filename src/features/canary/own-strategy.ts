import type { Context } from '../../kernel/context.ts';
import { mapAt, pointerTo, sameValue, textAt } from '../../kernel/json.ts';
import { type JsonPatchOp, type KubeObject, type ObjectChange, type ObjectRef, refOf, refText } from '../../kernel/object.ts';
import { type KeptChange, keptChanges, putOp, runOf, valueIn } from '../../kernel/object-change.ts';
import { type Records, type RunRecord, recordHere, waitsForUser } from '../../kernel/run-record.ts';

/** The stage that changes strategies: what it keeps is known by its id. */
const STAGE = 'apply';
/** Where a DaemonSet says how its pods are replaced. */
const STRATEGY = '/spec/updateStrategy';
/** Annotation of a DaemonSet whose strategy is ours. */
const MARK = 'netsvc-upgrade/strategy';

/** What this program gave a DaemonSet for a while, known by what was kept before each write. */
interface OwnStrategy {
  readonly ref: ObjectRef;
  /** As its user had it. */
  readonly before: unknown;
  /** Each strategy that it was given since, whichever of the writes came through. */
  readonly ours: readonly unknown[];
}

export type OwnStrategies = readonly OwnStrategy[];

/** None where the last run is over, for it has put them back, and where none of these objects can have one. */
export async function readOwnStrategies(
  records: Pick<Records, 'keptWith'>,
  record: RunRecord | undefined,
  here: Pick<Context, 'clusterUid'>,
  live: readonly KubeObject[],
): Promise<OwnStrategies> {
  const run = recordHere(record, here);
  if (run === undefined || run.finishedAt !== undefined || !live.some((one) => isMarked(one) || isOnDelete(one))) return [];
  return strategiesIn(await keptChanges(records, STAGE, isStrategy));
}

/** This run has given a DaemonSet a strategy of ours, whatever it has by now. */
export async function hadOwnStrategy(records: Pick<Records, 'keptWith'>, { runId }: Pick<RunRecord, 'runId'>): Promise<boolean> {
  return (await keptChanges(records, STAGE, isStrategy)).some((kept) => runOf(kept) === runId);
}

/**
 * A canary is held first and may then get a pace: what its user had is kept with the first of them. What was put back is over, and what its
 * user set since counts in its place.
 */
function strategiesIn(kept: readonly KeptChange[]): OwnStrategies {
  const found = new Map<string, OwnStrategy>();
  for (const { ref, before, after, isUndo, outcome } of kept) {
    const key = refText(ref);
    const [had, has] = [strategyIn(before), strategyIn(after)];
    const earlier = found.get(key);
    const continued = earlier && [earlier.before, ...earlier.ours].some((value) => sameValue(value, had)) ? earlier : undefined;
    if (!isUndo) found.set(key, { ref, before: continued ? continued.before : had, ours: [...(continued?.ours ?? []), has] });
    else if (outcome?.done === true) found.delete(key);
  }
  return [...found.values()];
}

/** A record is no source of objects: nothing but the strategy of a DaemonSet is taken from it. */
function isStrategy({ ref, before, after }: ObjectChange): boolean {
  return ref.kind === 'DaemonSet' && [before, after].every((places) => Object.keys(places).every((place) => place === STRATEGY));
}

const isNamed = (live: KubeObject, ref: ObjectRef): boolean => refText(ref) === refText(refOf(live));

/** The strategy of this DaemonSet, if it is one of ours now. */
export function ownStrategyOf(live: KubeObject, own: OwnStrategies): OwnStrategy | undefined {
  const now = strategyOf(live);
  const one = own.find(({ ref }) => isNamed(live, ref));
  return one && !sameValue(now, one.before) && one.ours.some((value) => sameValue(now, value)) ? one : undefined;
}

/** The object as its user has it: with the strategy that was there before ours. Where the record of that is lost, with the released one. */
export function withoutOwn(live: KubeObject, own: OwnStrategies, released: KubeObject): KubeObject {
  const ours = ownStrategyOf(live, own);
  const { [MARK]: _, ...annotations } = live.metadata.annotations ?? {};
  const plain = isMarked(live) ? { ...live, metadata: { ...live.metadata, annotations } } : live;
  if (ours) return withStrategy(plain, ours.before);
  return isMarked(live) && !own.some(({ ref }) => isNamed(live, ref)) ? withStrategy(plain, strategyOf(released)) : plain;
}

/** The object with a strategy of ours, which says so to whoever looks at it. */
export function marked(workload: KubeObject, strategy: unknown, { release, takesBack }: Context['goal']): KubeObject {
  const until = `for the ${takesBack ? 'rollback' : 'upgrade'} to ${release}; its own comes back with it`;
  const annotations = { ...workload.metadata.annotations, [MARK]: until };
  return withStrategy({ ...workload, metadata: { ...workload.metadata, annotations } }, strategy);
}

export const isMarked = ({ metadata }: KubeObject): boolean => metadata.annotations?.[MARK] !== undefined;

/** The agents with the new template, which get it only where somebody deletes their pod. */
export function held(workload: KubeObject, goal: Context['goal']): KubeObject {
  return marked(workload, { type: 'OnDelete' }, goal);
}

/** Whoever has set it. */
export const isOnDelete = (live: KubeObject): boolean => textAt(strategyOf(live), 'type') === 'OnDelete';

/** This program keeps the DaemonSet from replacing its pods. */
export const isHeld = (live: KubeObject): boolean => isMarked(live) && isOnDelete(live);

/** The same by the record alone, for who looks: an agent is held by it, whoever has removed our mark. */
export const isHeldBy = (live: KubeObject, record: Pick<RunRecord, 'stages'> | undefined): boolean =>
  isHeld(live) || (isOnDelete(live) && record !== undefined && waitsForUser(record));

/** The same by what was kept. */
export const isStillHeld = (live: KubeObject, own: OwnStrategies): boolean =>
  isHeld(live) || (isOnDelete(live) && ownStrategyOf(live, own) !== undefined);

/**
 * Gives a held DaemonSet this strategy, and removes the mark unless it stays ours. Tested is what it is to be, not its version: its
 * controller writes the status whenever an agent changes.
 */
export function rollOps(live: KubeObject, strategy: unknown, staysOurs: boolean): readonly JsonPatchOp[] {
  const mark = pointerTo('metadata', 'annotations', MARK);
  const unmark: readonly JsonPatchOp[] = staysOurs || !isMarked(live) ? [] : [{ op: 'remove', path: mark }];
  return [{ op: 'test', path: '/metadata/generation', value: live.metadata.generation }, putOp(live, STRATEGY, strategy), ...unmark];
}

/** Of a change that was kept or planned. */
export const strategyIn = (places: ObjectChange['after']): unknown => places[STRATEGY];

/** A change of nothing but a strategy and its mark. */
export function isOfStrategy(path: string): boolean {
  return path.startsWith('spec.updateStrategy') || path.includes(MARK);
}

function withStrategy(workload: KubeObject, updateStrategy: unknown): KubeObject {
  const { updateStrategy: _, ...spec } = workload.spec as Readonly<Record<string, unknown>>;
  return { ...workload, spec: { ...spec, ...(updateStrategy === undefined ? {} : { updateStrategy }) } };
}

export const strategyOf = (workload: KubeObject): unknown => valueIn(workload, STRATEGY);

/** A new pod comes before the old one goes. */
export function hasSurge(strategy: unknown): boolean {
  const { maxSurge } = mapAt(strategy, 'rollingUpdate');
  return maxSurge !== undefined && Number.parseInt(String(maxSurge), 10) > 0;
}

/** From the strategy of one object to that of the other, for the run record; undefined if they are equal. */
export function strategyChange(from: KubeObject, to: KubeObject): ObjectChange | undefined {
  const [before, after] = [strategyOf(from), strategyOf(to)];
  if (sameValue(before, after)) return undefined;
  const places = (value: unknown) => (value === undefined ? {} : { [STRATEGY]: value });
  return { ref: refOf(from), before: places(before), after: places(after) };
}

/** `RollingUpdate, maxUnavailable 25%`, as it is kept in a change. */
export const strategyText = (places: ObjectChange['after']): string => strategyWords(strategyIn(places));

export const liveStrategyText = (workload: KubeObject): string => strategyWords(strategyOf(workload));

export function strategyWords(strategy: unknown): string {
  const { maxUnavailable, maxSurge } = mapAt(strategy, 'rollingUpdate');
  const limits = { maxUnavailable, maxSurge };
  const told = Object.entries(limits).flatMap(([name, value]) => (value === undefined || value === 0 ? [] : [`${name} ${String(value)}`]));
  return [textAt(strategy, 'type') ?? 'RollingUpdate', ...told].join(', ');
}
