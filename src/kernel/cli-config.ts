import type { CliConfigForm, Profile } from './profile.ts';

/** A configuration file of the service's CLI: YAML, with texts quoted as JSON quotes them, which YAML reads alike. */
export function cliConfigText({ apiVersion, kind }: CliConfigForm, spec: Readonly<Record<string, string>>): string {
  const fields = Object.entries(spec).map(([field, value]) => `  ${field}: ${JSON.stringify(value)}`);
  return [`apiVersion: ${apiVersion}`, `kind: ${kind}`, 'metadata:', 'spec:', ...fields, ''].join('\n');
}

/** The one that leads to the API datastore by a kubeconfig; undefined where the profile does not say how it is written. */
export function cliConfigFor({ cli, datastore }: Profile, kubeconfig: string): string | undefined {
  const [type] = datastore.api;
  if (cli.config === undefined || type === undefined) return undefined;
  return cliConfigText(cli.config, { [cli.config.datastoreField]: type, [cli.config.kubeconfigField]: kubeconfig });
}

/** A field of such a file; undefined if its text does not have it. */
export function cliConfigField(text: string, field: string): string | undefined {
  return new RegExp(`^\\s*["']?${field}["']?\\s*:\\s*(?:"([^"]*)"|'([^']*)'|([^"'\\s,}]+))`, 'm')
    .exec(text)
    ?.slice(1)
    .find((value) => value !== undefined);
}
