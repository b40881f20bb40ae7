import type { Invocation, ToolResult } from '../../kernel/argv.ts';
import type { Profile } from '../../kernel/profile.ts';
import { cliObjects } from '../../kernel/service-cli.ts';

/** What tells one key-value store of the service from another: the GUID that its first agent gave the cluster (cli notes 1.1). */
export interface StoreExpected {
  readonly plural: string;
  readonly name: string;
  readonly guidField: string;
  readonly guid: string;
}

export type StoreQuestion = Omit<StoreExpected, 'guid'>;

/** By what a store is told; undefined where the profile does not say. */
export function storeQuestion({ clusterInformation }: Profile): StoreQuestion | undefined {
  const { plural, name, guidField } = clusterInformation;
  return guidField === undefined ? undefined : { plural, name, guidField };
}

/** Asks the CLI for the GUID of the store that these arguments lead to. A CLI of another release may ask this too. */
export function askGuid({ plural, name }: StoreQuestion, args: readonly string[]): Invocation {
  return { tool: 'netsvcctl', args: ['get', plural, name, '-o', 'json', '--allow-version-mismatch', ...args] };
}

/** The GUID in the answer, or why there is none. */
export function guidIn({ guidField }: StoreQuestion, answer: ToolResult): { readonly guid: string } | { readonly because: string } {
  if (answer.problem === 'timed-out') return { because: 'it gave no answer in time' };
  try {
    const guid = cliObjects(answer.stdout.trim() || 'null')
      .map((one) => guidOf(one, guidField))
      .find((one) => one !== undefined);
    if (guid !== undefined) return { guid };
  } catch {
    // What is no JSON is identified by its words below.
  }
  const words = (answer.stderr.trim() || answer.stdout.trim()).split('\n')[0] ?? '';
  return { because: words === '' || words === 'null' ? `it shows no ${guidField}` : words.slice(0, 200) };
}

/** The GUID in the text of a stored object; undefined where it has none, or is no object. */
export function guidInText(text: string, guidField: string): string | undefined {
  try {
    return guidOf(JSON.parse(text) as object, guidField);
  } catch {
    return undefined;
  }
}

/** The GUID of an object that holds it. */
function guidOf(object: object, guidField: string): string | undefined {
  const { spec } = object as { readonly spec?: Readonly<Record<string, unknown>> };
  const value = spec?.[guidField];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
