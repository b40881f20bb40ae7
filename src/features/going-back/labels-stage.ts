import type { GuardedPatch } from '../../kernel/action.ts';
import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { apiVersionOf, crdName, type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { Sources } from '../../kernel/ports.ts';
import { named } from '../../kube/lean-objects.ts';
import { allow, needs } from '../rights/index.ts';
import { attempt, readInstalled, rememberOf } from '../survey/index.ts';
import { type LabelsJudged, labelChecks } from './checks.ts';
import { readNames } from './names-stage.ts';
import { type Hidden, type HiddenIn, hiddenIn, ownMetadataPatch, readsOwnMetadata } from './own-metadata.ts';
import type { NameProblem } from './policy-names.ts';
import { backwards } from './stage.ts';

interface LabelFacts extends LabelsJudged {
  readonly installation: Installation;
  /** Why nothing is read. */
  readonly skip?: string;
}

const REF = 'domain §7.2c';

/** What newer writers keep in an annotation is put where older readers look: selectors of old agents would silently miss it. */
export const rollbackLabelsStage = backwards<LabelFacts>({
  id: 'rollback-labels',
  title: 'Show labels to the old release',
  ref: REF,
  readOnly: false,
  needs: [
    needs.detection,
    needs.storedResources,
    ({ crdGroup: group }) => allow(['patch'], { group, plural: '*' }, 'labels where the old release reads them'),
  ],
  traffic: 'untouched',
  converges: true,
  checks: labelChecks,
  async survey(sources, context) {
    const installation = await readInstalled(sources, context);
    const skip = whyNot(installation, context);
    if (skip !== undefined) return { installation, skip, found: { value: [] } };
    return { installation, found: await attempt(() => readHidden(sources, context)) };
  },
  plan({ installation, skip, found }, context) {
    if (skip !== undefined) return { skip };
    const objects = valueIn(found);
    const patches = objects.flatMap(({ object, hidden }) => ownMetadataPatch(object, hidden) ?? []);
    if (patches.length === 0) return { skip: 'every stored object has its labels where the old release reads them' };
    const kept = objects.filter(({ hidden }) => hidden.tooLarge);
    return {
      actions: [
        {
          id: 'labels',
          title: `put labels and annotations on ${counted(patches.length, 'stored object')}, where ${context.goal.release} reads them`,
          ref: REF,
          undo: 'full',
          effect: { type: 'patch-all', what: 'labels shown to the old release', patches },
        },
      ],
      remember: rememberOf(installation),
      objects: objects.flatMap(({ object, hidden }) => plannedOf(object, hidden)),
      notes: kept.map(
        ({ object }) => `${refText(refOf(object))} gets its labels alone: with its annotations it would be larger than Kubernetes allows`,
      ),
    };
  },
});

function whyNot(installation: Installation, { profile, goal }: Context): string | undefined {
  if (isKeyValue(installation)) return 'in a key-value store every release reads the same labels';
  return readsOwnMetadata(goal.release, profile) ? undefined : `${goal.release} reads labels where they are stored`;
}

async function readHidden({ cluster }: Pick<Sources, 'cluster'>, { profile }: Context): Promise<readonly HiddenIn[]> {
  const { crdGroup, apiGroup, olderReaders } = profile;
  const { kinds } = await cluster.discover();
  const asked = kinds.filter(
    ({ group, plural }) => group === crdGroup && !plural.includes('/') && !olderReaders?.withoutLabels.includes(plural),
  );
  const lists = await eachOf(asked, 4, async (kind) => {
    const listed = await cluster.list(kind, { metadataOnly: true, keep: lean });
    // A list of metadata alone does not say what it lists.
    const objects = listed.map((object) => ({ ...object, apiVersion: apiVersionOf(kind), kind: kind.kind }));
    return objects.flatMap((object) => {
      const hidden = hiddenIn(object, apiGroup);
      return hidden ? [{ object, hidden, resource: crdName(kind) }] : [];
    });
  });
  return lists.flat();
}

/** What the older release would miss of what was written while the newer API server still served: labels, and policies by their names. Undefined without such a server. */
export async function readMissed(
  sources: Pick<Sources, 'cluster'>,
  context: Context,
  installation: Installation,
): Promise<Reading<readonly NameProblem[] | undefined>> {
  if (isKeyValue(installation)) return { value: undefined };
  const [hidden, names] = await Promise.all([
    whyNot(installation, context) === undefined ? attempt(() => readHidden(sources, context)) : { value: [] },
    readNames(sources, context, installation),
  ]);
  if ('unread' in hidden) return hidden;
  if ('unread' in names) return names;
  const labels = hidden.value.flatMap(({ object, hidden: { labels: own, annotations } }) => {
    const keys = Object.keys({ ...own, ...annotations });
    return keys.length === 0 ? [] : [{ object: refOf(object), detail: `not seen: ${keys.join(', ')}` }];
  });
  const moved = names.value.moves.map(({ from, copy }) => ({ object: from, detail: `asked for as ${copy.metadata.name}` }));
  return { value: [...labels, ...moved, ...names.value.unnameable, ...names.value.conflicts] };
}

const lean = (object: KubeObject): KubeObject => named(object, 'uid', 'resourceVersion', 'labels', 'annotations');

/** The check says why it could not be read. */
function valueIn<T>(found: Reading<readonly T[]>): readonly T[] {
  return 'unread' in found ? [] : found.value;
}

function plannedOf(object: KubeObject, hidden: Hidden): readonly PlannedObject[] {
  const patch: GuardedPatch | undefined = ownMetadataPatch(object, hidden);
  if (!patch) return [];
  const { labels = {}, annotations = {} } = object.metadata;
  const fieldsOf = (map: string, now: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>) =>
    Object.entries(wanted).map(([key, after]) => ({
      path: `metadata.${map}[${key}]`,
      ...(now[key] === undefined ? {} : { before: now[key] }),
      after,
    }));
  const fields = [...fieldsOf('labels', labels, hidden.labels), ...fieldsOf('annotations', annotations, hidden.annotations)];
  return [{ ref: refOf(object), change: 'update', fields, hidden: [], taken: [] }];
}
