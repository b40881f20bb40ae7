import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { kindOf } from '../../kernel/owner-journal.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { referenceWriter } from '../../kube/reference-writer.ts';
import { attempt, eachOf } from '../survey/reading.ts';
import type { OwnersJudged } from './owner-facts.ts';
import type { OwnedFate } from './owner-fate.ts';
import { byKey, cameBack } from './owner-strip.ts';
import { readOwnersJudged } from './references.ts';

/** Objects whose managed fields are read: one controller puts many back, and its name is wanted, not theirs. */
const ASKED = 20;
const CONCURRENT_READS = 8;

/**
 * What has to be known right before a write that changes UIDs. A reference that was off and came back stops it there, so who put it back
 * is looked up as well.
 */
export async function readOwnersAtDeadline(sources: Sources, context: Context, installation: Installation): Promise<OwnersJudged> {
  return withWriters(sources.cluster, await readOwnersJudged(sources, context, installation));
}

/** The same with the field managers of the first objects whose references came back: the search leaves managed fields out. */
export async function withWriters(cluster: Pick<ClusterReader, 'get'>, judged: OwnersJudged): Promise<OwnersJudged> {
  const { references, recorded } = judged;
  if (!references || recorded.length === 0) return judged;
  const journal = byKey(recorded);
  const isBack = ({ owned, fates }: OwnedFate) => fates.some(({ breaks, reference }) => breaks && cameBack(owned, reference, journal));
  const asked = references.objects.filter(isBack).slice(0, ASKED);
  if (asked.length === 0) return judged;
  const named = await eachOf(asked, CONCURRENT_READS, async (one) => [one, await withWriter(cluster, one)] as const);
  const known = new Map(named);
  return { recorded, references: { ...references, objects: references.objects.map((one) => known.get(one) ?? one) } };
}

/** An account that may not read the object, or an object that is another by now, leaves it as it is: the name is a help, no more. */
async function withWriter(cluster: Pick<ClusterReader, 'get'>, one: OwnedFate): Promise<OwnedFate> {
  const { object } = one.owned;
  const reading = await attempt(() => cluster.get(kindOf({ object }), object.name, object.namespace));
  const metadata = 'value' in reading ? reading.value?.metadata : undefined;
  if (metadata?.uid !== object.uid) return one;
  const fates = one.fates.map((fate) => {
    const putBackBy = referenceWriter(metadata.managedFields, fate.reference.uid);
    return putBackBy ? { ...fate, putBackBy } : fate;
  });
  return { ...one, fates };
}
