/** What is below these is the cluster's or the user's, or is said elsewhere: `plans` of a report are the stages of a plan. */
const FREE = new Set(['before', 'after', 'artifacts', 'digests', 'flags', 'plans']);

/** Every place of a document with the type of what is there, sorted. The items of a list are one place; what an effect holds follows from its type. */
export function shapeOf(document: unknown): readonly string[] {
  return [...new Set(placesOf(document, ''))].sort();
}

function placesOf(value: unknown, path: string): readonly string[] {
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (FREE.has(name)) return [path];
  if (Array.isArray(value)) return [`${path}: list`, ...value.flatMap((one) => placesOf(one, `${path}[]`))];
  if (typeof value !== 'object' || value === null) return [`${path}: ${value === null ? 'null' : typeof value}`];
  const inside = Object.entries(value).filter(([field]) => name !== 'effect' || field === 'type');
  return [`${path}: object`, ...inside.flatMap(([field, one]) => placesOf(one, `${path}.${field}`))];
}
