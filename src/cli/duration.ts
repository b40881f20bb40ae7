import { Fault } from '../kernel/fault.ts';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const PART = /(\d+(?:\.\d+)?)(ms|h|m|s)/g;

/** kubectl's durations (`90s`, `10m`, `1h30m`; a bare number is seconds) in milliseconds. Throws Fault('usage'). */
export function parseDuration(text: string, flag: string): number {
  const written = text.trim();
  if (/^\d+$/.test(written)) return positive(Number(written) * 1000, text, flag);
  const parts = [...written.matchAll(PART)];
  if (parts.length === 0 || parts.map((part) => part[0]).join('') !== written) throw refused(text, flag);
  return positive(
    parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0),
    text,
    flag,
  );
}

function positive(ms: number, text: string, flag: string): number {
  if (ms <= 0 || ms > 0x7fff_ffff) throw refused(text, flag);
  return ms;
}

const refused = (text: string, flag: string) =>
  new Fault('usage', `--${flag}=${text} is not a time limit`, ['write a positive time such as 90s, 10m or 1h30m']);
