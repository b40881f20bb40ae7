/** What a certificate says, of its first block in PEM. */
export interface Certificate {
  readonly issuer: string;
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly until: number;
}

interface Part {
  readonly tag: number;
  readonly bytes: Uint8Array;
}

const SEQUENCE = 0x30;
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const UTC_TIME = 0x17;
const DNS_NAME = 0x82;
const COMMON_NAME = '550403';
const ALTERNATIVE_NAMES = '551d11';

/** Reads a PEM certificate; undefined if it is none. */
export function readCertificate(pem: string): Certificate | undefined {
  const body = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/.exec(pem)?.[1];
  if (body === undefined) return undefined;
  try {
    return partsOf(bytesOf(atob(body.replaceAll(/\s/g, ''))));
  } catch {
    return undefined;
  }
}

function partsOf(der: Uint8Array): Certificate | undefined {
  const [whole] = children(der);
  const [signed] = children(whole?.bytes);
  const fields = children(signed?.bytes).filter(({ tag }) => tag !== VERSION);
  // Serial number, algorithm, issuer, validity, subject, key, and extensions with a tag of their own.
  const [, , issuer, validity] = fields;
  const end = children(validity?.bytes)[1];
  const extensions = children(children(fields.find(({ tag }) => tag === EXTENSIONS)?.bytes)[0]?.bytes);
  if (issuer?.tag !== SEQUENCE || !end) return undefined;
  return { issuer: commonName(issuer), names: extensions.flatMap(alternativeNames), until: timeOf(end) };
}

/** The parts that follow one another in a value of DER. */
function children(bytes: Uint8Array | undefined): readonly Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (bytes && at < bytes.length) {
    const tag = bytes[at] ?? 0;
    const first = bytes[at + 1] ?? 0;
    const size = first < 0x80 ? 0 : first & 0x7f;
    const long = bytes.subarray(at + 2, at + 2 + size).reduce((length, byte) => length * 256 + byte, 0);
    const start = at + 2 + size;
    const end = start + (first < 0x80 ? first : long);
    if (end > bytes.length || size > 4) throw new Error('not DER');
    parts.push({ tag, bytes: bytes.subarray(start, end) });
    at = end;
  }
  return parts;
}

function commonName(name: Part): string {
  const entries = children(name.bytes).flatMap(({ bytes }) => children(bytes).map((entry) => children(entry.bytes)));
  const found = entries.find(([id]) => id && hex(id.bytes) === COMMON_NAME)?.[1];
  return found ? textOf(found.bytes) : '';
}

function alternativeNames(extension: Part): readonly string[] {
  const parts = children(extension.bytes);
  if (!parts[0] || hex(parts[0].bytes) !== ALTERNATIVE_NAMES) return [];
  const [list] = children(parts.at(-1)?.bytes);
  return children(list?.bytes).flatMap(({ tag, bytes }) => (tag === DNS_NAME ? [textOf(bytes)] : []));
}

/** `260101120000Z`, or with four digits of the year. */
function timeOf({ tag, bytes }: Part): number {
  const text = textOf(bytes);
  const full = tag === UTC_TIME ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text;
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full) ?? [];
  if (year === undefined) throw new Error('not a time');
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
}

function bytesOf(binary: string): Uint8Array {
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
