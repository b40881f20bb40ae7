import type { Effect, Exec, Precondition } from '../kernel/action.ts';
import { commandLine } from '../kernel/argv.ts';
import {
  announced,
  type EffectType,
  type EnginePorts,
  type FeatureEffects,
  type GuardType,
  type PreconditionType,
  runTool,
} from '../kernel/effect-type.ts';
import { sizeOf } from '../kernel/hidden.ts';

/** A program with its arguments. */
export function execEffect({ preconditions, guards }: Pick<FeatureEffects, 'preconditions' | 'guards'>): EffectType<Exec> {
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
      const [verb = '', ...rest] = effect.run.args;
      if (effect.run.tool !== 'kubectl' || !['apply', 'patch', 'delete'].includes(verb)) return announced();
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

export function preconditionOf(preconditions: FeatureEffects['preconditions'], { type }: Precondition): PreconditionType<Precondition> {
  return preconditions[type] as PreconditionType<Precondition>;
}

/** Those of its kind, whatever planned it. */
export async function assertGuards(guards: FeatureEffects['guards'], ports: EnginePorts, effect: Effect): Promise<void> {
  for (const guard of Object.values(guards) as readonly GuardType<Effect>[]) {
    if (guard.of === effect.type) await guard.assert(ports, effect);
  }
}
