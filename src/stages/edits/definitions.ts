import { type KubeObject, refOf } from '../../core/object.ts';
import type { FieldChange } from '../../core/plan.ts';
import type { Trace } from '../../core/trace.ts';
import { withoutTexts } from '../../merge/definition-texts.ts';
import { changedFields } from '../../merge/fields.ts';
import { isRecord } from '../../merge/json.ts';
import { identityOf, prepared } from '../../merge/prepare.ts';
import type { BaseCandidate } from '../../merge/rank-bases.ts';
import type { OwnObject } from './own-objects.ts';

const NOTE = 'Definitions of resources always come from the target.';

/**
 * Definitions that are neither a release's own nor the target's: reported, one line each, and never carried. Nothing is told of one
 * that any release at hand has just as it is in the cluster, apart from what the server fills in, whatever kubectl noted: that may be
 * of long ago. The fields are named by that note, without it by the live definition; of one whose API version is another than the
 * release's nothing is told either.
 */
export function definitionEdits(
  own: readonly OwnObject[],
  base: BaseCandidate,
  others: readonly BaseCandidate[],
  theirs: readonly KubeObject[],
  installed: string | undefined,
): readonly Trace[] {
  const known = [{ documents: theirs }, ...others].map(({ documents }) => definitionsOf(documents));
  const released = definitionsOf(base.documents);
  const targeted = definitionsOf(theirs);
  return own.flatMap(({ document, live, applied }): readonly Trace[] => {
    const identity = identityOf(document);
    const [was, target] = [released.get(identity), targeted.get(identity)];
    if (!live || !was || !target || isJust(was, live) || known.some((all) => isJust(all.get(identity), live))) return [];
    const changes = [applied, live].map((state) => state && differences(was, state));
    const [inFile, inCluster] = changes;
    const found = inFile?.length ? inFile : inCluster;
    if (!found || found.length === 0) return [];
    const count = found.length;
    return [
      {
        ref: refOf(target),
        path: '',
        change: 'change',
        base: 'the release’s own',
        mine: `${count} ${count === 1 ? 'field differs' : 'fields differ'}`,
        theirs: 'the target’s own',
        source: { kind: inFile?.length ? 'last-applied' : 'live' },
        outcome: 'target',
        note: `${NOTE} Compared with ${base.release}: ${namesOf(found)}.${installed === base.release ? '' : NOT_AT_HAND}`,
      },
    ];
  });
}

/** So many fields are named. */
const SHOWN = 3;

const NOT_AT_HAND = ' The installed release’s own is not at hand: it may be just that.';

function namesOf(found: readonly FieldChange[]): string {
  const names = found.slice(0, SHOWN).map(({ path }) => path);
  return [...names, ...(found.length > SHOWN ? ['…'] : [])].join(', ');
}

function definitionsOf(documents: readonly KubeObject[]): ReadonlyMap<string, KubeObject> {
  const definitions = documents.filter(({ kind }) => kind === 'CustomResourceDefinition');
  return new Map(definitions.map((one) => [identityOf(one), one]));
}

function isJust(released: KubeObject | undefined, state: KubeObject): boolean {
  return released !== undefined && differences(released, state)?.length === 0;
}

/** Fields that differ beyond what the server fills in or leaves out; undefined between API versions: then every field may. */
function differences(released: KubeObject, state: KubeObject): readonly FieldChange[] | undefined {
  if (released.apiVersion !== state.apiVersion) return undefined;
  return changedFields(prepared(withoutTexts(released)), prepared(withoutTexts(state))).filter((change) => !isFilledIn(change));
}

const FILLED_IN = /^spec\.(conversion|preserveUnknownFields|names\.(singular|listKind|categories|shortNames))\b/;

function isFilledIn({ path, before, after }: FieldChange): boolean {
  if (isNothing(before) && isNothing(after)) return true;
  return before === undefined && FILLED_IN.test(path);
}

/** What the server stores as absent. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}
