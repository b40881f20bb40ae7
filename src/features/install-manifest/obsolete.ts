import type { Context } from '../../kernel/context.ts';
import type { Dropped, Edit } from '../../kernel/edit.ts';
import type { Installation } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { MergeKnowledge } from '../../kernel/profile.ts';
import { isOlder, parseRelease } from '../../kernel/release.ts';
import { stepsOf } from '../../kube/field-paths.ts';
import { itemsOf } from '../../manifest/alike.ts';
import type { BaseCandidate } from '../../manifest/choose-base.ts';
import { readJson } from '../../manifest/json-text.ts';
import type { Move } from '../../manifest/move-namespace.ts';
import { identityOf, identityOfRef, prepared, renamed } from '../../manifest/prepare.ts';
import { inNamespace } from './operator-namespace.ts';
import { ownFile } from './target.ts';

/** The releases between which something was dropped. */
interface Span {
  readonly base: BaseCandidate;
  readonly target: BaseCandidate;
}

/** Each obsolete edit with the release since which its place is gone, as far as the releases that the program carries tell. */
export async function withSince(
  { stored }: Pick<Sources, 'stored'>,
  context: Context,
  installation: Installation,
  edits: readonly Edit[],
  span: Span,
): Promise<readonly Edit[]> {
  if (!edits.some(({ outcome }) => outcome === 'obsolete')) return edits;
  const { variant, addOns, move } = ownFile(context, installation);
  const histories = await Promise.all([variant, ...addOns].map(({ file }) => historyOf(stored, file, span, move)));
  const { renames } = context.profile.merge;
  return edits.map((edit) => {
    if (edit.outcome !== 'obsolete') return edit;
    const dropped = goneSince(edit, histories.find((one) => knows(one, edit)) ?? [span.base, span.target], renames);
    if (!dropped) return edit;
    const { since, lastIn } = dropped;
    const told = `${lastIn} still had it, ${since} has not.`;
    return { ...edit, dropped, note: edit.note === undefined ? told : `${edit.note} ${told}` };
  });
}

/** A file's releases from the base to the target, oldest first; all of them where the operator runs, as base and target are. */
async function historyOf(
  stored: Sources['stored'],
  file: string,
  { base, target }: Span,
  move: Move | undefined,
): Promise<readonly BaseCandidate[]> {
  const isTag = (release: string) => parseRelease(release) !== undefined;
  if (![base.release, target.release].every(isTag)) return [base, target];
  const releases = await stored.releasesOf(file);
  const between = releases.filter((one) => isTag(one) && isOlder(base.release, one) && isOlder(one, target.release));
  const known = await Promise.all(
    between.map(async (release) => ({ release, documents: inNamespace((await stored.documentsOf(release, file)) ?? [], move) })),
  );
  return [base, ...known, target];
}

/** A release between has the object: this is the file that it comes from. */
function knows(history: readonly BaseCandidate[], { ref }: Edit): boolean {
  const identity = identityOfRef(ref);
  return history.slice(1, -1).some(({ documents }) => documents.some((one) => identityOf(one) === identity));
}

/** What a release says of a place; undefined where it cannot be told: within a list that is one value. */
type Says = boolean | undefined;

/**
 * Since when a release no longer has the place of an edit, or what held it. `history` goes from the base to the target, oldest
 * first; only its releases are known, so that the change may lie between two of them.
 */
export function goneSince(
  { ref, path }: Pick<Edit, 'ref' | 'path'>,
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
    value = items ? items.get(step) : jsonAt(held, step);
    name = step;
  }
  return (value ?? undefined) !== undefined;
}
