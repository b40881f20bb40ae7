import { HIDDEN, maskValue } from '../kernel/hidden.ts';
import { isRecord, type JsonMap } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { Bodies } from '../kernel/plan.ts';
import { withoutTexts } from './definition-differences.ts';
import { comparable } from './prepare.ts';
import { writeYaml } from './yaml-rules.ts';

/** Both states of an object as YAML that may be shown; a side that is not there is absent. */
export interface ObjectTexts {
  readonly before?: string;
  readonly after?: string;
}

/**
 * As kubectl prints it, keys sorted, without status, metadata of server and tools, and texts of definitions. Secret values and credentials
 * are hidden: only that they change is shown.
 */
export function objectTexts({ before, after }: Bodies): ObjectTexts {
  const [was, is] = [before, after].map((object) => object && withoutTexts(comparable(object)));
  const [wasShown, isShown] = [was && masked(was), is && masked(is)];
  const known = new Set(hiddenValues(was, wasShown));
  return {
    ...(wasShown ? { before: writeYaml(sorted(wasShown)) } : {}),
    ...(isShown ? { after: writeYaml(sorted(was ? marked(is, isShown, known) : isShown)) } : {}),
  };
}

/** A Secret's values are hidden by place, others by what they look like; a definition's rules only look like them. */
function masked(object: KubeObject): KubeObject {
  if (object.kind === 'CustomResourceDefinition') return object;
  const shown = maskValue(object);
  if (object.kind !== 'Secret') return shown;
  const { metadata } = shown;
  const annotations = isRecord(metadata.annotations) ? { annotations: hidden(metadata.annotations) } : {};
  const values = ['data', 'stringData'].filter((name) => isRecord(shown[name])).map((name) => [name, hidden(shown[name])]);
  return { ...shown, metadata: { ...metadata, ...annotations } as KubeObject['metadata'], ...Object.fromEntries(values) };
}

function hidden(values: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(values as object).map((name) => [name, HIDDEN]));
}

const ANOTHER = ' (another value)';

/** What was hidden: each value with the name of its field. Both sides have the same shape. */
function* hiddenValues(whole: unknown, shown: unknown, name = ''): Generator<string> {
  if (typeof whole === 'string' && whole !== shown) yield `${name}\0${whole}`;
  if (typeof whole !== 'object' || whole === null) return;
  for (const [key, value] of Object.entries(whole)) yield* hiddenValues(value, (shown as JsonMap)[key], Array.isArray(whole) ? name : key);
}

/** Both sides look alike once hidden, so a changed value is marked. */
function marked(whole: unknown, shown: unknown, known: ReadonlySet<string>, name = ''): unknown {
  if (typeof whole === 'string') return whole !== shown && !known.has(`${name}\0${whole}`) ? `${shown}${ANOTHER}` : shown;
  if (Array.isArray(whole)) return whole.map((value, index) => marked(value, (shown as readonly unknown[])[index], known, name));
  if (!isRecord(whole)) return shown;
  return Object.fromEntries(Object.entries(whole).map(([key, value]) => [key, marked(value, (shown as JsonMap)[key], known, key)]));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}
