/** The command lines that a text tells to run under the heading that begins so. */
export function commandsUnder(text: string, heading: string): readonly string[] {
  const section = text.split('\n## ').find((one) => one.startsWith(heading)) ?? '';
  return [...section.matchAll(/^ {4}(\S.*)$/gm)].map(([, command = '']) => command);
}
