import { counted } from '../../kernel/counted.ts';
import type { Edit } from '../../kernel/edit.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import type { FieldChange } from '../../kernel/plan.ts';
import { ownersOf } from '../../kube/field-paths.ts';
import type { BaseCandidate } from '../../manifest/choose-base.ts';
import { definitionDifferences, fieldAt } from '../../manifest/definition-differences.ts';
import { identityOf } from '../../manifest/prepare.ts';
import type { OwnObject } from './own-objects.ts';

const NOTE = 'Definitions of resources always come from the target.';

/**
 * Definitions that are neither a release's nor the target's, one line each, never carried; those of another API version are left out.
 * Fields are named by kubectl's note, else by the live definition.
 */
export function definitionEdits(
  own: readonly OwnObject[],
  base: BaseCandidate,
  others: readonly BaseCandidate[],
  theirs: readonly KubeObject[],
  installed: string | undefined,
): readonly Edit[] {
  const known = [{ documents: theirs }, ...others].map(({ documents }) => definitionsOf(documents));
  const released = definitionsOf(base.documents);
  const targeted = definitionsOf(theirs);
  return own.flatMap(({ document, live, applied }): readonly Edit[] => {
    const identity = identityOf(document);
    const [was, target] = [released.get(identity), targeted.get(identity)];
    if (!live || !was || !target || isJust(was, live) || known.some((all) => isJust(all.get(identity), live))) return [];
    const [inFile, inCluster = []] = [applied, live].map((state) => state && definitionDifferences(was, state));
    const marks = inCluster.filter((change) => staysOn(change, { applied, target }));
    const found = (inFile?.length ? inFile : inCluster).filter((change) => !marks.includes(change));
    const kept = marks.map((change) => markEdit(change, target, live));
    if (found.length === 0) return kept;
    const count = found.length;
    const names = [...found.slice(0, SHOWN).map(({ path }) => path), ...(count > SHOWN ? ['…'] : [])];
    return [
      ...kept,
      {
        ref: refOf(target),
        path: '',
        change: 'change',
        base: 'the release’s own',
        mine: counted(count, 'field differs', 'fields differ'),
        theirs: 'the target’s own',
        source: { kind: inFile?.length ? 'last-applied' : 'live' },
        outcome: 'target',
        note: `${NOTE} Compared with ${base.release}: ${names.join(', ')}.${installed === base.release ? '' : NOT_AT_HAND}`,
      },
    ];
  });
}

/** Definitions in the cluster that show the installed release, without those that the stage before has already replaced. */
export function tellingDefinitions(own: readonly OwnObject[], theirs: readonly KubeObject[]): readonly KubeObject[] {
  const targeted = definitionsOf(theirs);
  return own.flatMap(({ document, live }) => {
    if (!live || document.kind !== 'CustomResourceDefinition') return [];
    return isJust(targeted.get(identityOf(document)), live) ? [] : [live];
  });
}

/** An annotation or label set in the cluster that nothing applied sets: an apply does not change it. */
function staysOn(
  { path, before }: FieldChange,
  { applied, target }: { readonly applied: KubeObject | undefined; readonly target: KubeObject },
): boolean {
  if (before !== undefined || !/^metadata\.(annotations|labels)\b/.test(path)) return false;
  return [applied, target].every((state) => fieldAt(state, path) === undefined);
}

function markEdit({ path, after }: FieldChange, target: KubeObject, live: KubeObject): Edit {
  const manager = ownersOf(live.metadata.managedFields, path)[0]?.manager;
  const source = { kind: 'live', ...(manager === undefined ? {} : { manager }) } as const;
  return { ref: refOf(target), path, change: 'add', mine: after, source, outcome: 'kept', note: STAYS };
}

const STAYS = 'It stays in the cluster: the target does not set it.';

/** This many fields are named. */
const SHOWN = 3;

const NOT_AT_HAND = ' The installed release’s own is not at hand: it may be just that.';

function definitionsOf(documents: readonly KubeObject[]): ReadonlyMap<string, KubeObject> {
  const definitions = documents.filter(({ kind }) => kind === 'CustomResourceDefinition');
  return new Map(definitions.map((one) => [identityOf(one), one]));
}

function isJust(released: KubeObject | undefined, state: KubeObject): boolean {
  return released !== undefined && definitionDifferences(released, state)?.length === 0;
}
