import type { NotRead, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import { attempt, attemptWith, type TargetFacts } from '../survey/index.ts';
import type { MergedTarget } from './merged.ts';
import type { PreviewedObject } from './outcome.ts';
import { previewDocuments } from './preview.ts';
import { readTarget, targetDocuments } from './target.ts';
import { readCrdManifest } from './target-crds.ts';

/** The target as it will be applied, edits and all, and what the server says to it. */
export interface FoundTarget {
  readonly facts: Reading<TargetFacts>;
  readonly previews: Reading<readonly PreviewedObject[]>;
  /** Undefined on the operator's paths. */
  readonly merged?: Reading<MergedTarget>;
}

export const withoutTarget = (reason: NotRead): FoundTarget => ({ facts: reason, previews: reason });

/** Of a file of its own; `merge` reads it with the user's edits, as far as the account may. */
export async function findOwnTarget(
  sources: Sources,
  context: Context,
  installation: Installation,
  merge: () => Promise<MergedTarget>,
): Promise<FoundTarget> {
  const merged = await attempt(merge);
  // An account that cannot read everything still learns what to ask for, by the documents as released.
  const target = 'value' in merged ? { value: merged.value.target } : await attempt(() => readTarget(sources, context, installation));
  const facts = await attemptWith(target, async (one) => ({ release: one.release, url: one.url, documents: targetDocuments(one) }));
  return { facts, previews: await attemptWith(merged, async (one) => one.previews), merged };
}

/** The CRDs' own file is all that can be evaluated before a chart is rendered; `apply` evaluates the rest. */
export async function findCrds(sources: Sources, context: Context, installation: Installation): Promise<FoundTarget> {
  const read = await attempt(() => readCrdManifest(sources, context, installation));
  return {
    facts: await attemptWith(read, async ({ url, manifest }) => {
      return { release: context.goal.release, url, documents: manifest.documents.map(({ object }) => object) };
    }),
    previews: await attemptWith(read, ({ manifest }) => previewDocuments(sources.cluster, manifest)),
  };
}

/** A file of its own beside that of the CRDs. */
export function joinedTarget({ facts, previews }: FoundTarget, crds: FoundTarget): FoundTarget {
  return {
    facts: joined(facts, crds.facts, (one, other) => ({ ...one, documents: [...one.documents, ...other.documents] })),
    previews: joined(previews, crds.previews, (one, other) => [...one, ...other]),
  };
}

function joined<T>(a: Reading<T>, b: Reading<T>, join: (a: T, b: T) => T): Reading<T> {
  if ('unread' in a) return a;
  return 'unread' in b ? b : { value: join(a.value, b.value) };
}
