import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import {
  type ApplyFacts,
  applyWhole,
  carriedOf,
  emptiedSecrets,
  emptyTargets,
  leftBehind,
  NO_ORPHANS,
  readAdded,
  readMergedTarget,
  unservedNotes,
} from '../install-manifest/index.ts';
import { readOwnersAtDeadline } from '../ownerrefs/index.ts';
import { readNodes, readRollouts } from '../rollout/index.ts';
import { pathPart } from '../survey/index.ts';
import { operatorTarget, waitForOperator } from './apply.ts';
import { aroundOlder, BACK_REF, type BackFrame, backNotes, readBackFrame } from './back-frame.ts';
import { operatorChecksBack } from './checks.ts';

type BackFacts = Omit<ApplyFacts, 'variant' | 'waves' | 'roles' | 'rolePreviews' | 'nodes'> & BackFrame;

/** The older operator's manifest, as it was. */
export const operatorBack = pathPart<BackFacts>({
  checks: operatorChecksBack,
  survey: readBackFacts,
  plan(facts, context) {
    const { target, previews, orphans, added } = facts;
    const { file, manifest } = target;
    const starts = startsOlder(facts);
    const applied = applyWhole({ id: 'operator', file, title: 'apply the older operator', ref: BACK_REF, manifest, previews }, context);
    const brings = applied.map((action) => (starts ? { ...action, afresh: true } : action));
    const actions = aroundOlder(facts, { starts, actions: [...brings, ...waitForOperator(facts, context)], added }, context);
    const left = leftBehind(orphans, added);
    if (actions.length === 0) return { skip: `the operator equals ${target.url}, and runs`, objects: left };
    return {
      actions,
      objects: [...previews.map(({ planned }) => planned), ...left],
      notes: [
        ...(manifest.notes ?? []),
        ...('value' in facts.edits ? facts.edits.value.notes : []),
        ...unservedNotes(orphans),
        ...backNotes(facts, starts),
      ],
      ...(starts ? { restarts: facts.restarts } : {}),
      ...carriedOf(facts),
      remember: { digests: { [file]: target.sha256 } },
    };
  },
});

async function readBackFacts(sources: Sources, context: Context, installation: Installation): Promise<BackFacts> {
  const record = await sources.records.load();
  const [merged, nodes, owners] = await Promise.all([
    readMergedTarget(sources, context, installation, record),
    readNodes(sources),
    readOwnersAtDeadline(sources, context, installation),
  ]);
  const { target, edits, previews } = merged;
  const own = operatorTarget(target, context, installation);
  const orphans = 'value' in edits ? edits.value.orphans : NO_ORPHANS;
  const [rollouts, frame, added] = await Promise.all([
    readRollouts(sources, [own], nodes),
    readBackFrame(sources, context, installation, record, async () => own.image),
    readAdded(sources, context, installation, orphans),
  ]);
  const atZero = emptyTargets({ rollouts, previews, edits, record }, context);
  const found = { installation, record, orphans, added, rollouts, renamingSwitch: undefined, atZero };
  return { ...merged, ...found, ...frame, store: undefined, emptied: emptiedSecrets(previews), ...owners };
}

/** The operator's pod gets another image, or there was none. */
function startsOlder({ previews }: BackFacts): boolean {
  const planned = previews.find(({ document }) => document.kind === 'Deployment')?.planned;
  return planned?.change === 'create' || planned?.fields.some(({ path }) => /\.(image|replicas)$/.test(path)) === true;
}
