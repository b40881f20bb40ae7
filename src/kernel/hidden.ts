/** What stands in plans, reports and records in place of a Secret's value. */
export const HIDDEN = '(hidden)';

/** What stands in place of a long text, which may be a Secret's. */
export function sizeOf(text: string): string {
  return `${text.length} characters`;
}

/**
 * `https://user:password@host`, also a user alone (may be a token) and an @ in the password. The scheme's length is limited: otherwise a
 * long line without an address takes minutes.
 */
const IN_ADDRESS = [/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/"'<>\\]+@/gi, `$1${HIDDEN}@`] as const;

const CREDENTIALS: readonly (readonly [RegExp, string])[] = [
  IN_ADDRESS,
  [/\b(Bearer|Basic)( +)[A-Za-z0-9._~+/-]{8,}=*/g, `$1$2${HIDDEN}`],
  // A JSON web token, as service accounts have.
  [/\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*/g, HIDDEN],
  // A private key in PEM, with its end or without.
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----)[^"])*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g, HIDDEN],
];

/** A text that leaves this machine, without credentials that a program, an address or the user put into it. Leaves JSON valid. */
export function withoutCredentials(text: string): string {
  return CREDENTIALS.reduce((kept, [pattern, instead]) => kept.replace(pattern, instead), text);
}

/** A text for the user at the terminal, without the credentials in addresses: it is copied into tickets and logs. Leaves JSON valid. */
export function withoutAddressCredentials(text: string): string {
  return text.replace(...IN_ADDRESS);
}
