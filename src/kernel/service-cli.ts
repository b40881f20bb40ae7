import type { KubeObject } from './object.ts';
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

/** The release that a CLI says it is; undefined if it does not say. Its own lines come first, whatever becomes of the rest (cli notes 1.2). */
export function clientRelease(stdout: string): string | undefined {
  return /^Client Version:\s+(\S+)/m.exec(stdout)?.[1];
}

/** Objects in an answer of the service's CLI to `get -o json`: one object, a list, or nothing. Throws SyntaxError if it is no JSON. */
export function cliObjects(text: string): readonly KubeObject[] {
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value)) return value as KubeObject[];
  if (typeof value !== 'object' || value === null) return [];
  const { items } = value as { readonly items?: unknown };
  return Array.isArray(items) ? (items as KubeObject[]) : [value as KubeObject];
}
