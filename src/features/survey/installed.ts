import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { choiceFlag, type Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import { detect } from './detect.ts';
import { readInventory } from './inventory.ts';

/** The installation, or a clear refusal: stages after preflight cannot do anything without one. */
export async function readInstalled(sources: Sources, context: Context): Promise<Installation> {
  const { path, variant } = context.options;
  const detection = detect(await readInventory(sources, context.profile), context.profile, { path, variant });
  if (detection.type === 'found') return detection.installation;
  const next = ['see the evidence with: kubectl netsvc-upgrade preflight'];
  if (detection.type === 'ambiguous') {
    throw new Fault('blocked', `what is installed is not clear: ${detection.because}`, [...sayWhich(detection.candidates), ...next]);
  }
  throw new Fault('blocked', `${detection.because} (profile ${context.profile.name})`, [
    'leave --profile out to have it found in the cluster, or name the right one',
    ...next,
  ]);
}

/** Candidates are install paths or variants; parts that could not be read leave none. */
function sayWhich(candidates: readonly string[]): readonly string[] {
  if (candidates.length === 0) return [];
  return [`say which with ${choiceFlag(candidates)} (${candidates.join(', ')})`];
}
