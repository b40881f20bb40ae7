import type { Ask, Expectation, TimePassed, Wait, Write } from '../kernel/action.ts';
import {
  announced,
  type EffectType,
  type EffectTypes,
  type EnginePorts,
  type ExpectationType,
  type ExpectationTypes,
  type FeatureEffects,
  whole,
} from '../kernel/effect-type.ts';
import { sizeOf } from '../kernel/hidden.ts';
import type { Performed } from '../kernel/performing.ts';
import { elapsedText, timeText } from '../kernel/time-text.ts';
import { execEffect } from './exec-effect.ts';
import { deleteEffect, patchAllEffect, patchEffect } from './patch-effects.ts';

/** Every effect: those of the features, and the kernel's own. */
export function registerOf(features: FeatureEffects): EffectTypes {
  return {
    ...features.effects,
    exec: execEffect(features),
    patch: patchEffect,
    'patch-all': patchAllEffect(features),
    delete: deleteEffect,
    write: writeEffect,
    wait: waitEffect({ ...features.expectations, 'time-passed': timePassed }),
    ask: askEffect,
  };
}

/** A file in the work folder. */
const writeEffect: EffectType<Write> = {
  does: 'files',
  isFixed: true,
  perform: written,
  dryRun: written,
  text: ({ file }) => `write ${file}`,
  mask: (effect) => ({ ...effect, content: sizeOf(effect.content) }),
  digest: whole,
};

async function written({ work }: EnginePorts, { file, content }: Write): Promise<Performed> {
  await work.write(file, content);
  return { detail: file };
}

function waitEffect(expectations: ExpectationTypes): EffectType<Wait> {
  const typeOf = ({ type }: Expectation) => expectations[type] as ExpectationType<Expectation>;
  return {
    does: 'nothing',
    isFixed: false,
    perform: (ports, { until, timeoutMs }, around) => typeOf(until).wait(ports, until, { ...around, timeoutMs }),
    dryRun: announced,
    text: ({ until, timeoutMs }) => `wait for ${typeOf(until).text(until)}, at most ${timeText(timeoutMs)}`,
    mask: whole,
    // Its limit follows the number of nodes, which come and go.
    digest: ({ type, until }) => ({ type, until }),
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
    return { detail: instruction };
  },
  dryRun: announced,
  text: ({ instruction }) => `manual step: ${instruction}`,
  mask: whole,
  digest: whole,
};
