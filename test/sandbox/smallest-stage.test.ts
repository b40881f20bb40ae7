import assert from 'node:assert/strict';
import { allow, needs } from '../../src/features/rights/index.ts';
import { readInstalled } from '../../src/features/survey/index.ts';
import type { Context } from '../../src/kernel/context.ts';
import { K } from '../../src/kernel/kinds.ts';
import { type KubeObject, type ObjectChange, refOf } from '../../src/kernel/object.ts';
import {
  type ChangedPlace,
  changedPlaces,
  changeTo,
  keptChanges,
  patchOf,
  putOp,
  standing,
  valueIn,
} from '../../src/kernel/object-change.ts';
import type { Sources } from '../../src/kernel/ports.ts';
import { type StagePlan, stage } from '../../src/kernel/stage.ts';
import { applyJsonPatch } from '../../src/manifest/json-patch.ts';
import { installedSandbox, performIn } from '../support/sandbox-ports.ts';

/** A whole stage with its undo, as small as it gets: docs/internals/adding-a-feature.md says to read it first. */
interface Facts {
  readonly agents: KubeObject | undefined;
  readonly kept: readonly ChangedPlace[];
}

const STRATEGY = '/spec/updateStrategy';
const isOwn = ({ ref, after }: ObjectChange) => ref.kind === 'DaemonSet' && Object.keys(after).every((place) => place === STRATEGY);
const FREEZE = {
  ...{ id: 'freeze', title: 'Keep the agents from being replaced', ref: '§4.4/3', readOnly: false, optional: true },
  needs: [needs.detection, () => allow(['get', 'patch'], K.DaemonSet, 'the update strategy of the agents')],
  traffic: 'untouched',
  undoneBy: 'freeze --undo',
  checks: [],
  async survey(sources: Sources, context: Context): Promise<Facts> {
    const { agent } = await readInstalled(sources, context);
    const agents = agent && (await sources.cluster.get(K.DaemonSet, agent.name, agent.namespace));
    return { agents, kept: changedPlaces(await keptChanges(sources.records, 'freeze', isOwn)) };
  },
} as const;

const freezeStage = stage<Facts>({
  ...FREEZE,
  plan({ agents }) {
    if (!agents || valueIn(agents, `${STRATEGY}/type`) === 'OnDelete') return { skip: 'no agent is replaced by itself' };
    return strategyPlan(agents, { type: 'OnDelete' }, 'hold the agents');
  },
  undo: stage<Facts>({
    ...FREEZE,
    plan({ agents, kept: [change] }) {
      if (!agents || !change || standing(change, agents) !== 'ours') return { skip: 'nothing that this program set is left' };
      return strategyPlan(agents, change.before, 'put the former update strategy back', { undo: true });
    },
  }),
});

function strategyPlan(agents: KubeObject, wanted: unknown, title: string, more: { undo?: true } = {}): StagePlan {
  const [ref, patch] = [refOf(agents), [putOp(agents, STRATEGY, wanted)]];
  const fields = [{ path: 'spec.updateStrategy', before: valueIn(agents, STRATEGY), after: wanted }];
  const bodies = { before: agents, after: applyJsonPatch(agents, patch) };
  const keep = { changes: [changeTo(agents, { [STRATEGY]: wanted })], ...more };
  const effect = { type: 'patch-all', what: 'the update strategy of the agents', patches: [patchOf(agents, patch)] } as const;
  return {
    actions: [{ id: 'strategy', title, ref: FREEZE.ref, undo: 'full', keep, effect }],
    objects: [{ ref, change: 'update', fields, hidden: [], taken: [], bodies }],
  };
}

describe('the smallest stage with an undo', () => {
  it('does, has nothing left to do, undoes, and does it again', async () => {
    const scenario = await installedSandbox();
    const [before = assert.fail()] = scenario.cluster.store.list(K.DaemonSet).map((set) => valueIn(set, STRATEGY));
    const ended = async (undo: boolean) => {
      const { exit, writes, message } = await performIn(scenario, [freezeStage], { undo });
      const [set = assert.fail()] = scenario.cluster.store.list(K.DaemonSet);
      return { exit, writes, message, strategy: valueIn(set, STRATEGY) };
    };
    const [held, back] = [{ type: 'OnDelete' }, before];
    for (const [undo, writes, strategy] of [
      [false, 1, held],
      [false, 0, held],
      [true, 1, back],
      [true, 0, back],
      [false, 1, held],
    ] as const)
      assert.deepEqual(await ended(undo), { exit: 'done', writes, message: undefined, strategy }, undo ? 'undo' : 'do');
  });
});
