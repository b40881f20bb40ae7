/** Characters kept before and behind the part that differs. */
const AROUND = 12;

/** A value as one short line. */
export function valueText(value: unknown, width: number): string {
  const text = wholeText(value);
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}

/** Two values as short lines around their difference, which long texts with the same beginning would hide. */
export function differingTexts(before: unknown, after: unknown, width: number): readonly [before: string, after: string] {
  const [a, b] = [wholeText(before), wholeText(after)];
  if (a.length <= width && b.length <= width) return [a, b];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  const from = Math.max(0, same - AROUND);
  const part = (text: string) => {
    const start = from === 0 ? '' : '…';
    const rest = text.slice(from);
    return rest.length + start.length > width ? `${start}${rest.slice(0, width - 1 - start.length)}…` : `${start}${rest}`;
  };
  return [part(a), part(b)];
}

function wholeText(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll('\n', '⏎');
}
