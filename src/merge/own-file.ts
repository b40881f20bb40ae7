import { HIDDEN } from '../core/hidden.ts';
import { type KubeObject, refOf } from '../core/object.ts';
import { overlaps } from './field-paths.ts';
import { ImageMap, isReleaseOfSame } from './images.ts';
import { isRecord } from './json.ts';
import { type ListRules, rulesOf } from './list-keys.ts';
import { mergeField } from './merge-fields.ts';
import type { MergeInput } from './merge-input.ts';
import { type Finding, ROOT, type Walk } from './walk.ts';

type Objects = ReadonlyMap<string, KubeObject>;

/** A field in which the person's file and the cluster say different things, and nothing tells which of the two counts. */
export interface Dispute {
  /** Identity of the object. */
  readonly object: string;
  readonly path: string;
  readonly because: string;
}

/** A field, or with '' a whole object, that is as it was applied last and not as the file has it. */
export interface NotedField {
  readonly object: string;
  readonly path: string;
}

export interface OwnFileStates {
  readonly base: Objects;
  readonly theirs: Objects;
  /** What was applied last, as far as anybody noted it. */
  readonly applied: Objects;
  /** The same with what was changed in the cluster since. */
  readonly cluster: Objects;
  readonly file: Objects;
  readonly away: NonNullable<MergeInput['away']>;
  readonly listRules: ListRules | undefined;
}

interface Reconciled {
  readonly objects: Objects;
  readonly disputes: readonly Dispute[];
  readonly noted: readonly NotedField[];
}

/**
 * What a person has, by their own file and by the cluster. A file may be older than what was applied last: where only one of the
 * two differs from the release, and that is the cluster, it counts; so does what was changed in the cluster after an apply. An
 * edit of the file that the cluster has not, or has otherwise, is the person's to decide (§4.4/1).
 */
export function withOwnFile(states: OwnFileStates): Reconciled {
  const { cluster, file, away } = states;
  const objects = new Map([...cluster, ...file]);
  const disputes: Dispute[] = [];
  const noted: NotedField[] = [];
  for (const [object, live] of cluster) {
    const own = file.get(object);
    if (!own) noted.push({ object, path: '' });
    // Of a kind that the server no longer has, only the file tells anything.
    if (!own || away.has(object)) continue;
    // A Secret's values stay where they are, whatever the file has.
    const told = own.kind === 'Secret' ? { value: live, disputes: [], noted: [''] } : reconciled(states, object, own, live);
    objects.set(object, told.value);
    disputes.push(...told.disputes.map((one) => ({ object, ...one })));
    noted.push(...told.noted.map((path) => ({ object, path })));
  }
  return { objects, disputes, noted };
}

interface Told {
  readonly value: KubeObject;
  readonly disputes: readonly Omit<Dispute, 'object'>[];
  readonly noted: readonly string[];
}

function reconciled({ base, theirs, applied, listRules }: OwnFileStates, object: string, own: KubeObject, live: KubeObject): Told {
  const pathsOf = (from: KubeObject | undefined, to: KubeObject | undefined) => differingPaths(from ?? {}, to ?? {}, own, listRules);
  const released = base.get(object);
  const inFile = pathsOf(released, own);
  const inCluster = pathsOf(released, live);
  const since = pathsOf(applied.get(object) ?? released, live);
  const open = pathsOf(own, theirs.get(object));
  const disputes: Omit<Dispute, 'object'>[] = [];
  const noted: string[] = [];
  const merged = mergeField(
    {
      ...walkOf(own, listRules, ({ path }) => noted.push(path)),
      leaves: ({ path }, { base: was, mine: is }) => {
        const at = (paths: readonly string[]) => paths.some((one) => overlaps(one, path));
        if (isReleaseOfSame(path, was, is) || !at(inFile) || at(since)) return false;
        // The target has what the file has: either way that comes, unless the cluster's is an edit too.
        if (!at(open)) return !at(inCluster);
        disputes.push({ path, because: disputed(is, own.kind) });
        return true;
      },
    },
    ROOT,
    { base: own, mine: live, theirs: own },
  );
  const { apiVersion, kind, metadata } = own;
  const fields = isRecord(merged) ? merged : {};
  const kept = isRecord(fields.metadata) ? fields.metadata : {};
  return { value: { ...fields, apiVersion, kind, metadata: { ...kept, name: metadata.name } }, disputes, noted };
}

/** Places in which two states of an object differ, by the steps that a merge takes. */
function differingPaths(from: object, to: object, object: KubeObject, listRules: ListRules | undefined): readonly string[] {
  const paths: string[] = [];
  const add = ({ path, base, mine }: Finding) => {
    if (!isReleaseOfSame(path, base, mine)) paths.push(path);
  };
  mergeField(walkOf(object, listRules, add), ROOT, { base: from, mine: to, theirs: from });
  return paths;
}

function walkOf(object: KubeObject, listRules: ListRules | undefined, add: Walk['add']): Walk {
  return {
    ref: refOf(object),
    mode: 'mine',
    intoTexts: true,
    images: new ImageMap(),
    commaLists: new Set(),
    rules: rulesOf(object, listRules),
    forced: () => undefined,
    resolution: () => undefined,
    add,
    note: () => {},
  };
}

const LONGEST = 80;

function disputed(value: unknown, kind: string): string {
  const text = kind === 'Secret' ? HIDDEN : value === undefined ? 'nothing' : JSON.stringify(value);
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
  return `Your file and the cluster disagree: the cluster has ${shown}. Where that is right, write it into the file or leave --installed-manifest out.`;
}
