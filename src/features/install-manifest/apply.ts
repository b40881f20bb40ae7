import type { Action } from '../../kernel/action.ts';
import { serverSideApply } from '../../kernel/argv.ts';
import type { Context } from '../../kernel/context.ts';
import { counted, firstOf } from '../../kernel/counted.ts';
import { refOf, refText } from '../../kernel/object.ts';
import { isOlder } from '../../kernel/release.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { continues, type RunRecord } from '../../kernel/run-record.ts';
import type { Said } from '../../kernel/step.ts';
import type { NoReturnPoint } from '../../kernel/undo.ts';
import { documentsText } from '../../manifest/manifest.ts';
import type { Wave } from '../../manifest/waves.ts';
import { judgeAction, lookAction, secondSoakAction } from '../canary/index.ts';
import { meetsNewTables, tablesNotes } from '../going-back/index.ts';
import { agentsOfTarget, keepConnections, seeConnections, tryConnections } from '../network-probe/index.ts';
import { holdNotes, holdOrRelease, holdPolicyMigration } from '../policies/index.ts';
import { rolloutWait } from '../rollout/index.ts';
import { pathPart } from '../survey/index.ts';
import { removeAdded } from './added.ts';
import { afterApply, isOnlyStrategy, PUT_BACK, putBack, type Rollout, stepIn, stepNotes, stopsIn } from './agent-actions.ts';
import type { AgentStep, HeldAgents } from './agent-step.ts';
import { applyChecks } from './apply-checks.ts';
import { type ApplyFacts, readApplyFacts } from './apply-facts.ts';
import { carriedOf, unkeptNotes } from './carried.ts';
import { isPending } from './outcome.ts';
import { leftBehind, unservedNotes } from './own-objects.ts';
import { ownershipNotes, takeOverOwnership } from './ownership-taken.ts';
import { waitForCrds } from './target-crds.ts';
import { probeFirst } from './wait.ts';

/** The full manifest, in waves, each waited for (§4.4/1–2). */
export const manifestApply = pathPart<ApplyFacts>({
  checks: applyChecks,
  survey: readApplyFacts,
  plan(facts, context) {
    const actions = upgradeActions(facts, context);
    const left = leftBehind(facts.orphans, facts.added);
    if (actions.length === 0) return { skip: skipText(facts, context), objects: left };
    const { target } = facts;
    return {
      actions,
      objects: [
        ...wavesOf(facts, context).flatMap((wave) => {
          const by = isBackAlone(wave, facts) ? PUT_BACK : applyOf(wave);
          return previewsIn(wave, facts.previews).map(({ planned }) => ({ ...planned, by }));
        }),
        ...left,
      ],
      notes: notesOf(facts, context),
      ...carriedOf(facts),
      remember: {
        variant: facts.variant.id,
        ...canaryIn(facts),
        digests: Object.fromEntries([[target.file, target.sha256], ...target.addOns.map((addOn) => [addOn.file, addOn.sha256])]),
      },
    };
  },
});

/** Which agents the run replaces alone, the cluster cannot tell once somebody else has deleted one. */
function canaryIn({ step }: ApplyFacts): Pick<RunRecord, 'canary'> {
  return step?.canary ? { canary: [...step.canary.nodes, ...step.canary.before].toSorted() } : {};
}

function skipText(facts: ApplyFacts, context: Context): string {
  const [up, rest] =
    wavesOf(facts, context).length < facts.waves.length ? [' up to the agents', '; --until agents leaves the rest'] : ['', ''];
  return `everything${up} equals ${facts.target.url}, and is rolled out${rest}`;
}

function notesOf(facts: ApplyFacts, context: Context): readonly Said[] {
  const { previews, waves, roles, target, edits, store, orphans } = facts;
  const { goal } = context;
  const performed = wavesOf(facts, context);
  const only = performed.length < waves.length ? `${performed.length} of ` : '';
  return [
    ...[target, ...target.addOns].flatMap(({ manifest }) => manifest.notes ?? []),
    ...('value' in edits ? edits.value.notes : []),
    waves.length > 1 ? `${only}${counted(waves.length, 'wave')}, each waited for: ${performed.map((wave) => wave.id).join(' → ')}` : '',
    ...roles.map(
      ({ target: role, kept }) =>
        `${refText(refOf(role))} grants ${firstOf(kept, 6)} until the last wave: ${goal.takesBack ? 'newer' : 'older'} workloads that start again need it`,
    ),
    ...unkeptNotes(facts, context),
    ...stepNotes(facts, context),
    ...tablesNotes(facts.waves.map((wave) => noReturnOf(wave, facts, context)).find(Boolean), context.options),
    ...ownershipNotes(previews),
    ...unservedNotes(orphans),
    ...(store?.health ?? [])
      .filter(({ state }) => state === 'unreached')
      .map((one) => `the key-value store at ${one.endpoint} was not checked: it cannot be reached from here (${one.because})`),
    ...holdNotes(context),
  ].filter((note) => note !== '');
}

