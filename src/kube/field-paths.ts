/**
 * Paths of fields as users write them: `spec.template.spec.containers[calico-node].env[IP].value`,
 * `metadata.annotations[example.org/owner]`. Brackets hold an item's key, or a map key that is no plain word.
 */
export type Steps = readonly string[];

const PLAIN = /^[\w-]+$/;

/** One more step, into a map (`a.b`) or, with `item`, into a list (`a[b]`). */
export function stepInto(path: string, step: string, item = false): string {
  if (item || !PLAIN.test(step)) return `${path}[${step.replace(/[\\\]]/g, '\\$&')}]`;
  return path === '' ? step : `${path}.${step}`;
}

/** True if one of two places is the other, or within it; '' is the whole object and within nothing else. */
export function overlaps(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

function isWithin(path: string, outer: string): boolean {
  return outer !== '' && path.startsWith(outer) && /^($|[.[])/.test(path.slice(outer.length));
}

/** Throws RangeError if the text is no such path. */
export function stepsOf(path: string): Steps {
  const steps: string[] = [];
  const pattern = /(?:^|\.)([\w-]+)|\[((?:[^\\\]]|\\.)*)\]/suy;
  while (pattern.lastIndex < path.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(path);
    if (!match) throw new RangeError(`"${path}" is no path of a field (at character ${at + 1})`);
    steps.push(match[1] ?? (match[2] ?? '').replace(/\\(.)/gsu, '$1'));
  }
  return steps;
}
