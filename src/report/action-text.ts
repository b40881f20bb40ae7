import type { EngineEvent } from '../kernel/event.ts';

/** The result of a step that only the user can do: it was said, no more. */
export const LEFT_TO_PERSON = 'manual step';

/** `step 21 of 25: wait for the agents`, by the number of the plan. */
export function stepText({ place, action: { title, effect } }: Extract<EngineEvent, { readonly type: 'action-started' }>): string {
  const text = effect.type === 'ask' ? `${LEFT_TO_PERSON}: ${title}` : title;
  return place ? `step ${place.step} of ${place.of}: ${text}` : text;
}

/** `labels 120/5000`, with what lags. */
export function progressText({ what, done, of, why }: Extract<EngineEvent, { readonly type: 'progress' }>): string {
  return `${what} ${done}/${of}${why ? ` (${why})` : ''}`;
}
