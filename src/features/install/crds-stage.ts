import type { Action } from '../../kernel/action.ts';
import { chartCrds } from '../install-chart/index.ts';
import { applyCrds, type CrdFacts, changes, readCrdFacts, stoppedOperator } from '../install-manifest/index.ts';
import { type CrdsJudged, crdsChecks } from '../install-operator/index.ts';
import { pathStage } from '../survey/index.ts';

const IN_MANIFEST = 'the full manifest holds the CRDs: apply installs them first';

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

/** The new CRDs before the operator starts (§4.2, §4.3); a full manifest holds them itself. */
export const crdsStage = pathStage<CrdFacts & CrdsJudged>({
  id: 'crds',
  title: 'Install the new CRDs',
  ref: '§4.3/2',
  paths: ['operator'],
  also: [chartCrds],
  needless: { manifest: IN_MANIFEST, kvstore: IN_MANIFEST },
  readOnly: false,
  leavesTraffic: true,
  undoneBy: 'backup',
  converges: true,
  checks: crdsChecks,
  async survey(sources, context, installation) {
    const [facts, record] = await Promise.all([readCrdFacts(sources, context), sources.records.load()]);
    const writes = changes(facts);
    // The user's own file says how many there will be; apply evaluates it.
    const judged = writes && context.options.upgradeFile === undefined;
    return { ...facts, installation, record, writes, atZero: judged ? await stoppedOperator(sources.cluster, installation) : [] };
  },
  plan(facts, context) {
    const { crds, previews } = facts;
    if (!facts.writes) return { skip: `the CRDs equal ${crds.url}` };
    return {
      actions: [...applyCrds(facts, '§4.3/2', context), ...(context.chain?.later.includes('apply') ? [] : [AT_ONCE])],
      objects: previews.map(({ planned }) => planned),
      remember: { digests: { [crds.file]: crds.sha256 } },
    };
  },
});
