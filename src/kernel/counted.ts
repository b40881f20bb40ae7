/** `1 node`, `2 nodes`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `a, b and 3 more`; in lines of their own, so is the last. */
export function firstOf(texts: readonly string[], most: number, between = ', '): string {
  const more = texts.length - most;
  const end = more > 0 ? `${between === ', ' ? ' ' : between}and ${more} more` : '';
  return texts.slice(0, most).join(between) + end;
}

/** An age as kubectl writes it: `45s`, `3m12s`, `2h5m`, `3d`. */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}

/** `3m12s ago`, `0s ago` of a clock that is ahead; a stamp that is none is shown as it is. */
export function agoText(stamp: string, now: Date): string {
  const ms = now.getTime() - Date.parse(stamp);
  return Number.isNaN(ms) ? stamp : `${ageText(ms)} ago`;
}

/** `02:14`, `1:02:14`. */
export function elapsedText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? rest : `${Math.floor(seconds / 3600)}:${rest}`;
}

/** `10m`, `1h30m`, `45s`. */
export function timeText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  return parts.map(([count, unit]) => (count > 0 ? `${count}${unit}` : '')).join('') || '0s';
}
