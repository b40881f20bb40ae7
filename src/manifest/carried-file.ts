import type { Side, Trace } from '../kernel/edit-trace.ts';
import { isRecord, type JsonMap } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { KeptRules } from '../kube/list-keys.ts';

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
  readonly edits: readonly Trace[];
  /** By name of the file: `upgrade.yaml`, and those of what is installed beside it. */
  readonly files: Readonly<Record<string, CarriedFile>>;
}

/** sha256 of what was given with `--base` and `--installed-manifest`. */
export interface ToldBy {
  readonly base?: string;
  readonly installedManifest?: string;
}

/** Under which the stage keeps them. */
export const CARRIED_ID = 'edits';
/** Part of the ids of kept items that only they have. */
export const CARRIED_PART = `/apply/${CARRIED_ID}#`;

/** What was kept as carried edits; undefined for anything else. */
export function readCarriedEdits(content: unknown): CarriedEdits | undefined {
  if (typeof content !== 'object' || content === null) return undefined;
  const { target, base, files, edits, resolutions } = content as Partial<CarriedEdits>;
  const isWhole = [target, base].every((text) => typeof text === 'string') && isRecord(resolutions) && isListOf(edits, isEdit);
  return isWhole && isRecord(files) && Object.values(files).every(isFile) ? (content as CarriedEdits) : undefined;
}

function isFile(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { release, merged, changed, removed } = value;
  return isText(release) && isText(merged) && isListOf(changed, isObject) && Array.isArray(removed) && removed.every(isText);
}

function isObject({ apiVersion, kind, metadata }: JsonMap): boolean {
  return isText(apiVersion) && isText(kind) && isRecord(metadata) && isText(metadata.name);
}

function isEdit({ ref, outcome }: JsonMap): boolean {
  return isRecord(ref) && isText(ref.kind) && isText(ref.name) && isText(outcome);
}

const isText = (value: unknown): boolean => typeof value === 'string';

function isListOf(value: unknown, is: (item: JsonMap) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => isRecord(item) && is(item));
}
