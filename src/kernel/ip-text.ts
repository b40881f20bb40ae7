/** How Go reads an IP address in a CIDR: `sloppy` allows leading zeros, as API servers do where they always did. */
export type Reading = 'strict' | 'sloppy';

const HEX_GROUP = /^[0-9a-f]{1,4}$/i;

export function isIPv4(text: string, reading: Reading = 'strict'): boolean {
  const part = reading === 'strict' ? /^(?:0|[1-9]\d{0,2})$/ : /^\d+$/;
  const parts = text.split('.');
  return parts.length === 4 && parts.every((one) => part.test(one) && Number(one) <= 255);
}

export function isIPv6(text: string, reading: Reading = 'strict'): boolean {
  return groupsOf(text, reading) !== undefined;
}

/** `10.0.0.0/8`, `fd00::/8`; the address may have bits beyond the prefix. */
export function isCidr(text: string, reading: Reading = 'strict'): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  if (!(reading === 'strict' ? /^(?:0|[1-9]\d{0,2})$/ : /^\d+$/).test(bits)) return false;
  if (isIPv4(address, reading)) return Number(bits) <= 32;
  return isIPv6(address, reading) && Number(bits) <= 128;
}

/** `::ffff:10.0.0.1`, however it is written. */
export function isMappedIPv4(address: string): boolean {
  const groups = groupsOf(address, 'strict');
  return groups?.[5] === 0xffff && groups.slice(0, 5).every((one) => one === 0);
}

/** An address as Go writes it (`10.0.0.1` for `::ffff:10.0.0.1`); undefined if none. `sloppy`: leading zeros are decimal. */
export function canonicalAddress(text: string, reading: Reading = 'strict'): string | undefined {
  if (isIPv4(text, reading)) return text.split('.').map(Number).join('.');
  const groups = groupsOf(text, reading);
  if (!groups) return undefined;
  if (isMappedIPv4(text))
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join('.');
  const zeros = longestZeros(groups);
  const written = (some: readonly number[]) => some.map((group) => group.toString(16)).join(':');
  return zeros ? `${written(groups.slice(0, zeros.from))}::${written(groups.slice(zeros.to))}` : written(groups);
}

/** A network in the one way in which Go writes it: `42::/16` for `42:0::1/16`; undefined if it is none. */
export function canonicalNetwork(text: string): string | undefined {
  if (!isCidr(text)) return undefined;
  const [address = '', bits = ''] = text.split('/');
  const isV4 = isIPv4(address);
  const width = isV4 ? 8 : 16;
  const parts = isV4 ? address.split('.').map(Number) : groupsOf(address, 'strict');
  const masked = parts?.map((part, index) => {
    const free = Math.min(width, Math.max(0, (index + 1) * width - Number(bits)));
    return (part >> free) << free;
  });
  return masked && `${isV4 ? masked.join('.') : canonicalAddress(masked.map((part) => part.toString(16)).join(':'))}/${Number(bits)}`;
}

/** The first longest run of two or more zeros. */
function longestZeros(groups: readonly number[]): { readonly from: number; readonly to: number } | undefined {
  let best: { from: number; to: number } | undefined;
  for (let from = 0; from < groups.length; from += 1) {
    let to = from;
    while (groups[to] === 0) to += 1;
    if (to - from > Math.max(1, best ? best.to - best.from : 1)) best = { from, to };
    from = Math.max(from, to - 1);
  }
  return best;
}

/** The eight groups of an IPv6 address; undefined if it is none. */
function groupsOf(text: string, reading: Reading): readonly number[] | undefined {
  const [head = '', tail, more] = text.split('::');
  if (more !== undefined) return undefined;
  const [left, right] = [part(head, tail === undefined, reading), part(tail ?? '', true, reading)];
  if (!left || !right) return undefined;
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  return [...left, ...Array<number>(missing).fill(0), ...right];
}

/** Only the end of an address may be written as IPv4. */
function part(text: string, isEnd: boolean, reading: Reading): readonly number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  const last = groups.at(-1) ?? '';
  const ends = isEnd && isIPv4(last, reading) ? last.split('.').map(Number) : undefined;
  const plain = ends ? groups.slice(0, -1) : groups;
  if (!plain.every((one) => HEX_GROUP.test(one))) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = ends ?? [];
  return [...plain.map((one) => Number.parseInt(one, 16)), ...(ends ? [a * 256 + b, c * 256 + d] : [])];
}
