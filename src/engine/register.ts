import type {
  Ask,
  Delete,
  Effect,
  Exec,
  Expectation,
  GuardedPatch,
  PatchAll,
  Precondition,
  TimePassed,
  Wait,
  Write,
} from '../kernel/action.ts';
import { commandLine } from '../kernel/argv.ts';
import { counted, elapsedText, timeText } from '../kernel/counted.ts';
import {
  announced,
  type EffectType,
  type EffectTypes,
  type EnginePorts,
  type ExpectationType,
  type ExpectationTypes,
  type FeatureEffects,
  type GuardType,
  type Performed,
  type PreconditionType,
  runTool,
  whole,
} from '../kernel/effect-type.ts';
import { MovedOn, messageOf } from '../kernel/fault.ts';
import { HIDDEN, sizeOf } from '../kernel/hidden.ts';
import { servedKind } from '../kernel/kinds.ts';
import { type JsonPatchOp, type ManagedFieldsEntry, type ObjectRef, refText } from '../kernel/object.ts';
import { VERSION } from '../kernel/object-change.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { quoteArgument } from '../kernel/quoting.ts';
import { nextStepOf, plainText, Step } from '../kernel/step.ts';
import { MOVED_ON, patchAll } from './patch-all.ts';

/** Every effect: those of the features, and the kernel's own. */
export function registerOf(features: FeatureEffects): EffectTypes {
  return {
    ...features.effects,
    exec: execEffect(features),
    'patch-all': patchAllEffect(features),
    delete: deleteEffect(features),
    write: writeEffect,
    wait: waitEffect({ ...features.expectations, 'time-passed': timePassed }),
    ask: askEffect,
  };
}

/** A program with its arguments. */
function execEffect({ preconditions, guards }: Pick<FeatureEffects, 'preconditions' | 'guards'>): EffectType<Exec> {
  return {
    does: 'writes',
    isFixed: true,
    async perform(ports, effect, around) {
      const { onlyIf } = effect;
      const precondition = onlyIf && preconditionOf(preconditions, onlyIf);
      if (onlyIf) await precondition?.assert(ports, onlyIf, around);
      await assertGuards(guards, ports, effect);
      // That request took time: the lock may have been lost since it was checked.
      around.mustHold();
      if (onlyIf && precondition?.run) await precondition.run(ports, effect, onlyIf, around);
      else await runTool(ports, effect, around.cut, around.onLine);
      return {};
    },
    async dryRun(ports, effect, around) {
      if (!effect.canAsk) return announced();
      const [verb = '', ...rest] = effect.run.args;
      const run = { ...effect.run, args: [verb, '--dry-run=server', ...rest] };
      await runTool(ports, { ...effect, run }, around.cut, around.onLine);
      return {};
    },
    text({ run, program }, programOf) {
      return `${commandLine(run, program ?? programOf(run.tool))}${run.stdin === undefined ? '' : ' < (input of the plan)'}`;
    },
    mask: (effect) => (effect.run.stdin === undefined ? effect : { ...effect, run: { ...effect.run, stdin: sizeOf(effect.run.stdin) } }),
    // What it looks at right before is a guard, with resourceVersions in it.
    digest: (effect) => ({ ...effect, onlyIf: undefined }),
  };
}

function preconditionOf(preconditions: FeatureEffects['preconditions'], { type }: Precondition): PreconditionType<Precondition> {
  return preconditions[type] as PreconditionType<Precondition>;
}

/** Those of its kind, whatever planned it. */
async function assertGuards(guards: FeatureEffects['guards'], ports: EnginePorts, effect: Effect): Promise<void> {
  for (const guard of Object.values(guards) as readonly GuardType<Effect>[]) {
    if (guard.of === effect.type) await guard.assert(ports, effect);
  }
}

/** A file in the work folder. */
const writeEffect: EffectType<Write> = {
  does: 'files',
  isFixed: true,
  perform: written,
  dryRun: written,
  text: ({ file }) => `write ${file} to the work folder`,
  mask: (effect) => ({ ...effect, content: sizeOf(effect.content) }),
  digest: whole,
};

async function written({ work }: EnginePorts, { file, content }: Write): Promise<Performed> {
  await work.write(file, content);
  return {};
}

function waitEffect(expectations: ExpectationTypes): EffectType<Wait> {
  const typeOf = ({ type }: Expectation) => expectations[type] as ExpectationType<Expectation>;
  return {
    does: 'nothing',
    isFixed: false,
    perform: (ports, { until, timeoutMs }, around) => typeOf(until).wait(ports, until, { ...around, timeoutMs }),
    dryRun: announced,
    text: ({ until, timeoutMs }) => `wait at most ${timeText(timeoutMs)} for ${typeOf(until).text(until)}`,
    mask: whole,
    // Its limit follows the number of nodes, which come and go.
    digest: ({ type, until }) => ({ type, until: typeOf(until).digest?.(until) ?? until }),
  };
}

