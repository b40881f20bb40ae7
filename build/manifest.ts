import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Interfaces, Plugin } from '@oclif/core';
import { COMMAND_NAMES } from '../src/cli/command-names.ts';
import type { Manifest } from '../src/cli/complete.ts';

/** What oclif is told of this program, with the sources in the place of what is built from them. */
export function sourcePackage(root: string): Interfaces.PJSON {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const ofSources = text.replaceAll('"./dist/', '"./src/').replaceAll(/("\.\/src\/[\w/-]+)\.js"/g, '$1.ts"');
  return JSON.parse(ofSources) as Interfaces.PJSON;
}

/**
 * oclif's manifest of every command, from the sources and in the order of completion. Throws if a command cannot be loaded. Without the
 * files of the commands: they are found by name, in the sources and in what is built.
 */
export async function makeManifest(root: string): Promise<Manifest> {
  const plugin = new Plugin({ root, pjson: sourcePackage(root), isRoot: true, ignoreManifest: true, errorOnManifestCreate: true });
  await plugin.load();
  const { version, commands } = plugin.manifest;
  const place = (id: string) => (COMMAND_NAMES as readonly string[]).indexOf(id);
  const ordered = Object.entries(commands).sort(([one], [other]) => place(one) - place(other));
  const anywhere = ordered.map(([id, { isESM, relativePath, ...command }]) => [id, command]);
  return JSON.parse(JSON.stringify({ commands: Object.fromEntries(anywhere), version })) as Manifest;
}
