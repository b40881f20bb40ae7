import type { KubeObject } from './object.ts';

/** Objects in an answer of the service's CLI to `get -o json`: one object, a list, or nothing. Throws SyntaxError if it is no JSON. */
export function cliObjects(text: string): readonly KubeObject[] {
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value)) return value as KubeObject[];
  if (typeof value !== 'object' || value === null) return [];
  const { items } = value as { readonly items?: unknown };
  return Array.isArray(items) ? (items as KubeObject[]) : [value as KubeObject];
}
