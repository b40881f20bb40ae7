import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { sameValue } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { LAST_APPLIED } from '../../kube/applied-owners.ts';
import { templateObject, templateText } from '../../manifest/injector-template.ts';
import type { Data } from './merge.ts';
import type { Injector, InjectorOutcome } from './templates.ts';

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

export type Marks = Pick<Template, 'labels' | 'annotations'>;

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
