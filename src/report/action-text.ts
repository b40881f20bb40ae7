import type { EngineEvent } from '../kernel/event.ts';

/** The result of a step that only the user can do: it was said, no more. */
export const LEFT_TO_PERSON = 'manual step';

/** `labels 120/5000`, with what lags. */
export function progressText({ what, done, of, why }: Extract<EngineEvent, { readonly type: 'progress' }>): string {
  return `${what} ${done}/${of}${why ? ` (${why})` : ''}`;
}
