import type { KubeObject } from '../../core/object.ts';
import type { LogPart } from './log.ts';

const TEXT_KEY = 'kept.jsonl';
const GZ_KEY = 'kept.jsonl.gz';

type Texts = Readonly<Record<string, string>>;

/** Name of the ConfigMap with a part of the log. */
export function logName(number: number): string {
  return `netsvc-upgrade-run-log-${number}`;
}

/** Number of a part of the log; 0 for what is none. */
export function logNumber({ metadata }: KubeObject): number {
  return Number(/^netsvc-upgrade-run-log-(\d+)$/.exec(metadata.name)?.[1] ?? 0);
}

/** Every part, by its number, from what was listed by label. A label can be lost: what is not among them is asked for by its name. */
export async function logParts(
  listed: readonly KubeObject[],
  get: (name: string) => Promise<KubeObject | undefined>,
): Promise<ReadonlyMap<number, LogPart>> {
  const maps = new Map(listed.map((map) => [logNumber(map), map]));
  const last = Math.max(0, ...maps.keys());
  const parts = new Map<number, LogPart>();
  for (let number = 1; ; number += 1) {
    const map = maps.get(number) ?? (await get(logName(number)));
    if (!map && number > last) return parts;
    // What holds nothing is no gzip data: reading it says so.
    if (map) parts.set(number, partOf(map) ?? { gz: new Uint8Array() });
  }
}

/** What a ConfigMap holds of the log; undefined if it is new. */
export function partOf(map: KubeObject): LogPart | undefined {
  const gz = ((map.binaryData ?? {}) as Texts)[GZ_KEY];
  if (gz !== undefined) return { gz: Buffer.from(gz, 'base64') };
  const text = ((map.data ?? {}) as Texts)[TEXT_KEY];
  return text === undefined ? undefined : { text };
}

export function withPart({ data: _, binaryData: __, ...map }: KubeObject, part: LogPart): KubeObject {
  if ('text' in part) return { ...map, data: { [TEXT_KEY]: part.text } };
  return { ...map, binaryData: { [GZ_KEY]: Buffer.from(part.gz).toString('base64') } };
}
