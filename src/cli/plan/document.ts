import type { Action } from '../../kernel/action.ts';
import type { Finding } from '../../kernel/check.ts';
import type { Command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { type EffectTypes, typeOf } from '../../kernel/effect-type.ts';
import type { ExitName } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { tally } from '../../kernel/judge.ts';
import { inSourceWords } from '../../kernel/own-name.ts';
import type { PlannedObject, PlannedStage } from '../../kernel/plan.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { type PlanHead, upgradeHead } from '../../report/head-line.ts';
import { maskedStage } from '../../report/mask.ts';
import { type Here, stagesHere } from '../carried.ts';
import { documentHead, type PlanBasis, type PlanDocument } from '../documents.ts';

function planBasis(effects: EffectTypes, context: Context, stages: readonly PlannedStage[]): PlanBasis {
  return {
    artifacts: Object.assign({}, ...stages.map(({ digests }) => digests ?? {})) as PlanBasis['artifacts'],
    objects: stages.flatMap(({ id, objects }) =>
      objects.map((object) => ({
        stage: id,
        ref: object.ref,
        change: object.change,
        ...object.state,
        does: digestOf(objectEssence(object), context),
      })),
    ),
    actions: stages.flatMap(({ id, actions }) =>
      actions.map((action) => ({ stage: id, id: action.id, type: action.effect.type, does: actionDigest(effects, context, action) })),
    ),
  };
}

/**
 * sha256 over what a plan does: equal for the same cluster state and the same artifacts, whenever and wherever it is made.
 * Left out is what differs between two runs without meaning: the work folder, the name of the backup, resourceVersions,
 * limits of waits, the name that the program was called by.
 */
export function planDigest(effects: EffectTypes, context: Context, stages: readonly PlannedStage[]): string {
  const essence = {
    cluster: context.clusterUid,
    release: context.goal.release,
    stages: stages.map((stage) => ({
      id: stage.id,
      skipped: stage.skip !== undefined,
      actions: stage.actions.map((action) => ({ id: action.id, effect: essenceOf(effects, action) })),
      objects: stage.objects.map(objectEssence),
    })),
  };
  return digestOf(essence, context);
}

/** sha256 of what one action does, by the same rules. */
export function actionDigest(effects: EffectTypes, context: Context, action: Pick<Action, 'effect'>): string {
  return digestOf(essenceOf(effects, action), context);
}

function digestOf(essence: unknown, { workFolder }: Context): string {
  const text = inSourceWords(() => JSON.stringify(essence)).replaceAll(JSON.stringify(workFolder).slice(1, -1), '');
  return sha256Of(text);
}

function essenceOf(effects: EffectTypes, { effect }: Pick<Action, 'effect'>): unknown {
  return typeOf(effects, effect).digest(effect);
}

function objectEssence({ ref, change, fields, hidden, taken }: PlannedObject): unknown {
  return { apiVersion: ref.apiVersion, kind: ref.kind, namespace: ref.namespace, name: ref.name, change, fields, hidden, taken };
}

export interface Planned {
  readonly stages: readonly PlannedStage[];
  readonly findings: readonly Finding[];
  readonly writes: boolean;
  /** What its actions may do. */
  readonly effects: EffectTypes;
}

export function planDocument(
  context: Context,
  exit: ExitName,
  planned: Planned,
  head: PlanHead,
  next: Command | string,
  here: Here,
): PlanDocument {
  const { path, variant, datastore, source, digest } = head;
  return {
    ...documentHead(context, exit, next),
    kind: 'Plan',
    digest,
    installed: { path, variant, datastore, release: source },
    writes: planned.writes,
    tally: tally(planned.findings),
    findings: planned.findings,
    stages: stagesHere(planned.stages, here).map((stage) => maskedStage(planned.effects, stage)),
    basis: planBasis(planned.effects, context, planned.stages),
  };
}

/** A plan, and what was installed at the same look; undefined where that is not clear. */
export interface PlannedHere extends Planned {
  readonly installed: Installation | undefined;
}

/** The facts of a plan's first line. */
export function planHead(context: Context, { stages, installed, effects }: PlannedHere): PlanHead {
  return { ...upgradeHead(context, installed), digest: planDigest(effects, context, stages) };
}
