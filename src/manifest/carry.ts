import { Fault } from '../kernel/fault.ts';
import { sameValue } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { ListRules } from '../kube/list-keys.ts';
import type { CarriedFile } from './carried-file.ts';
import { identityOf, prepared } from './prepare.ts';
import { upgradeText } from './upgrade-text.ts';

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
  const hasValues = [object.data, object.stringData].some(
    (values) => typeof values === 'object' && values && Object.keys(values).length > 0,
  );
  if (object.kind !== 'Secret' || !hasValues) return object;
  throw new Fault('conflicts', `Secret/${object.metadata.namespace ?? 'default'}/${object.metadata.name} of your file has values`, [
    'take it out of the file and create it by itself, so that no file of this program holds a key',
  ]);
}
