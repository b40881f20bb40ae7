import type { Edit, Side } from '../kernel/edit.ts';
import { Fault } from '../kernel/fault.ts';
import { areTexts, isListOf, isRecord, isText, type JsonMap, mapAt, sameValue } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { KeptRules, ListRules } from '../kube/list-keys.ts';
import { identityOf, prepared } from './prepare.ts';
import { upgradeText } from './upgrade-text.ts';

/** What a merge made of one file of the target. */
export interface CarriedFile {
  /** sha256 of the release's own file that was merged into. */
  readonly release: string;
  /** sha256 of the file with the edits. */
  readonly merged: string;
  /** Objects that differ from the release's, and those that the user added, whole. Never a Secret's values. */
  readonly changed: readonly KubeObject[];
  /** Objects of the release that are left out, by identity. */
  readonly removed: readonly string[];
}

/**
 * The user's edits as carried into the target, kept beside the run record before the first write. After it, live objects and kubectl's
 * notes no longer show them (§4.4/1, §7/4).
 */
export interface CarriedEdits {
  readonly target: string;
  /** sha256 of the files that the user named for telling edits; another one is too late once part of the cluster has them. */
  readonly told?: ToldBy;
  /** Release of the manifest that the edits are identified by. */
  readonly base: string;
  readonly resolutions: Readonly<Record<string, Side>>;
  /** The server's rules for lists that the files were written by: a resumed run writes the same text. */
  readonly lists?: KeptRules;
  readonly edits: readonly Edit[];
  /** By name of the file: `upgrade.yaml`, and those of what is installed beside it. */
  readonly files: Readonly<Record<string, CarriedFile>>;
  /** What was installed, for a rollback; absent where it could not be told. */
  readonly former?: Former;
}

/** What the user had of the release that is left, as its difference to that release's own manifest. */
export interface Former {
  /** Release of the manifest that it is a difference to. */
  readonly release: string;
  /** Objects that differ from the release's, whole. */
  readonly changed: readonly KubeObject[];
  /** Objects of the release that the user had not, by identity. */
  readonly removed: readonly string[];
  /** Objects of the target that were not there before it, by identity. */
  readonly added: readonly string[];
}

/** sha256 of what was given with `--base` and `--installed-manifest`. */
export interface ToldBy {
  readonly base?: string;
  readonly installedManifest?: string;
}

const STAGE = 'apply';
/** Under which the stage keeps them. */
export const CARRIED_ID = 'edits';
/** Part of the ids of kept items that only they have. */
export const CARRIED_PART = `/${STAGE}/${CARRIED_ID}#`;

/** What was kept as carried edits; undefined for anything else. */
export function readCarriedEdits(content: unknown): CarriedEdits | undefined {
  const { target, base, files, edits, resolutions, former } = mapAt(content);
  if (former !== undefined && !isFormer(former)) return undefined;
  const isWhole = isText(target) && isText(base) && isRecord(resolutions) && isListOf(edits, isEdit);
  return isWhole && isRecord(files) && Object.values(files).every(isFile) ? (content as CarriedEdits) : undefined;
}

/** What must not come from a record that others can write: rights and what decides on other objects. */
const NEVER_KEPT = new Set([
  'APIService',
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'Namespace',
  'Role',
  'RoleBinding',
  'Secret',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
]);

/** Edits of these are known by the live object alone, in a rollback as well. */
export const isNeverKept = ({ kind }: Pick<KubeObject, 'kind'>): boolean => NEVER_KEPT.has(kind);

/** `documents`: the release's own; `merged`: the same with the user's edits. Objects that only the user has are left to the cluster. */
export function formerOf(release: string, documents: readonly KubeObject[], merged: readonly KubeObject[]): Omit<Former, 'added'> {
  const known = documents.filter((one) => !isNeverKept(one));
  const own = new Set(known.map(identityOf));
  const file = { name: release, text: '', documents: known };
  const found = differences(
    [file],
    merged.filter((one) => own.has(identityOf(one))),
  ).get(release);
  return { release, changed: found?.changed ?? [], removed: found?.removed ?? [] };
}

