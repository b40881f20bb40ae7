import type { Dropped, Trace } from '../kernel/edit-trace.ts';
import { isRecord, ownField } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { MergeKnowledge } from '../kernel/profile.ts';
import { stepsOf } from '../kube/field-paths.ts';
import type { BaseCandidate } from './choose-base.ts';
import { readJson } from './json-text.ts';
import { itemsOf } from './list-items.ts';
import { identityOf, identityOfRef, prepared, renamed } from './prepare.ts';

/** What a release says of a place; undefined where it cannot be told: within a list that is one value. */
type Says = boolean | undefined;

/**
 * Since when a release no longer has the place of an edit, or what held it. `history` goes from the base to the target, oldest
 * first; only its releases are known, so that the change may lie between two of them.
 */
export function goneSince(
  { ref, path }: Pick<Trace, 'ref' | 'path'>,
  history: readonly BaseCandidate[],
  renames: MergeKnowledge['renames'] = [],
): Dropped | undefined {
  const identity = identityOfRef(ref);
  const states = history.map(({ documents }) => {
    const found = documents.find((one) => identityOf(one) === identity);
    return found && prepared(found);
  });
  const target = states.at(-1);
  const named = states.map((one) => (one && target ? renamed(one, target, renames) : one));
  const steps = path === '' ? [] : stepsOf(path);
  const missing = [...Array(steps.length + 1).keys()].map((count) => steps.slice(0, count)).find((some) => says(target, some) === false);
  if (missing === undefined || says(named[0], missing) !== true) return undefined;
  const last = named.findLastIndex((one) => says(one, missing) !== false);
  const [since, lastIn] = [history[last + 1]?.release, history[last]?.release];
  return since === undefined || lastIn === undefined || says(named[last], missing) === undefined ? undefined : { since, lastIn };
}

function says(object: KubeObject | undefined, steps: readonly string[]): Says {
  let [value, name]: [unknown, string] = [object, ''];
  for (const step of steps) {
    const held = typeof value === 'string' ? readJson(value)?.value : value;
    const items = Array.isArray(held) ? itemsOf(name, held) : undefined;
    if (Array.isArray(held) && !items) return undefined;
    value = items ? items.get(step) : isRecord(held) ? ownField(held, step) : undefined;
    name = step;
  }
  return (value ?? undefined) !== undefined;
}
