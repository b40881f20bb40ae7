import assert from 'node:assert/strict';
import type { Trace } from '../../src/kernel/edit-trace.ts';
import { type KubeObject, refOf, refText } from '../../src/kernel/object.ts';
import { alike } from '../../src/manifest/alike.ts';
import { changedFields, fieldAt } from '../../src/manifest/definition-differences.ts';
import { folderOf, parseImage } from '../../src/manifest/images.ts';
import type { MergeResult } from '../../src/manifest/merge-input.ts';
import { identityOf, podSpecOf, prepared, recordsIn } from '../../src/manifest/prepare.ts';
import { calico } from '../../src/profiles/calico.ts';

type Objects = readonly KubeObject[];

/** By the target's names: a container and a volume were renamed. */
export const byNewName = (path: string) =>
  calico.merge.renames.reduce((named, { from, to }) => named.replaceAll(`[${from}]`, `[${to}]`), path);

export function related(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short === '' || (long.startsWith(short) && /^($|[.[])/.test(long.slice(short.length)));
}

export interface Change {
  readonly object: string;
  readonly path: string;
}

/** Every leaf in which the two differ, apart from spelling; permissions are compared elsewhere. */
export function changesBetween(before: Objects, after: Objects): readonly Change[] {
  const [was, is] = [before, after].map((all) => new Map(all.map((one) => [identityOf(one), one])));
  return [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])].flatMap((identity) => {
    const [old, now] = [was?.get(identity), is?.get(identity)];
    const object = refText({ ...(now ?? old ?? assert.fail(identity)), ...(now ?? old ?? assert.fail(identity)).metadata });
    if (!old || !now) return [{ object, path: '' }];
    return changedFields(prepared(old), prepared(now))
      .filter(({ path, before: a, after: b }) => !isSpelling(path, a, b))
      .map(({ path }) => ({ object, path: byNewName(path) }));
  });
}

function isSpelling(path: string, before: unknown, after: unknown): boolean {
  if (/\.image$/.test(path)) {
    const [a, b] = [before, after].map((image) => parseImage(String(image)).repository.replace(/^docker\.io\//, ''));
    return a === b;
  }
  // A variable that is empty is not one that is absent.
  return /\.(labels|nodeSelector)\b|\.env\[/.test(path)
    ? before === after
    : alike(before, after, { name: /([A-Za-z]+)$/.exec(path)?.[1] ?? '' });
}

/** What the result has and nobody was told, and what was told and the result does not have. */
export function untrue({ documents, edits }: MergeResult, theirs: Objects): readonly string[] {
  const named = new Map(documents.map((one) => [refText(refOf(one)), one]));
  const carried = edits.filter(({ outcome }) => outcome === 'kept').map((edit) => ({ object: refText(edit.ref), edit }));
  const untold = changesBetween(theirs, documents)
    .filter(({ object, path }) => !carried.some((one) => one.object === object && related(one.edit.path, path)))
    .map(({ object, path }) => `untold: ${object} ${path}`);
  const missing = carried
    // A Secret that a person edited is in no file: it stays in the cluster.
    .filter(({ object, edit }) => (edit.ref.kind === 'Secret' ? named.has(object) : !isCarried(named.get(object), edit)))
    .map(({ object, edit }) => `missing: ${object} ${edit.path}`);
  return [...untold, ...missing];
}

function isCarried(result: KubeObject | undefined, { path, base, mine }: Trace): boolean {
  if (path === '' || result === undefined) return path === '' && (mine === undefined) === (result === undefined);
  const [text] = /^data\.\w+(?=[.[(])/.exec(path) ?? [];
  if (text !== undefined) return fieldAt(result, text) !== undefined;
  const value = fieldAt(result, path);
  if (path.endsWith('.image')) return parseImage(String(value)).repository === parseImage(String(mine)).repository;
  if (calico.merge.commaLists.some((name) => path.endsWith(`[${name}].value`))) return isMergedList(value, base, mine);
  const list = fieldAt(result, path.replace(/\[(?:[^\\\]]|\\.)*\]$/, ''));
  if (path.endsWith(']') && Array.isArray(list) && value === undefined)
    return mine === undefined ? !list.some((one) => alike(one, base)) : list.some((one) => alike(one, mine));
  return alike(value, mine, { name: /([A-Za-z]+)$/.exec(path)?.[1] ?? '' });
}

/** What was added is there, and what was taken out is not; what the target adds is there besides. */
function isMergedList(...texts: readonly unknown[]): boolean {
  const [value = [], base = [], mine = []] = texts.map((text) => String(text ?? '').split(','));
  const wanted = mine.filter((item) => !base.includes(item));
  return wanted.every((item) => value.includes(item)) && !base.some((item) => !mine.includes(item) && value.includes(item));
}

/** Folders of the service's own images; the person's own containers, flannel and its etcd come from elsewhere. */
export function registriesOf(documents: Objects): ReadonlySet<string> {
  const containers = documents.flatMap((one) => ['initContainers', 'containers'].flatMap((list) => recordsIn(podSpecOf(one)?.[list])));
  const images = containers
    .map(({ image }) => parseImage(String(image)).repository)
    .filter((image) => !/flannel|coreos|^own\./.test(image));
  return new Set(images.map(folderOf));
}
