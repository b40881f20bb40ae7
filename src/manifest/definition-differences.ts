import { isRecord } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { FieldChange } from '../kernel/plan.ts';
import { withoutTexts } from './definition-texts.ts';
import { changedFields } from './fields.ts';
import { prepared } from './prepare.ts';

/**
 * Fields in which a definition in the cluster differs from a release's, beyond what the server fills in or leaves out; undefined between
 * API versions: then every field may. Texts for people do not count.
 */
export function definitionDifferences(released: KubeObject, state: KubeObject): readonly FieldChange[] | undefined {
  if (released.apiVersion !== state.apiVersion) return undefined;
  return changedFields(prepared(withoutTexts(released)), prepared(withoutTexts(state))).filter((change) => !isFilledIn(change));
}

const FILLED_IN = /^spec\.(conversion|preserveUnknownFields|names\.(singular|listKind|categories|shortNames))\b/;

function isFilledIn({ path, before, after }: FieldChange): boolean {
  if (isNothing(before) && isNothing(after)) return true;
  return before === undefined && FILLED_IN.test(path);
}

/** What the server stores as absent. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}
