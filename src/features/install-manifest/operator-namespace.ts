import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { Edit } from '../../kernel/edit.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import { type Manifest, type ManifestDocument, manifestText, parseManifest } from '../../manifest/manifest.ts';
import { type Move, type Moved, moveNamespace } from '../../manifest/move-namespace.ts';
import { identityOf, prepared } from '../../manifest/prepare.ts';
import { textWith } from '../../manifest/upgrade-text.ts';
import { fieldOf } from '../../manifest/walk.ts';

/** Namespaces that every cluster has: an operator may live in one, and no manifest of a release describes it. */
const OF_THE_CLUSTER = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);

/** Where the operator runs instead of where the release puts it (domain §2.1/3); undefined if it runs there, or not at all. */
export function operatorMove({ profile }: Context, { operator }: Installation): Move | undefined {
  const from = profile.operator.namespace;
  if (!operator || operator.namespace === from) return undefined;
  return { from, to: operator.namespace };
}

/** A release's documents as they are for an operator in that namespace, so that they can be compared with what is installed. */
export function inNamespace(documents: readonly KubeObject[], move: Move | undefined): readonly KubeObject[] {
  if (!move) return documents;
  return documents.flatMap((document) => (isLeftToCluster(document, move) ? [] : [moveNamespace(document, move).object]));
}

interface File {
  readonly text: string;
  readonly manifest: Manifest;
}

export interface MovedFile extends File {
  /** Each place, as an edit of the user's that is kept. */
  readonly moved: readonly Edit[];
}

/** Every stage reads the same manifest, and putting it together again takes longer than reading it. */
const known = new WeakMap<Manifest, Map<string, MovedFile>>();

/**
 * The target's file for the operator's own namespace: the release's text with the other name in every place that names it. Throws
 * Fault('conflicts') where a text speaks of the namespace in a way that only the user can rewrite.
 */
export function movedFile(file: File, move: Move): MovedFile {
  const kept = known.get(file.manifest) ?? new Map<string, MovedFile>();
  known.set(file.manifest, kept);
  const found = kept.get(move.to) ?? written(file, move);
  kept.set(move.to, found);
  return found;
}

function written({ text, manifest }: File, move: Move): MovedFile {
  const { name, documents, notes = [] } = manifest;
  const stays = documents.filter(({ object }) => !isLeftToCluster(object, move));
  const moved = stays.map(({ object }) => ({ before: identityOf(object), ...moveNamespace(prepared(object), move) }));
  const unclear = moved.find((one) => one.unclear !== undefined);
  if (unclear) throw unclearText(name, unclear, move);
  const wanted = new Map(moved.map(({ before, object }) => [before, object]));
  const whole = textWith(text, manifest, wanted) ?? manifestText([...wanted.values()]);
  const edits = [...leftOut(documents, move), ...moved.flatMap((one) => movedEdits(one, move))];
  const note = `the operator runs in namespace ${move.to}: the target's file names it in ${counted(edits.length, 'place')} instead of ${move.from}`;
  return { text: whole, manifest: { ...parseManifest(whole, name), notes: [...notes, note] }, moved: edits };
}

function isLeftToCluster({ kind, metadata }: KubeObject, { from, to }: Move): boolean {
  return kind === 'Namespace' && metadata.name === from && OF_THE_CLUSTER.has(to);
}

const SOURCE = { kind: 'live' } as const;

function leftOut(documents: readonly ManifestDocument[], move: Move): readonly Edit[] {
  return documents
    .filter(({ object }) => isLeftToCluster(object, move))
    .map(({ object }): Edit => {
      const values = { path: '', base: 'present', theirs: 'present' };
      const note = `${move.to} is the cluster's own namespace.`;
      return { ref: refOf(object), ...values, change: 'remove', source: SOURCE, outcome: 'kept', note };
    });
}

function movedEdits({ object, places }: Moved, { from, to }: Move): readonly Edit[] {
  const values = { base: from, mine: to, theirs: from };
  const note = 'The operator runs there.';
  return places.map((path): Edit => ({ ref: refOf(object), path, change: 'change', ...values, source: SOURCE, outcome: 'kept', note }));
}

function unclearText(name: string, { object, unclear = '' }: Moved, { from, to }: Move): Fault {
  return new Fault(
    'conflicts',
    `the operator runs in namespace ${to}, and ${name} speaks of ${from} within a text: ${fieldOf(refOf(object), unclear)}`,
    [`put ${to} everywhere into a copy of the target's file, and give it with --upgrade-file`],
  );
}
