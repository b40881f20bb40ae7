import { isRecord } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';

/** A definition without its descriptions: they are text for people, and releases reword them without changing anything. */
export function withoutTexts<T extends KubeObject>(definition: T): T {
  return definition.kind === 'CustomResourceDefinition' ? (bare(definition) as T) : definition;
}

function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (!isRecord(value)) return value;
  // A field that is called `description` has a schema there, not a text.
  const fields = Object.entries(value).filter(([name, field]) => name !== 'description' || typeof field !== 'string');
  return Object.fromEntries(fields.map(([name, field]) => [name, bare(field)]));
}
