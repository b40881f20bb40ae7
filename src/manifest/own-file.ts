import { HIDDEN } from '../kernel/hidden.ts';
import { isRecord } from '../kernel/json.ts';
import { type KubeObject, refOf } from '../kernel/object.ts';
import { overlaps } from '../kube/field-paths.ts';
import { type ListRules, rulesOf } from '../kube/list-keys.ts';
import { alike } from './alike.ts';
import { ImageMap, isReleaseOfSame } from './images.ts';
import { mergeField } from './merge-fields.ts';
import type { MergeInput } from './merge-input.ts';
import { grants, grouped, isRole, type Permission, permissionsOf, placeOfVerb, ruleOf, withoutRules } from './permissions.ts';
import { type Finding, ROOT, type Walk } from './walk.ts';

type Objects = ReadonlyMap<string, KubeObject>;

/** A field in which the user's file and the cluster differ, and nothing shows which counts. */
export interface Dispute {
  /** Identity of the object. */
  readonly object: string;
  readonly path: string;
  readonly because: string;
  readonly cluster: unknown;
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
 * What the user has, by their own file and the cluster (§4.4/1). The cluster's value counts if only it differs from the release, or changed
 * after an apply; an edit of the file that the cluster lacks is the user's to decide.
 */
export function withOwnFile(states: OwnFileStates): Reconciled {
  const { base, theirs, applied, cluster, file, away, listRules } = states;
  const objects = new Map([...cluster, ...file]);
  const disputes: Dispute[] = [];
  const noted: NotedField[] = [];
  for (const [object, live] of cluster) {
    const own = file.get(object);
    if (!own) noted.push({ object, path: '' });
    // Of a kind that the server no longer has, only the file tells anything.
    if (!own || away.has(object)) continue;
    const five = { base: base.get(object), theirs: theirs.get(object), applied: applied.get(object), live, own };
    const told = isTheClusters(five) ? { value: live, disputes: [], noted: alike(own, live) ? [] : [''] } : reconciled(five, listRules);
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

/** One object in the five states; `live` is what was applied with what was changed since. */
interface Five {
  readonly base: KubeObject | undefined;
  readonly theirs: KubeObject | undefined;
  readonly applied: KubeObject | undefined;
  readonly live: KubeObject;
  readonly own: KubeObject;
}

/** A Secret's values stay in place, and what is in no release is taken from the cluster, whatever the file has. */
function isTheClusters({ base, theirs, own }: Five): boolean {
  return own.kind === 'Secret' || (!base && !theirs);
}

function reconciled(five: Five, listRules: ListRules | undefined): Told {
  const { base, theirs, applied = base, live, own } = five;
  const rulesOfAll = { base: base?.rules, applied: applied?.rules, live: live.rules, file: own.rules, theirs: theirs?.rules };
  const told = isRole(own) ? reconciledRules(rulesOfAll) : undefined;
  if (!told) return reconciledFields(five, listRules);
  const [was, target, last] = [base, theirs, applied].map((object) => object && withoutRules(object));
  const rest = reconciledFields({ base: was, theirs: target, applied: last, live: withoutRules(live), own: withoutRules(own) }, listRules);
  return {
    value: { ...rest.value, ...(told.rules === undefined ? {} : { rules: told.rules }) },
    disputes: [...rest.disputes, ...told.disputed.map((path) => ({ path, because: ALLOWED, cluster: undefined }))],
    noted: [...rest.noted, ...told.noted],
  };
}

function reconciledFields({ base, theirs, applied = base, live, own }: Five, listRules: ListRules | undefined): Told {
  const pathsOf = (from: KubeObject | undefined, to: KubeObject | undefined) => differingPaths(from ?? {}, to ?? {}, own, listRules);
  const inFile = pathsOf(base, own);
  const inCluster = pathsOf(base, live);
  const since = pathsOf(applied, live);
  const open = pathsOf(own, theirs);
  const disputes: Omit<Dispute, 'object'>[] = [];
  const noted: string[] = [];
  const merged = mergeField(
    {
      ...walkOf(own, listRules, ({ path }) => noted.push(path)),
      leaves: ({ path }, { base: was, mine: is }) => {
        const at = (paths: readonly string[]) => paths.some((one) => overlaps(one, path));
        if (isReleaseOfSame(path, was, is) || !at(inFile) || at(since)) return false;
        // The target has the file's value, which comes either way unless the cluster's is an edit too.
        if (!at(open)) return !at(inCluster);
        disputes.push({ path, because: disputed(is, own.kind), cluster: is });
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

const ALLOWED =
  'Your file allows it, and the cluster does not. Where the cluster is right, take it out of the file or leave --installed-manifest out.';
const LONGEST = 80;

function disputed(value: unknown, kind: string): string {
  const text = kind === 'Secret' ? HIDDEN : value === undefined ? 'nothing' : JSON.stringify(value);
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
  return `Your file and the cluster disagree: the cluster has ${shown}. Where that is right, write it into the file or leave --installed-manifest out.`;
}

/** The rules of one role in the five states. */
interface RuleStates {
  readonly base: unknown;
  readonly applied: unknown;
  readonly live: unknown;
  readonly file: unknown;
  readonly theirs: unknown;
}

interface ToldRules {
  readonly rules: unknown;
  /** Places of what only the file allows, and nothing tells whether that counts. */
  readonly disputed: readonly string[];
  /** Places at which the cluster counts, and not the file. */
  readonly noted: readonly string[];
}

/**
 * The user's rules by file and cluster, permission by permission: as one value, the file would overwrite what the cluster adds (§4.4/1).
 * Undefined if rules have another shape than Kubernetes'.
 */
function reconciledRules(states: RuleStates): ToldRules | undefined {
  const [base, applied, live] = [states.base, states.applied, states.live].map(permissionsOf);
  const [file, theirs] = [states.file, states.theirs].map(permissionsOf);
  if (!base || !applied || !live || !file || !theirs) return undefined;
  const only = (some: readonly Permission[], others: readonly Permission[]) => some.filter((one) => !grants(others, one));
  // The file cannot know what was allowed or removed in the cluster since the apply.
  const added = only(only(only(file, live), base), applied);
  const removed = only(live, file).filter((one) => grants(base, one) && grants(applied, one));
  const mine = [...live.filter((one) => !removed.includes(one)), ...added];
  const noted = [...only(live, file), ...only(file, live)].filter((one) => !removed.includes(one) && !added.includes(one));
  const pathOf = (one: Permission) => placeOfVerb(ROOT, one).path;
  return {
    rules: added.length + removed.length === 0 ? states.live : grouped(mine).map((one) => ruleOf(one, one.verbs)),
    disputed: only(added, theirs).map(pathOf),
    noted: noted.map(pathOf),
  };
}
