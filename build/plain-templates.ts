/**
 * What the bundle has in the place of `ejs`, which oclif compiles each text of a page with: its two templates are `<%= config.bin %>` and
 * `<%= command.id %>`, and most texts have none.
 */
export default { render };

type Values = Readonly<Record<string, Readonly<Record<string, string>>>>;

function render(text: string, values: Values): string {
  return text.replaceAll(/<%= (\w+)\.(\w+) %>/g, (_, of: string, name: string) => values[of]?.[name] ?? '');
}
