import { stringify } from 'yaml';
import { Fault } from '../kernel/fault.ts';
import { mapAt } from '../kernel/json.ts';
import { readYaml } from './yaml-rules.ts';

/** A mesh template of a release: the `data` of the injector's ConfigMap, as a patch or as a whole object. */
export interface InjectorTemplate {
  readonly data: Readonly<Record<string, string>>;
  /** False: only `data`, which `kubectl apply` refuses. */
  readonly isObject: boolean;
  /** Of a whole object. */
  readonly labels: Texts;
  readonly annotations: Texts;
}

type Texts = Readonly<Record<string, string>>;

/** Reads a template file. Throws Fault('usage') if it holds no `data` of texts. */
export function parseTemplate(text: string, name: string): InjectorTemplate {
  const { data, kind, metadata } = mapAt(parsed(text, name));
  const texts = Object.values(mapAt(data));
  if (texts.length === 0 || !texts.every((one) => typeof one === 'string')) {
    throw new Fault('usage', `${name} is no template of the injector: it has no data`, [
      'give a file with data: config: …, as the release has it',
    ]);
  }
  const [labels, annotations] = ['labels', 'annotations'].map((field) => mapAt(metadata, field) as Texts);
  return { data: data as Texts, isObject: kind === 'ConfigMap', labels: labels ?? {}, annotations: annotations ?? {} };
}

function parsed(text: string, name: string): unknown {
  const { value, problem, repeated } = readYaml(text);
  const twice = repeated.map(({ key, line }) => ({ line, message: `the key "${key}" is there twice` }));
  const found = problem ?? twice[0];
  if (!found) return value;
  throw new Fault('usage', `${name}:${found.line}: not valid YAML: ${found.message}`, ['correct it, or name another file']);
}

/** The whole object, for `kubectl apply`: labels and annotations applied before and missing in its file would be removed. */
export function templateObject(metadata: object, data: Texts): string {
  return `${stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, { lineWidth: 0 })}${templateText(data)}`;
}

/** A patch of `data` as the user can read and compare it: long texts line by line. */
export function templateText(data: Readonly<Record<string, string>>): string {
  return stringify({ data }, { lineWidth: 0, blockQuote: 'literal' });
}
