import type { KubeObject } from '../../core/object.ts';
import type { ClusterReader } from '../../core/ports.ts';
import type { MergeInput } from '../../merge/merge-input.ts';
import { identityOf } from '../../merge/prepare.ts';
import { type BaseCandidate, isExact, rankBases } from '../../merge/rank-bases.ts';
import { eachOf } from '../reading.ts';
import type { Bases } from './base.ts';
import { type OwnObject, readLiveStates } from './own-objects.ts';

type Input = Omit<MergeInput, 'base'>;

/** So many releases are compared with the server's defaults filled in, which takes a dry run of each of their objects. */
const CLOSER = 8;

/**
 * The releases beside the labelled one that may be the installed one, where kubectl noted nothing on some objects (created,
 * replaced, applied server-side): what their live state differs in depends on the release whose defaults it is compared with.
 * By the labelled one's defaults all are ranked first; only the best are worth asking the server about.
 */
export async function othersToCompare(
  cluster: ClusterReader,
  own: readonly OwnObject[],
  input: Input,
  { labelled, others }: Bases,
): Promise<readonly BaseCandidate[]> {
  const unnoted = own.filter(({ live, applied }) => live && !applied);
  if (unnoted.length === 0 || others.length === 0 || isExact(input, labelled)) return others;
  const names = new Set(unnoted.map(({ document }) => identityOf(document)));
  const asApplied = labelled.documents.filter((document) => names.has(identityOf(document)));
  const rough = { ...input, mine: [...input.mine, ...asApplied] };
  const ranked = rankBases(rough, [labelled, ...others], labelled.release).filter(({ release }) => release !== labelled.release);
  const asked = askedOnce(cluster);
  return eachOf(ranked.slice(0, CLOSER), 1, async ({ release, documents }): Promise<BaseCandidate> => {
    const known = new Set(documents.map(identityOf));
    const { states } = await readLiveStates(asked, unnoted, documents);
    const isToldAnew = (object: KubeObject) => names.has(identityOf(object)) && known.has(identityOf(object));
    // What this release has not was added by somebody, if this release it is.
    const added = asApplied.filter((document) => !known.has(identityOf(document)));
    const live = [...(input.live ?? []).filter(({ now }) => !isToldAnew(now)), ...states];
    return { release, documents, told: { mine: [...input.mine, ...added], live } };
  });
}

/** Releases of one minor differ in few of their objects. */
function askedOnce(cluster: ClusterReader): Pick<ClusterReader, 'resolve' | 'dryRunCreate'> {
  const answers = new Map<string, Promise<KubeObject>>();
  return {
    resolve: (apiVersion, kind) => cluster.resolve(apiVersion, kind),
    dryRunCreate(kind, document) {
      const key = JSON.stringify([kind.plural, document]);
      const answer = answers.get(key) ?? cluster.dryRunCreate(kind, document);
      answers.set(key, answer);
      return answer;
    },
  };
}
