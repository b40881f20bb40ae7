const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Bytes that the conversion does not change: version and variant of the UUID. */
const LEFT_ALONE = new Set([6, 8]);
const REVERSED = Array.from({ length: 256 }, (_, byte) => reversed(byte));

function reversed(byte: number): number {
  let result = 0;
  for (let bit = 0; bit < 8; bit += 1) result |= ((byte >> bit) & 1) << (7 - bit);
  return result;
}

/**
 * The UID under which the v3 API serves an object stored with this one, and the reverse: bits of each byte reversed, except the version and
 * variant bytes. Undefined if the text is no UUID.
 */
export function convertUid(uid: string): string | undefined {
  if (!UUID.test(uid)) return undefined;
  let place = 0;
  return uid.toLowerCase().replace(/[0-9a-f]{2}/g, (pair) => {
    const byte = Number.parseInt(pair, 16);
    const converted = LEFT_ALONE.has(place) ? byte : (REVERSED[byte] ?? 0);
    place += 1;
    return converted.toString(16).padStart(2, '0');
  });
}

/** What is known of an owner before the upgrade. */
export interface OwnerStanding {
  /** The reference names the stored object of the CRD group, not the one of the v3 group. */
  readonly stored: boolean;
  /** UID that the API serves for what the reference names; undefined if there is no such owner. */
  readonly servedUid: string | undefined;
  /** UID of the custom resource behind a v3 object; undefined if it cannot be read or there is none (key-value datastore). */
  readonly backingUid?: string;
  /** The policy-name migration will store it again. */
  readonly renamePending: boolean;
  /** The v3 object is stored under another name than its own, and the target finds it only under that one. */
  readonly unaddressed?: boolean;
  /** The datastore keeps the UIDs itself (key-value): they are never converted. */
  readonly keepsUids: boolean;
  /** The target release serves converted UIDs. */
  readonly targetConverts: boolean;
  /** The installed release does so already, evaluated by its version; undefined if that is not known. Only asked without `backingUid`. */
  readonly sourceConverts?: boolean;
}

/** What the upgrade makes of an owner's UID. */
export type OwnerFate =
  | { readonly fate: 'kept' | 'converted'; readonly uid: string }
  /** Created again: the UID must be read afterwards. */
  | { readonly fate: 're-created' }
  /** There, but not found by its name: garbage collection asks by name, and takes it for gone (host endpoint notes 0.5). */
  | { readonly fate: 'unaddressed' }
  /** The owner keeps its UID, and the new API server shows this reference to it with another. */
  | { readonly fate: 'misread'; readonly uid: string }
  | { readonly fate: 'gone' }
  /** Neither the stored object nor the installed release is known. */
  | { readonly fate: 'unknown' };

/** The UID that an owner will have after the upgrade, as far as it can be known before (§4.8). */
export function uidAfter(owner: OwnerStanding): OwnerFate {
  const { servedUid } = owner;
  if (servedUid === undefined) return { fate: 'gone' };
  if (owner.renamePending) return { fate: 're-created' };
  if (owner.unaddressed && !owner.stored && !owner.keepsUids) return { fate: 'unaddressed' };
  if (owner.stored || owner.keepsUids || !owner.targetConverts) return { fate: 'kept', uid: servedUid };
  const uid = convertedUid(owner, servedUid);
  if (uid === undefined) return { fate: 'unknown' };
  return { fate: uid === servedUid ? 'kept' : 'converted', uid };
}

/** Comparing both UIDs needs no version: what the service serves is either the stored UID or the converted one. */
function convertedUid({ backingUid, sourceConverts }: OwnerStanding, servedUid: string): string | undefined {
  if (backingUid !== undefined) return convertUid(backingUid);
  if (sourceConverts === undefined) return undefined;
  return sourceConverts ? servedUid : convertUid(servedUid);
}