/** The release's documents as the user had them. A record is no source of objects: what the release has not is left out. */
export function withFormer(
  documents: readonly KubeObject[],
  { changed, removed }: Pick<Former, 'changed' | 'removed'>,
): readonly KubeObject[] {
  const edited = new Map(changed.filter((one) => !isNeverKept(one)).map((object) => [identityOf(object), object]));
  const gone = new Set(removed);
  return documents
    .filter((document) => isNeverKept(document) || !gone.has(identityOf(document)))
    .map((document) => edited.get(identityOf(document)) ?? document);
}

function isFormer(value: unknown): boolean {
  const { release, changed, removed, added } = mapAt(value);
  return isText(release) && isListOf(changed, isObject) && [removed, added].every(areTexts);
}

function isFile(value: unknown): boolean {
  const { release, merged, changed, removed } = mapAt(value);
  return isText(release) && isText(merged) && isListOf(changed, isObject) && areTexts(removed);
}

function isObject({ apiVersion, kind, metadata }: JsonMap): boolean {
  return isText(apiVersion) && isText(kind) && isRecord(metadata) && isText(metadata.name);
}

function isEdit({ ref, outcome }: JsonMap): boolean {
  return isRecord(ref) && isText(ref.kind) && isText(ref.name) && isText(outcome);
}

/** One file of the target as its release has it. */
export interface ReleasedFile {
  readonly name: string;
  readonly text: string;
  readonly documents: readonly KubeObject[];
}

type Difference = Pick<CarriedFile, 'changed' | 'removed'>;

/** What differs in each file once `merged` replaces them all; unchanged files are left out, additions go to the first. */
export function differences(files: readonly ReleasedFile[], merged: readonly KubeObject[]): ReadonlyMap<string, Difference> {
  const wanted = new Map(merged.map((object) => [identityOf(object), object]));
  const known = new Set(files.flatMap(({ documents }) => documents.map(identityOf)));
  const added = merged.filter((object) => !known.has(identityOf(object)));
  const found = files.map(({ name, documents }, index): [string, Difference] => {
    const changed = documents.flatMap((document) => {
      const object = wanted.get(identityOf(document));
      return object && !sameValue(prepared(document), object) ? [withoutSecrets(object)] : [];
    });
    const removed = documents.map(identityOf).filter((identity) => !wanted.has(identity));
    return [name, { changed: index === 0 ? [...changed, ...added.map(withoutSecrets)] : changed, removed }];
  });
  return new Map(found.filter(([, { changed, removed }]) => changed.length + removed.length > 0));
}

/** The file with these differences in place; the release's own bytes where there are none. */
export function carriedText({ text, documents }: ReleasedFile, { changed, removed }: Difference, listRules?: ListRules): string {
  const edited = new Map(changed.map((object) => [identityOf(object), object]));
  const gone = new Set(removed);
  const kept = documents
    .filter((document) => !gone.has(identityOf(document)))
    .map((document) => edited.get(identityOf(document)) ?? prepared(document));
  const known = new Set(documents.map(identityOf));
  const added = changed.filter((object) => !known.has(identityOf(object)));
  return upgradeText(text, { documents: [...kept, ...added] }, listRules);
}

/** A file of ours never holds a key: a Secret with values keeps those in the cluster. */
function withoutSecrets(object: KubeObject): KubeObject {
  const hasValues = [object.data, object.stringData].some((values) => Object.keys(mapAt(values)).length > 0);
  if (object.kind !== 'Secret' || !hasValues) return object;
  throw new Fault('conflicts', `Secret/${object.metadata.namespace ?? 'default'}/${object.metadata.name} of your file has values`, [
    'take it out of the file and create it by itself, so that no file of this program holds a key',
  ]);
}