/** Those that this run performs. */
function wavesOf(facts: ApplyFacts, context: Context): readonly Wave[] {
  const last = facts.waves.findIndex((wave) => stopsIn(wave, facts, context));
  return last < 0 ? facts.waves : facts.waves.slice(0, last + 1);
}

/** Ownership, files, and the waves that still have something to do. */
function upgradeActions(facts: ApplyFacts, context: Context): readonly Action[] {
  const ownership = takeOverOwnership(facts.previews);
  const waves: Action[] = [];
  for (const wave of wavesOf(facts, context)) waves.push(...waveActions(wave, facts, context, waves.some(waitsForPods)));
  const writes = ownership.length > 0 || waves.some(({ effect }) => effect.type === 'exec');
  const last = removeAdded(facts.added);
  return [...trialOf(waves, context), ...(writes ? [saveUpgradeFile(facts), ...ownership] : []), ...waves, ...last];
}

/** Where no backup comes before it in this command, which tries the same. */
function trialOf(waves: readonly Action[], { options, chain }: Context): readonly Action[] {
  const keeps = waves.flatMap(({ effect }) => (effect.type === 'keep-connections' ? [effect.agents] : []));
  return chain?.earlier?.includes('backup') ? [] : keeps.flatMap((agents) => tryConnections(agents, options));
}

/** The target under the procedure's name: where waves are cut from it, for the user to read. */
function saveUpgradeFile({ target, waves }: ApplyFacts): Action {
  const inOneWave = waves.some((wave) => wave.id === 'all');
  const beside = inOneWave ? target.addOns.flatMap(({ manifest }) => manifest.documents) : [];
  const documents = [...target.manifest.documents, ...beside];
  return {
    id: 'save',
    title: `write ${target.file}`,
    ref: '§4.4/1',
    undo: 'full',
    effect: { type: 'write', file: target.file, content: documentsText(documents) },
  };
}

/** Hours, in a large fleet: long enough for users and controllers to change what is not yet applied. */
function waitsForPods({ effect }: Action): boolean {
  return effect.type === 'replace-agents' || (effect.type === 'wait' && effect.until.type === 'rollout');
}

function waveActions(wave: Wave, facts: ApplyFacts, context: Context, waited: boolean): readonly Action[] {
  const previews = previewsIn(wave, [...facts.previews, ...facts.rolePreviews]);
  const applies = previews.some(isPending);
  // The controllers may run already, and the renaming still be held: a run that waited for the new names in vain is continued so.
  const late = isLast(wave) ? holdOrRelease(facts.renamingSwitch, context) : [];
  // In one wave CRDs and what watches them start together, so nothing is waited for between.
  const crds = applies && wave.id !== 'all' ? waitForCrds('established', '§4.4/2', previews) : [];
  const step = stepIn(wave, facts);
  const judged = facts.heldAgents && bringsAgents(wave) ? beforeOthers(facts.heldAgents, context) : [];
  if (step && isBackAlone(wave, facts))
    return [...judged, ...putBack(step, wave, context), ...late, ...waitsOf(waitActions(wave, facts, context, false))];
  const writes = applies ? applyActions(wave, facts, context, waited || judged.length > 0) : late;
  const rollout = waitActions(wave, facts, context, applies || step?.canary !== undefined || step?.driven !== undefined);
  return [...judged, ...rollout.keep, ...writes, ...crds, ...afterApply(step, wave, rollout, context), ...secondSoak(wave, facts, context)];
}

/** What has to hold before other agents follow those that are held. It takes its time: a plan that is made again for it has it behind it. */
function beforeOthers({ nodes, ...held }: HeldAgents, context: Context): readonly Action[] {
  const looked = nodes.length === 0 ? [] : [lookAction(held, nodes, context)];
  return [...looked, judgeAction(held.target, context)].map((action) => ({ ...action, once: true }));
}

/** Of the wave only the agents' own strategy is left, which is given back. */
function isBackAlone(wave: Wave, facts: ApplyFacts): boolean {
  const previews = previewsIn(wave, [...facts.previews, ...facts.rolePreviews]);
  return stepIn(wave, facts)?.state === 'over' && previews.every((one) => !isPending(one) || isOnlyStrategy(one.planned));
}

/** Effects were seen long after Typha had rolled: with --soak all new agents are watched once more, before the controllers follow. */
function secondSoak({ id }: Wave, { rollouts, variant, waves, previews }: ApplyFacts, context: Context): readonly Action[] {
  const { goal, options } = context;
  // Of a rollback Typha comes before the agents.
  const soakMs = goal.takesBack ? undefined : options.soakMs;
  const agents = rollouts.find(({ target }) => isAgentOf(target, variant));
  const isAhead = waves.some((one) => isLast(one) && previewsIn(one, previews).some(isPending));
  if (id !== 'typha' || soakMs === undefined || !agents || !isAhead) return [];
  return [secondSoakAction(agents.target, soakMs, context)];
}

const bringsAgents = ({ id }: Wave): boolean => id === 'agents' || id === 'all';

/** The wave that starts the controllers. */
function isLast({ id }: Wave): boolean {
  return id === 'controllers' || id === 'all';
}

const applyOf = ({ id }: Wave): string => `wave-${id}`;

