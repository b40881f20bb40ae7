/** How Go reads an IP address in a CIDR: `sloppy` allows leading zeros, as API servers do where they always did. */
export type Strictness = 'strict' | 'sloppy';

export function isIPv4(text: string, strictness: Strictness = 'strict'): boolean {
  const part = strictness === 'strict' ? /^(?:0|[1-9]\d{0,2})$/ : /^\d+$/;
  const parts = text.split('.');
  return parts.length === 4 && parts.every((one) => part.test(one) && Number(one) <= 255);
}

export function isIPv6(text: string, strictness: Strictness = 'strict'): boolean {
  return groupsOf(text, strictness) !== undefined;
}

/** `10.0.0.0/8`, `fd00::/8`; the address may have bits beyond the prefix. */
export function isCidr(text: string, strictness: Strictness = 'strict'): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  if (!(strictness === 'strict' ? /^(?:0|[1-9]\d{0,2})$/ : /^\d+$/).test(bits)) return false;
  if (isIPv4(address, strictness)) return Number(bits) <= 32;
  return isIPv6(address, strictness) && Number(bits) <= 128;
}

/** `::ffff:10.0.0.1`, however it is written. */
export function isMappedIPv4(address: string): boolean {
  const groups = groupsOf(address, 'strict');
  return groups?.[5] === 0xffff && groups.slice(0, 5).every((one) => one === 0);
}

/** An address as Go writes it (`10.0.0.1` for `::ffff:10.0.0.1`); undefined if none. `sloppy`: leading zeros are decimal. */
export function canonicalAddress(text: string, strictness: Strictness = 'strict'): string | undefined {
  if (isIPv4(text, strictness)) return text.split('.').map(Number).join('.');
  if (!isMappedIPv4(text)) return written(text, strictness);
  return groupsOf(text, strictness)
    ?.slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
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

/** A network is within another if its own of that size is the same. */
export function isWithin(cidr: string, outer: string): boolean {
  const [address, bits] = cidr.split('/');
  const [network, size] = [canonicalNetwork(outer), outer.split('/')[1]];
  if (network === undefined || (bits !== undefined && Number(bits) < Number(size))) return false;
  return canonicalNetwork(`${address}/${size}`) === network;
}

/** The eight groups of an IPv6 address; undefined if it is none. */
function groupsOf(text: string, strictness: Strictness): readonly number[] | undefined {
  const [head, tail] = written(text, strictness)?.split('::').map(numbersOf) ?? [];
  if (!head) return undefined;
  return tail ? [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail] : head;
}

const numbersOf = (part: string): readonly number[] => (part === '' ? [] : part.split(':').map((one) => Number.parseInt(one, 16)));

/** An IPv6 address in its shortest form; undefined if it is none. An address of the web is read as strictly as Go reads it. */
function written(text: string, strictness: Strictness): string | undefined {
  const end = text.slice(text.lastIndexOf(':') + 1);
  const ends = isIPv4(end, strictness) ? end.split('.').map(Number).join('.') : end;
  const host = `http://[${text.slice(0, text.length - end.length)}${ends}]`;
  return /^[0-9a-f:.]+$/i.test(text) && URL.canParse(host) ? new URL(host).hostname.slice(1, -1) : undefined;
}
