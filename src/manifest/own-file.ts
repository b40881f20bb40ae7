import { HIDDEN, maskAt } from '../kernel/hidden.ts';
import type { KubeObject } from '../kernel/object.ts';
import { overlaps } from '../kube/field-paths.ts';
import type { ListRules } from '../kube/list-keys.ts';
import { alike } from './alike.ts';
import { isReleaseOfSame } from './images.ts';
import { mergeField } from './merge-fields.ts';
import type { MergeInput, Objects } from './merge-input.ts';
import { grants, grouped, isRole, type Permission, permissionsIn, placeOfVerb, ruleOf, withoutRules } from './permissions.ts';
import { asObject } from './prepare.ts';
import { type Difference, type Dispute, layingWalk, ROOT, type Walk } from './walk.ts';

/** A dispute in the object of this identity. */
export type DisputeOf = Dispute & { readonly object: string };

/** A field, or with '' a whole object, that is as it was applied last and not as the file has it. */
export interface NotedField {
  readonly object: string;
  readonly path: string;
}

/**
 * What the user has, by their own file and the cluster (§4.4/1). The cluster's value counts if only it differs from the release, or changed
 * after an apply; an edit of the file that the cluster lacks is the user's to decide. `applied`: what was applied last, as far as anybody
 * noted it; `cluster`: the same with what was changed in the cluster since.
 */
export function withOwnFile(
  { base, theirs, applied, cluster, file }: Readonly<Record<'base' | 'theirs' | 'applied' | 'cluster' | 'file', Objects>>,
  { away, listRules }: Pick<MergeInput, 'away' | 'listRules'>,
): { readonly objects: Objects; readonly disputes: readonly DisputeOf[]; readonly noted: readonly NotedField[] } {
  const objects = new Map([...cluster, ...file]);
  const disputes: DisputeOf[] = [];
  const noted: NotedField[] = [];
  for (const [object, live] of cluster) {
    const own = file.get(object);
    if (!own) noted.push({ object, path: '' });
    // Of a kind that the server no longer has, only the file tells anything.
    if (!own || away?.has(object)) continue;
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
  readonly disputes: readonly Dispute[];
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
  const told = isRole(five.own) ? reconciledRules(five) : undefined;
  if (!told) return reconciledFields(five, listRules);
  const [base, theirs, applied] = [five.base, five.theirs, five.applied].map((object) => object && withoutRules(object));
  const rest = reconciledFields({ base, theirs, applied, live: withoutRules(five.live), own: withoutRules(five.own) }, listRules);
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
  const disputes: Dispute[] = [];
  const noted: string[] = [];
  const leaves: Walk['leaves'] = ({ path }, { base: was, mine: is }) => {
    const at = (paths: readonly string[]) => paths.some((one) => overlaps(one, path));
    if (isReleaseOfSame(path, was, is) || !at(inFile) || at(since)) return false;
    // The target has the file's value, which comes either way unless the cluster's is an edit too.
    if (!at(open)) return !at(inCluster);
    disputes.push({ path, because: disputed(own.kind === 'Secret' ? HIDDEN : maskAt(path, is)), cluster: is });
    return true;
  };
  const walk = walkOf(own, listRules, ({ path }) => noted.push(path));
  const merged = mergeField({ ...walk, leaves }, ROOT, { base: own, mine: live, theirs: own });
  return { value: asObject(merged, own), disputes, noted };
}

/** Places in which two states of an object differ, by the steps that a merge takes. */
function differingPaths(from: object, to: object, object: KubeObject, listRules: ListRules | undefined): readonly string[] {
  const paths: string[] = [];
  const add = ({ path, base, mine }: Difference) => {
    if (!isReleaseOfSame(path, base, mine)) paths.push(path);
  };
  mergeField(walkOf(object, listRules, add), ROOT, { base: from, mine: to, theirs: from });
  return paths;
}

function walkOf(object: KubeObject, listRules: ListRules | undefined, add: Walk['add']): Walk {
  return { ...layingWalk(object, listRules, add), intoTexts: true };
}

const ALLOWED =
  'Your file allows it, and the cluster does not. Where the cluster is right, take it out of the file or leave --installed-manifest out.';
const LONGEST = 80;

function disputed(value: unknown): string {
  const text = value === undefined ? 'nothing' : value === HIDDEN ? HIDDEN : JSON.stringify(value);
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
  return `Your file and the cluster disagree: the cluster has ${shown}. Where that is right, write it into the file or leave --installed-manifest out.`;
}

/**
 * The user's rules by file and cluster, permission by permission: as one value, the file would overwrite what the cluster adds (§4.4/1).
 * Undefined if rules have another shape than Kubernetes'. `disputed`: places of what only the file allows, and nothing tells whether that
 * counts; `noted`: places at which the cluster counts, and not the file.
 */
function reconciledRules(five: Five) {
  const [base, theirs, live, file] = [five.base, five.theirs, five.live, five.own].map((object) => permissionsIn(object?.rules));
  const applied = five.applied ? permissionsIn(five.applied.rules) : base;
  if (!base || !applied || !live || !file || !theirs) return undefined;
  const only = (some: readonly Permission[], others: readonly Permission[]) => some.filter((one) => !grants(others, one));
  // The file cannot know what was allowed or removed in the cluster since the apply.
  const added = only(only(only(file, live), base), applied);
  const removed = only(live, file).filter((one) => grants(base, one) && grants(applied, one));
  const mine = [...live.filter((one) => !removed.includes(one)), ...added];
  const noted = [...only(live, file), ...only(file, live)].filter((one) => !removed.includes(one) && !added.includes(one));
  const pathOf = (one: Permission) => placeOfVerb(one).path;
  return {
    rules: added.length + removed.length === 0 ? five.live.rules : grouped(mine).map((one) => ruleOf(one, one.verbs)),
    disputed: only(added, theirs).map(pathOf),
    noted: noted.map(pathOf),
  };
}
