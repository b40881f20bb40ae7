import type { KubeObject } from '../../kernel/object.ts';
import type { ObjectState } from '../../kernel/plan.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { contentText } from '../../manifest/content.ts';
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
