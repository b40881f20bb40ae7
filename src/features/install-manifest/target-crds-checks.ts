import { isJsonMap, jsonAt } from '../../kernel/json-map.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Schema } from './schema-defaults.ts';

/** A CRD of the target, as far as the checks look at it. */
export interface TargetCrd {
  readonly name: string;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly served: readonly string[];
  readonly schemas: Readonly<Record<string, Schema>>;
}

export function targetCrds(documents: readonly KubeObject[]): readonly TargetCrd[] {
  return documents.filter((document) => document.kind === 'CustomResourceDefinition').map(targetCrd);
}

function targetCrd(document: KubeObject): TargetCrd {
  const listed = jsonAt(document, 'spec', 'versions');
  const versions = (Array.isArray(listed) ? listed : []).filter(isJsonMap);
  const text = (...path: readonly string[]) => String(jsonAt(document, 'spec', ...path) ?? '');
  return {
    name: document.metadata.name,
    group: text('group'),
    kind: text('names', 'kind'),
    plural: text('names', 'plural'),
    served: versions.map((version) => String(version.name)),
    schemas: Object.fromEntries(versions.map((version) => [String(version.name), schemaOf(version)])),
  };
}

function schemaOf(version: Readonly<Record<string, unknown>>): Schema {
  const schema = jsonAt(version, 'schema', 'openAPIV3Schema');
  return isJsonMap(schema) ? schema : {};
}
