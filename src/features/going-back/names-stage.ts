import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted, firstOf } from '../../kernel/counted.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { refOf, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { Sources } from '../../kernel/ports.ts';
import { noneLeft, type OwnersJudged, ownersSearched, readOwnersAtDeadline } from '../ownerrefs/index.ts';
import { neverRenames, POLICY_PLURALS } from '../policies/index.ts';
import { allow, needs } from '../rights/index.ts';
import { attempt, readInstalled, rememberOf } from '../survey/index.ts';
import { readBehindCli } from './behind-cli.ts';
import { type NameFacts, nameChecks } from './checks.ts';
import { controllersName, readOldImages } from './controllers.ts';
import type { NoRenaming } from './effects.ts';
import { namingOf } from './former-names.ts';
import { readsOwnMetadata } from './own-metadata.ts';
import { judgeNames, type NameMove, type NamesJudged, namedWriters } from './policy-names.ts';
import { backwards, REF } from './stage.ts';
import { listedOf } from './stored-lists.ts';

interface NamesFacts extends NameFacts, OwnersJudged {
  readonly while?: NoRenaming | undefined;
  readonly installation: Installation;
  /** Why nothing is read. */
  readonly skip?: string;
}

const NO_OWNERS: OwnersJudged = { references: undefined, recorded: [] };
const NONE: NamesJudged = { moves: [], unnameable: [], conflicts: [], handWritten: [] };

/** The old release finds a policy only under the name that it stores it under: the copy first, then the one under the new name goes. */
export const rollbackNamesStage = backwards<NamesFacts>({
  id: 'rollback-names',
  title: 'Store policies under their former names',
  ref: REF,
  readOnly: false,
  needs: [
    needs.detection,
    needs.storedResources,
    needs.pinnedImages,
    needs.ownerSearch,
    needs.journal,
    () => allow(['get'], K.Deployment, 'whether the new controllers are stopped'),
    ({ crdGroup: group }) =>
      allow(
        ['create', 'delete', 'get'],
        POLICY_PLURALS.map((plural) => ({ group, plural })),
        'policies under the names of the old release',
      ),
  ],
  traffic: 'untouched',
  converges: true,
  checks: [...nameChecks, ownersSearched, noneLeft],
  async survey(sources, context) {
    const installation = await readInstalled(sources, context);
    const skip = whyNoNames(installation, context);
    const { names } = isKeyValue(installation)
      ? await readBehindCli(sources, context, installation)
      : { names: await readNames(sources, context, installation) };
    const moves = 'value' in names && names.value !== undefined && names.value.moves.length > 0;
    // A policy under another name has another UID: whoever still names the old one is collected.
    const renaming = moves ? await readNoRenaming(sources, context, installation) : undefined;
    const owners = moves ? await readOwnersAtDeadline(sources, context, installation) : NO_OWNERS;
    return { installation, ...(skip === undefined ? {} : { skip }), ...owners, names, while: renaming };
  },
  plan({ installation, skip, names, while: renaming }, context) {
    if (skip !== undefined) return { skip };
    const { moves, handWritten } = ('value' in names && names.value) || NONE;
    if (moves.length === 0) return { skip: 'every stored policy has the name that the old release asks for' };
    const { release } = context.goal;
    return {
      actions: [
        {
          id: 'names',
          title: `store ${counted(moves.length, 'policy', 'policies')} under the names that ${release} asks for`,
          ref: REF,
          undo: 'full',
          afresh: true,
          effect: { type: 'put-back-names', moves, apiGroup: context.profile.apiGroup, ...(renaming ? { while: renaming } : {}) },
        },
      ],
      remember: rememberOf(installation),
      objects: moves.map(plannedOf),
      notes: [
        'each policy is in force all the time: under both names for a moment, with the same rules; among policies of one order the stored name decides',
        ...(handWritten.length === 0
          ? []
          : [`not written through the API of the service, so that they keep their names: ${firstOf(handWritten.map(refText), 3)}`]),
      ],
    };
  },
});

function whyNoNames(installation: Installation, { profile, goal }: Context): string | undefined {
  if (isKeyValue(installation)) return 'policies of a key-value store are not moved: NS-762 names those that have to be';
  return namingOf(goal.release, profile) ? undefined : `${goal.release} finds policies by their stored names`;
}

/** What the names of stored policies mean to the old release; nothing where no release has others. */
export async function readNames(
  { cluster }: Pick<Sources, 'cluster'>,
  context: Context,
  installation: Installation,
): Promise<Reading<NamesJudged>> {
  const { profile, goal } = context;
  const naming = namingOf(goal.release, profile);
  if (!naming || whyNoNames(installation, context) !== undefined) return { value: NONE };
  return attempt(async () => {
    const policies = await listedOf(cluster, profile.crdGroup, (kind) => naming.kinds.includes(kind), namedWriters);
    return judgeNames(policies, { naming, profile, ownMetadata: readsOwnMetadata(goal.release, profile) });
  });
}

/** Undefined where the controllers never rename. */
async function readNoRenaming({ cluster }: Sources, context: Context, installation: Installation): Promise<NoRenaming | undefined> {
  const { profile } = context;
  const controllers = controllersName(installation, profile);
  const since = profile.policyRenaming?.since;
  if (!controllers || since === undefined || neverRenames(installation, profile) !== undefined) return undefined;
  return { controllers, since, old: await readOldImages(cluster, controllers, installation, context) };
}

function plannedOf({ from, copy, there }: NameMove): PlannedObject {
  const note = `a copy of ${refText(from)}, which is deleted once the copy stands`;
  if (there?.is === 'equal') return { ref: there.ref, change: 'unchanged', fields: [], hidden: [], taken: [], note };
  return { ref: refOf(copy), change: 'create', fields: [{ path: 'spec', after: copy.spec }], hidden: [], taken: [], note };
}
