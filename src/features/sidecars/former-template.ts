import type { JsonPatchOp, KubeObject } from '../../kernel/object.ts';
import { escapePointer } from '../../manifest/json-patch.ts';
import { mergeText } from '../../manifest/text-merge.ts';
import { conflictText, type Data } from './merge.ts';
import type { KeptTemplate, Marks } from './template-actions.ts';

/** An injector with what it was before `alp`, as far as that can be had without losing what was changed since. */
export interface FormerTemplate {
  readonly live: KubeObject;
  readonly patch: readonly JsonPatchOp[];
  /** Its data after the patch. */
  readonly data: Data;
  /** Places changed since that the patch overwrites. */
  readonly lost: readonly string[];
}

/**
 * Only what `alp` changed goes back: a key that still is as it left it to its former text, one that was edited since by a merge of three,
 * of which that edit is one side. `back`: data that the last undo left.
 */
export function formerTemplate(live: KubeObject, kept: KeptTemplate, back?: Data): FormerTemplate {
  const now = bare((live.data ?? {}) as Data);
  const keys = formerKeys(now, kept, back && bare(back));
  const patch = [
    ...(live.data === undefined && keys.length > 0 ? [{ op: 'add', path: '/data', value: {} } as const] : []),
    ...keys.map(({ key, value }) => dataOp(now, key, value)),
    ...formerMarks(live, kept, 'labels'),
    ...formerMarks(live, kept, 'annotations'),
  ];
  const data = Object.fromEntries(
    [...Object.entries(now), ...keys.map(({ key, value }) => [key, value] as const)].filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
  return { live, patch, data, lost: keys.flatMap(({ lost }) => lost ?? []) };
}

/** Keys such as `constructor` are nothing but what the object itself has under them. */
function bare(texts: Data): Data {
  return Object.assign(Object.create(null) as Data, texts);
}

/** A key that goes back; undefined: it was not there. */
interface FormerKey {
  readonly key: string;
  readonly value: string | undefined;
  readonly lost?: string;
}

/** A merge is no old text, so that a key with one is known by what the undo left: merged again, it may become another. */
function formerKeys(now: Data, { map, given }: KeptTemplate, back: Data | undefined): readonly FormerKey[] {
  const before = bare((map.data ?? {}) as Data);
  const put = given?.data && bare(given.data);
  const touched = put ? Object.keys(put).filter((key) => put[key] !== before[key]) : Object.keys(before);
  return touched
    .filter((key) => now[key] !== before[key] && (back === undefined || now[key] !== back[key]))
    .map((key) => ({ key, ...formerValue(key, now[key], before[key], put?.[key]) }))
    .filter(({ key, value }) => value !== now[key]);
}

function formerValue(key: string, now: string | undefined, before: string | undefined, put: string | undefined): Omit<FormerKey, 'key'> {
  if (now === put) return { value: before };
  if (put === undefined) return { value: before, lost: `${key}: what alp put in was not noted, so what was changed since cannot be told` };
  if (now === undefined) return { value: before, lost: `${key}: it was taken away since` };
  if (before === undefined) return { value: before, lost: `${key}: it was changed since` };
  const merged = mergeText(put, now, before);
  if ('text' in merged) return { value: merged.text };
  return { value: before, lost: conflictText(key, merged.conflicts, { mine: 'now', theirs: 'before alp' }) };
}

function dataOp(now: Data, key: string, value: string | undefined): JsonPatchOp {
  const path = `/data/${escapePointer(key)}`;
  if (value === undefined) return { op: 'remove', path };
  return { op: now[key] === undefined ? 'add' : 'replace', path, value };
}

/** Values that the template replaced come back, and what it added goes, each where it still is as the template left it. */
function formerMarks(live: KubeObject, { map, given = {} }: KeptTemplate, what: keyof Marks): readonly JsonPatchOp[] {
  const [now, before] = [bare(live.metadata[what] ?? {}), bare(map.metadata[what] ?? {})];
  return Object.entries(given[what] ?? {})
    .filter(([key, value]) => now[key] === value && before[key] !== value)
    .map(([key]) => {
      const path = `/metadata/${what}/${escapePointer(key)}`;
      return before[key] === undefined ? { op: 'remove', path } : { op: 'replace', path, value: before[key] };
    });
}