const timePassed: ExpectationType<TimePassed> = {
  async wait({ clock }, { ms }, { stop }) {
    // Whoever ends the wait is heard before the next look.
    await clock.sleep(ms, stop).catch(() => undefined);
    return {};
  },
  text: ({ ms }) => `${elapsedText(ms)} to pass`,
};

/** A step that only the user can do: it is said, no more. The end of the run lists it. */
const askEffect: EffectType<Ask> = {
  does: 'nothing',
  isFixed: false,
  async perform(_ports, { instruction }) {
    return { detail: plainText(instruction) };
  },
  dryRun: announced,
  text: ({ instruction }) => `manual step: ${plainText(instruction)}`,
  mask: (ask) => ({ ...ask, steps: [new Step('do', ask.instruction), ...(ask.next ? [nextStepOf(ask.next)] : [])] }),
  digest: whole,
};

/** Values of Secrets are shown nowhere; who owns them is none. */
const isSecretValue = ({ kind }: ObjectRef, { path, value }: JsonPatchOp): boolean =>
  kind === 'Secret' && value !== undefined && !/^\/metadata\/(?:managedFields|ownerReferences)(?:\/|$)/.test(path);

function maskedPatch(one: GuardedPatch): GuardedPatch {
  return { ...one, patch: one.patch.map((op) => (isSecretValue(one.target, op) ? { ...op, value: HIDDEN } : op)) };
}

/** What two plans have to agree on. */
function compared({ target, uid, patch }: GuardedPatch) {
  const shown = patch.map((op) => (isSecretValue(target, op) ? { ...op, value: undefined } : op));
  const ops = shown.filter((op) => op.path !== VERSION).map(withoutTimes);
  return { target, uid, ops };
}

function deleteEffect({ preconditions }: Pick<FeatureEffects, 'preconditions'>): EffectType<Delete> {
  return {
    does: 'writes',
    isFixed: true,
    async perform(ports, { target, resourceVersion, onlyIf }, around) {
      const { cluster } = ports;
      const kind = await servedKind(cluster, target);
      if (onlyIf) {
        await preconditionOf(preconditions, onlyIf).assert(ports, onlyIf, around);
        around.mustHold();
      }
      await cluster.remove(kind, target, resourceVersion).catch((thrown: unknown) => {
        const hasMoved = thrown instanceof ApiFailure && MOVED_ON.has(thrown.status);
        throw hasMoved ? new MovedOn(`${refText(target)} changed meanwhile: ${messageOf(thrown)}`) : thrown;
      });
      return {};
    },
    dryRun: announced,
    text: ({ target }) => ['kubectl', 'delete', target.kind.toLowerCase(), target.name].map(quoteArgument).join(' '),
    mask: whole,
    digest: ({ type, target }) => ({ type, target }),
  };
}

/** Patches of many objects, side by side. */
function patchAllEffect({ preconditions, guards }: Pick<FeatureEffects, 'preconditions' | 'guards'>): EffectType<PatchAll> {
  return {
    does: 'writes',
    isFixed: false,
    async perform(ports, effect, around) {
      const { onlyIf } = effect;
      await assertGuards(guards, ports, effect);
      if (onlyIf) await preconditionOf(preconditions, onlyIf).assert(ports, onlyIf, around);
      return { detail: await patchAll(ports, effect, around) };
    },
    async dryRun({ cluster }, { patches }) {
      if (patches.length > TRIED) return announced();
      // Controllers write status at any time, and a real run would read the object again: its version is not tried.
      const withoutVersion = (patch: GuardedPatch['patch']) => patch.filter(({ path }) => path !== VERSION);
      const tried = async ({ target, patch }: GuardedPatch) =>
        cluster.dryRunPatch(await servedKind(cluster, target), target, withoutVersion(patch), 'kubectl');
      await Promise.all(patches.map(tried));
      return {};
    },
    text: ({ what, patches }) =>
      `${what}: ${counted(patches.length, 'patch', 'patches')} by kubectl’s field manager, each only if its object is still the one shown`,
    mask: (effect) => ({ ...effect, patches: effect.patches.map(maskedPatch) }),
    digest: ({ patches, ...rest }) => ({ ...rest, patches: patches.map(compared) }),
  };
}

/** More patches than this are only announced by a dry run. */
const TRIED = 100;

/** Controllers renew their entries in managedFields with every status they write. */
function withoutTimes(op: JsonPatchOp): JsonPatchOp {
  if (op.path !== '/metadata/managedFields' || !Array.isArray(op.value)) return op;
  const entries = (op.value as readonly ManagedFieldsEntry[]).filter(({ subresource }) => subresource === undefined);
  return { ...op, value: entries.map((entry) => ({ ...entry, time: undefined })) };
}
