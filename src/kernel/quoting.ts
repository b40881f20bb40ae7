const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** One argument as a POSIX shell would need it quoted; for showing, never for running. */
export function quoteArgument(argument: string): string {
  return PLAIN.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}

const PLAIN_ON_WINDOWS = /^[A-Za-z0-9_@+=:./\\-]+$/;

/**
 * One argument quoted for the user's shell; cmd.exe and PowerShell both take double quotes with backslashes doubled only before a quote.
 * `%` and `$` cannot be escaped for both; a double quote inside is escaped for cmd.exe.
 */
export function quoteFor(platform: string, argument: string): string {
  if (platform !== 'win32') return quoteArgument(argument);
  if (PLAIN_ON_WINDOWS.test(argument)) return argument;
  return `"${argument.replaceAll(/(\\*)("|$)/g, (_, slashes: string, quote: string) => slashes + slashes + (quote && '\\"'))}"`;
}
