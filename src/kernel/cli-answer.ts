import type { KubeObject } from './object.ts';

/** The release that a CLI says it is; undefined if it does not say. Its own lines come first, whatever becomes of the rest (cli notes 1.2). */
export function clientRelease(stdout: string): string | undefined {
  return /^Client Version:\s+(\S+)/m.exec(stdout)?.[1];
}

/** Objects in an answer of the service's CLI to `get -o json`: one object, a list, or nothing. Throws SyntaxError if it is no JSON. */
export function cliObjects(text: string): readonly KubeObject[] {
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value)) return value as KubeObject[];
  if (typeof value !== 'object' || value === null) return [];
  const { items } = value as { readonly items?: unknown };
  return Array.isArray(items) ? (items as KubeObject[]) : [value as KubeObject];
}
