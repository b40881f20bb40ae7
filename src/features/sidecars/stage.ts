import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { type KubeObject, type ObjectChange, refText } from '../../kernel/object.ts';
import { changeTo, placesIn, valueIn } from '../../kernel/object-change.ts';
import { parseImage } from '../../kernel/release.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { stage } from '../../kernel/stage.ts';
import { templateObject, templateText } from '../../manifest/injector-template.ts';
import { needs } from '../rights/index.ts';
import { rolloutUntil, waitLimit } from '../rollout/index.ts';
import { alpChecks, undoChecks } from './checks.ts';
import { type AlpFacts, readUndoFacts, readUpdateFacts, type UndoFacts } from './facts.ts';
import { restartedWorkloads, sidecarImage } from './restarted.ts';
import type { Injector, InjectorOutcome } from './templates.ts';
import { undoPlan } from './undo.ts';
import type { MeshedWorkload, RestartableKind } from './workloads.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** A mesh template of the user's own (`alp --template`). */
    readonly template?: string;
    readonly onlyTemplate?: boolean;
    /** Workloads restarted at a time. */
    readonly batch?: number;
    /** Restart every meshed workload, not only those with an older sidecar. */
    readonly all?: boolean;
  }
}

const ALP = {
  id: 'alp',
  title: 'Update the policy sidecars of the mesh',
  ref: '§4.6',
  readOnly: false,
  needs: [needs.detection, needs.mesh],
  undoneBy: 'alp --undo',
  converges: true,
} as const;

/** The mesh's template first, then every workload whose pods still carry an older sidecar (§4.6). */
export const alpStage = stage<AlpFacts>({
  ...ALP,
  checks: alpChecks,
  undo: stage<UndoFacts>({ ...ALP, checks: undoChecks, survey: readUndoFacts, plan: undoPlan }),
  survey: readUpdateFacts,
  plan(facts, context) {
    if (!facts.inUse) return { skip: 'application layer policy is not in use: no injector and no pod has the policy sidecar' };
    const templates = templateActions(facts, context);
    const wanted = restartedWorkloads(facts.workloads, facts.injectors, context);
    const restarts = restartActions(wanted, sidecarImage(facts.injectors, context), context);
    const again = wanted.some(({ isRolling }) => isRolling);
    if (templates.length + restarts.length > 0) return { actions: [...templates, ...restarts], notes: [KEEPS_WORKING], again };
    return { skip: nothingToDo(facts, context) };
  },
});

function nothingToDo({ injectors, workloads }: AlpFacts, context: Context): string {
  if (context.options.onlyTemplate) return 'the templates are the target’s';
  const { tag } = parseImage(sidecarImage(injectors, context));
  const isHeld = tag !== context.goal.release && workloads.some(({ stale, obstacle }) => stale > 0 && obstacle === undefined);
  if (isHeld) return `the injector still gives sidecars of ${tag ?? 'no release'}: restarts would change nothing`;
  return `every sidecar that can be restarted is of ${context.goal.release}`;
}

const KEEPS_WORKING = 'an older sidecar keeps working with the new agents: no connection breaks until a pod is restarted';

/** In batches, each waited for. */
function restartActions(wanted: readonly MeshedWorkload[], image: string, context: Context): readonly Action[] {
  const batches = batchesOf(wanted, context.options.batch ?? 1);
  // Batches are not in the order of the workloads.
  const first = batches.flat().find(({ isRolling }) => !isRolling);
  return batches.flatMap((batch, index) => [
    ...batch.filter(({ isRolling }) => !isRolling).map((one) => restart(one, one === first)),
    waitFor(batch, index, image, context),
  ]);
}

function restart({ ref, stale, pods, budgets }: MeshedWorkload, isFirst: boolean): Action {
  const args = ['rollout', 'restart', `${ref.kind.toLowerCase()}/${ref.name}`, '-n', ref.namespace];
  return {
    id: `restart-${ref.kind}-${ref.namespace}-${ref.name}`,
    title: `restart ${refText(ref)}: ${stale} of ${pods} pods have an older sidecar`,
    ref: '§4.6/2',
    undo: 'none',
    ...(isFirst ? { afresh: true } : {}),
    effect: { type: 'exec', run: { tool: 'kubectl', args }, onlyIf: { type: 'restartable', workload: ref, budgets } },
  };
}

