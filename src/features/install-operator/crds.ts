import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import {
  applyCrds,
  type CrdFacts,
  changes,
  finishedFile,
  readCrdFacts,
  readCrdManifest,
  stoppedOperator,
} from '../install-manifest/index.ts';
import { pathPart } from '../survey/index.ts';
import { type CrdsJudged, crdsChecks } from './checks.ts';
import { readHealth } from './component-statuses.ts';

/** Said when the CRDs exist: a user who asked for this stage alone must not stop here. A chain continues by itself. */
const AT_ONCE: Action = {
  id: 'at-once',
  title: 'run apply at once',
  ref: '§4.3/2',
  undo: 'full',
  effect: {
    type: 'ask',
    instruction:
      'run apply at once (run does it by itself). The old operator does not know the new CRDs: if it restarts before the new one is there, it hangs, and its statuses stay green',
  },
};

/** Said where no CRD is applied: an operator that keeps its own puts them back within seconds, each time (domain §11.5). */
export const LEFT_TO_OPERATOR = 'the operator installs the CRDs of its own release, and would put others back';

/** For `plan --for-git`. */
export const GIT_WITHOUT_CRDS =
  'The operator installs its CRDs itself: Git needs none, and a tool that applies those of another release would undo its work.';

export function withoutCrds(documents: readonly KubeObject[]): readonly KubeObject[] {
  return documents.filter(({ kind }) => kind !== K.CustomResourceDefinition.kind);
}

/** What applying the CRDs would change: nothing where the operator keeps them. */
export async function readAppliedCrds(sources: Sources, context: Context, installation: Installation): Promise<CrdFacts> {
  if (!installation.restoresCrds) return readCrdFacts(sources, context, installation);
  return { crds: await readCrdManifest(sources, context, installation), previews: [] };
}

interface OperatorCrdsFacts extends CrdsJudged {
  readonly facts: CrdFacts;
}

/** The new CRDs before the new operator starts (§4.3). */
export const operatorCrds = pathPart<OperatorCrdsFacts>({
  checks: crdsChecks,
  async survey(sources, context, installation) {
    const facts = await readAppliedCrds(sources, context, installation);
    const writes = changes(facts);
    const [record, atZero, health] = await Promise.all([
      sources.records.load(),
      // How many pods the operator gets, the user's own file says: apply evaluates it.
      writes && finishedFile(context) === undefined ? stoppedOperator(sources.cluster, installation) : [],
      writes ? readHealth(sources, context, installation) : undefined,
    ]);
    return { installation, record, facts, previews: facts.previews, writes, upgraded: false, atZero, health };
  },
  plan({ facts, installation }, context) {
    if (installation.restoresCrds) return { skip: LEFT_TO_OPERATOR };
    return crdsPlan(facts, () => {
      const later = context.chain?.later.includes('apply') ? [] : [AT_ONCE];
      return { actions: [...applyCrds(facts, '§4.3/2', context, installation), ...later] };
    });
  },
});

/** `planned` is asked only where something is to be written. */
export function crdsPlan(
  { crds, previews }: CrdFacts,
  planned: () => { readonly actions: readonly Action[]; readonly notes?: readonly string[] },
): StagePlan {
  if (!changes({ previews })) return { skip: `the CRDs equal ${crds.url}` };
  return { ...planned(), objects: previews.map((one) => one.planned), remember: { digests: { [crds.file]: crds.sha256 } } };
}
