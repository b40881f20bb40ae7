/** A repetition of a repetition can take for ever on a long text that does not match: such texts are not judged. */
const NESTED = /[+*]\)[+*]/;
const LONG = 24;
/** What Go reads otherwise than JavaScript, which takes some of it without a word. */
const GO_ONLY = /\[\[:|\\[AzQECpP]|\(\?P|\(\?[imsU-]*[:)]/;

/** True or false as the server would say, undefined if only the server can judge it. */
export function matchesPattern(value: string, pattern: string): boolean | undefined {
  if (NESTED.test(pattern) && value.length > LONG) return undefined;
  // The one flag in use, at the beginning.
  const insensitive = /^\^?\(\?i\)/.test(pattern);
  const plain = insensitive ? pattern.replace('(?i)', '') : pattern;
  if (GO_ONLY.test(plain.replaceAll('(?:', '('))) return undefined;
  try {
    return new RegExp(plain, insensitive ? 'i' : '').test(value);
  } catch {
    return undefined;
  }
}