function waitFor(batch: readonly MeshedWorkload[], index: number, image: string, { profile, options }: Context): Action {
  const targets = batch.map(
    ({ ref: { kind, namespace, name }, isRolling }): RolloutTarget => ({
      // Anything else has an obstacle.
      kind: kind as RestartableKind,
      namespace,
      name,
      container: profile.sidecar.container,
      image,
      ready: { type: 'all-containers' },
      injected: true,
      // It may have begun before the new template, for another reason: its pods' sidecar is checked at its end.
      ...(isRolling ? { anyImage: true } : {}),
    }),
  );
  const pods = batch.reduce((sum, one) => sum + one.pods, 0);
  return {
    id: `wait-${index + 1}`,
    title: `wait for ${batch.map(({ ref }) => refText(ref)).join(', ')}`,
    ref: '§4.6/2',
    undo: 'full',
    effect: {
      type: 'wait',
      until: { ...rolloutUntil(targets, options), goesOn: true },
      timeoutMs: waitLimit(options, pods),
    },
  };
}

/** In their order, but workloads that share a disruption budget never side by side: one restart would spend it for the other. */
function batchesOf(wanted: readonly MeshedWorkload[], size: number): readonly (readonly MeshedWorkload[])[] {
  const batches: MeshedWorkload[][] = [];
  for (const one of wanted) {
    const room = batches.find((batch) => batch.length < size && !batch.some((other) => share(one, other)));
    if (room) room.push(one);
    else batches.push([one]);
  }
  return batches;
}

function share(one: MeshedWorkload, other: MeshedWorkload): boolean {
  return one.ref.namespace === other.ref.namespace && one.budgets.some((name) => other.budgets.includes(name));
}

/** What the template changes in an injector. Labels and annotations count where the template has any. */
function templateChange(map: KubeObject, { isObject, data, labels, annotations }: Template): ObjectChange {
  const marks = isObject ? { ...placesIn(['metadata', 'labels'], labels), ...placesIn(['metadata', 'annotations'], annotations) } : {};
  const wanted = Object.entries({ ...placesIn(['data'], data), ...marks });
  return changeTo(map, Object.fromEntries(wanted.filter(([place, value]) => valueIn(map, place) !== value)));
}

type Template = Extract<InjectorOutcome, { readonly type: 'template' }>;

/** As the procedure says for a whole object; releases that ship only `data` need a patch (§4.6/1, domain §9). */
function templateActions({ injectors }: { readonly injectors: readonly Injector[] }, { workFolder }: Context): readonly Action[] {
  return injectors.flatMap(({ map, outcome }) => {
    if (outcome.type !== 'template') return [];
    const change = templateChange(map, outcome);
    if (Object.keys(change.after).length === 0) return [];
    const { name, namespace = '' } = map.metadata;
    const file = `${name}-template.yaml`;
    const path = `${workFolder}/${file}`;
    const args = outcome.isObject ? ['apply', '-f', path] : ['patch', 'configmap', name, '-n', namespace, '--patch-file', path];
    return [
      {
        id: `file-${name}`,
        title: `write ${file}, the template of ${name}`,
        ref: '§4.6/1',
        undo: 'full',
        effect: { type: 'write', file, content: textOf(map, outcome) },
      },
      {
        id: `template-${name}`,
        title: `put the template of the target into ConfigMap ${namespace}/${name}${outcome.edited ? ', with your changes' : ''}`,
        ref: '§4.6/1',
        undo: 'full',
        afresh: true,
        keep: { changes: [change] },
        effect: { type: 'exec', run: { tool: 'kubectl', args }, canAsk: true },
      },
    ] satisfies readonly Action[];
  });
}

function textOf({ metadata: { name, namespace } }: KubeObject, { isObject, labels, annotations, data }: Template): string {
  if (!isObject) return templateText(data);
  const given = (what: 'labels' | 'annotations', marks: Readonly<Record<string, string>>) =>
    Object.keys(marks).length > 0 ? { [what]: marks } : {};
  return templateObject({ name, namespace, ...given('labels', labels), ...given('annotations', annotations) }, data);
}
