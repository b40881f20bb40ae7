import { isRecord } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ObjectState } from '../../kernel/plan.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { comparable } from '../../manifest/prepare.ts';
import type { PreviewedObject } from './outcome.ts';

/** What a saved plan knows the object by: how it is, and how it will be stored. */
export async function stateOf({ live, result }: Pick<PreviewedObject, 'live' | 'result'>): Promise<ObjectState> {
  const before = live && ((await checksum(live)) ?? `resourceVersion ${live.metadata.resourceVersion ?? ''}`);
  const after = result && (await checksum(result));
  return { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

async function checksum(object: KubeObject): Promise<string | undefined> {
  const text = contentText(object);
  return text === undefined ? undefined : `sha256:${await sha256Of(text)}`;
}

const SCALED = 'f:replicas';

/**
 * What users and tools want an object to be, as text that is equal for equal meaning; undefined for a Secret, as not even a checksum may
 * leak. It leaves out status, fields that servers and controllers write, autoscaled replicas, aggregated rules, and owner references, which
 * the upgrade removes and restores itself.
 */
export function contentText(object: KubeObject): string | undefined {
  if (object.kind === 'Secret') return undefined;
  const { metadata, ...rest } = comparable(object);
  const { ownerReferences: _, ...told } = metadata;
  return JSON.stringify(sorted(withoutGathered(withoutScaled({ ...rest, metadata: told }, object))));
}

/** Whoever scales does it through the subresource, and again tomorrow. */
function withoutScaled(content: Readonly<Record<string, unknown>>, { metadata }: KubeObject): Readonly<Record<string, unknown>> {
  const isScaled = metadata.managedFields?.some(
    ({ subresource, fieldsV1 }) => subresource === 'scale' && fieldsV1?.['f:spec']?.[SCALED] !== undefined,
  );
  if (!isScaled || !isRecord(content.spec)) return content;
  const { replicas: _, ...spec } = content.spec;
  return { ...content, spec };
}

function withoutGathered(content: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (content.aggregationRule === undefined) return content;
  const { rules: _, ...rest } = content;
  return rest;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}
