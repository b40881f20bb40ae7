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
