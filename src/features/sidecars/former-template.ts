import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { sameValue } from '../../kernel/json.ts';
import type { JsonPatchOp, KubeObject } from '../../kernel/object.ts';
import { LAST_APPLIED } from '../../kube/applied-owners.ts';
import { templateObject, templateText } from '../../manifest/injector-template.ts';
import { escapePointer } from '../../manifest/json-patch.ts';
import { mergeText } from '../../manifest/text-merge.ts';
import { conflictText, type Data } from './merge.ts';
import type { Injector, InjectorOutcome } from './templates.ts';

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
 * Puts back only what `alp` changed: an unchanged key to its former text, a key edited since by a three-way merge with that edit. `back`:
 * data that the last undo left.
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

/** What is kept of an injector before its template is changed. */
export interface KeptTemplate {
  readonly map: KubeObject;
  /** What it was given: its data, and the template's labels and annotations. */
  readonly given?: Partial<Marks> & { readonly data?: Data };
}

/** What is kept of an injector before its former template comes back. */
export interface KeptWayBack {
  readonly replaced: KubeObject;
  /** Its data from then on; absent in what older programs kept. */
  readonly given?: { readonly data: Data };
}

type Marks = Pick<Template, 'labels' | 'annotations'>;

type Template = Extract<InjectorOutcome, { readonly type: 'template' }>;

/** As the procedure says for a whole object; releases that ship only `data` need a patch (§4.6/1, domain §9). */
export function templateActions({ injectors }: { readonly injectors: readonly Injector[] }, { workFolder }: Context): readonly Action[] {
  return injectors.flatMap(({ map, outcome }) => {
    if (outcome.type !== 'template' || isThere(map, outcome)) return [];
    const { name, namespace = '' } = map.metadata;
    const file = `${name}-template.yaml`;
    const path = `${workFolder}/${file}`;
    const args = outcome.isObject ? ['apply', '-f', path] : ['patch', 'configmap', name, '-n', namespace, '--patch-file', path];
    const marks = outcome.isObject ? { labels: outcome.labels, annotations: outcome.annotations } : {};
    return [
      {
        id: `file-${name}`,
        title: `write the template of ${name}`,
        ref: '§4.6/1',
        undo: 'full',
        effect: { type: 'write', file, content: textOf(map, outcome) },
      },
      {
        id: `template-${name}`,
        title: `put the template of the target into ConfigMap ${namespace}/${name}${outcome.edited ? ', with your edits' : ''}`,
        ref: '§4.6/1',
        undo: 'full',
        afresh: true,
        keep: { map: asKept(map), given: { data: outcome.data, ...marks } } satisfies KeptTemplate,
        effect: { type: 'exec', run: { tool: 'kubectl', args } },
      },
    ] satisfies readonly Action[];
  });
}

/** What the user or the mesh put into it. */
export function asKept({ metadata, data }: KubeObject): KubeObject {
  const { name, namespace, uid, labels } = metadata;
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations ?? {};
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, uid, labels, annotations } as KubeObject['metadata'], data };
}

/** Labels and annotations count where the template has any. */
function isThere({ metadata, data = {} }: KubeObject, outcome: Template): boolean {
  const has = (mine: Readonly<Record<string, string>> = {}, wanted: Readonly<Record<string, string>>) =>
    Object.entries(wanted).every(([key, value]) => mine[key] === value);
  if (!sameValue(data, outcome.data)) return false;
  return !outcome.isObject || (has(metadata.labels, outcome.labels) && has(metadata.annotations, outcome.annotations));
}

function textOf({ metadata: { name, namespace } }: KubeObject, { isObject, labels, annotations, data }: Template): string {
  if (!isObject) return templateText(data);
  const given = (what: 'labels' | 'annotations', marks: Readonly<Record<string, string>>) =>
    Object.keys(marks).length > 0 ? { [what]: marks } : {};
  return templateObject({ name, namespace, ...given('labels', labels), ...given('annotations', annotations) }, data);
}