function previewsIn({ documents }: Wave, previews: ApplyFacts['previews']): ApplyFacts['previews'] {
  const objects = new Set(documents.map(({ object }) => object));
  return previews.filter(({ document }) => objects.has(document));
}

function applyActions(wave: Wave, facts: ApplyFacts, context: Context, waited: boolean): readonly Action[] {
  const pointOfNoReturn = noReturnOf(wave, facts, context);
  const apply: Action = {
    id: applyOf(wave),
    title: `apply ${wave.title}`,
    ref: '§4.4/2',
    ...(pointOfNoReturn ? { undo: 'none', pointOfNoReturn } : { undo: 'partial' }),
    ...keptIn(stepIn(wave, facts)),
    effect: { type: 'exec', run: serverSideApply(`${context.workFolder}/${wave.file}`), canAsk: true },
  };
  const write: Action = {
    id: `file-${wave.id}`,
    title: `write ${wave.file}`,
    ref: '§4.4/1',
    undo: 'full',
    effect: { type: 'write', file: wave.file, content: documentsText(wave.documents) },
  };
  const held = context.options.holdPolicyMigration ? holdPolicyMigration : holdOrRelease;
  const hold = isLast(wave) ? held(facts.renamingSwitch, context) : [];
  const [first, ...rest] = [...hold, apply];
  // The API server converts UIDs, the controllers store policies again.
  const waveChangesUids = facts.references !== undefined && ['add-ons', 'controllers', 'all'].includes(wave.id);
  // What changes UIDs begins with a search of its own (§4.8): a reference may have come back. After a wait it is the edits as well (§7/4).
  const mustBeAsked = waited || waveChangesUids || (bringsAgents(wave) && meetsNewTables(context));
  const begun = first && mustBeAsked ? [{ ...first, afresh: true }, ...rest] : [...hold, apply];
  return [...(wave.file === facts.target.file ? [] : [write]), ...begun];
}

/** What is changed only for a while is known by the record, until it is put back. */
function keptIn(step: AgentStep | undefined): Pick<Action, 'keep'> {
  return step ? { keep: { changes: [step.change], ...(step.state === 'over' ? { undo: true } : {}) } } : {};
}

/** The first agent in eBPF mode. */
function noReturnOf(wave: Wave, { installation, record }: ApplyFacts, context: Context): NoReturnPoint | undefined {
  const { profile, goal } = context;
  if (goal.takesBack) return undefined;
  // Once begun, only the record knows the source: the agents already run the target.
  const source = continues(record, context) ? record.intent.from : installation.release;
  const crosses = (since: string | undefined) => since !== undefined && (source === undefined || isOlder(source, since));
  return bringsAgents(wave) && installation.dataPlane === 'ebpf' && crosses(profile.ebpfTablesSince) ? 'tables' : undefined;
}

const waitsOf = ({ probe, wait }: Rollout): readonly Action[] => [...probe, ...wait];

function waitActions(wave: Wave, facts: ApplyFacts, context: Context, applied: boolean): Rollout {
  const kindsAndNames = new Set(wave.documents.map(({ object }) => `${object.kind}/${object.metadata.name}`));
  const mine = facts.rollouts.filter(({ target }) => kindsAndNames.has(`${target.kind}/${target.name}`));
  const targets = mine.filter((one) => applied || !one.done).map((one) => one.target);
  if (targets.length === 0) return { probe: [], wait: [], keep: [], see: [] };
  const rollout = rolloutWait(`wait-${wave.id}`, '§4.4/3', targets, context, facts.nodes);
  const agent = targets.find((one) => isAgentOf(one, facts.variant));
  const step = stepIn(wave, facts);
  const canary = step?.canary?.nodes;
  const heldFor = canary ? 'canary' : step?.driven ? 'rest' : undefined;
  const { soakMs = 0 } = context.options;
  return {
    probe: agent ? probeFirst(agent, rollout, context, heldFor) : [],
    wait: [rollout, ...waitForApi(wave, context)],
    keep: agent ? keepConnections(agentsOfTarget(agent), context.options, rollout.effect.timeoutMs + soakMs, canary) : [],
    see: canary ? seeConnections(context.options) : [],
  };
}

const isAgentOf = ({ kind, name }: RolloutTarget, { agent }: ApplyFacts['variant']): boolean => kind === 'DaemonSet' && name === agent.name;

/** Of an aggregated API whose pods are ready. */
const API_MS = 120_000;

/** The server notices later than the pods that an aggregated API is there again; until then nothing of it can be searched (§4.8). */
function waitForApi({ id, documents }: Wave, { options }: Context): readonly Action[] {
  const names = documents.filter(({ object }) => object.kind === 'APIService').map(({ object }) => object.metadata.name);
  if (names.length === 0) return [];
  const until = { type: 'apiservice-available', names } as const;
  const timeoutMs = options.timeoutMs ?? API_MS;
  const title = `wait until APIService ${names.join(', ')} is available`;
  return [{ id: `api-${id}`, title, ref: '§4.4/3', undo: 'full', effect: { type: 'wait', until, timeoutMs } }];
}
