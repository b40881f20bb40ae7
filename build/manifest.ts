import { join } from 'node:path';
import type { Interfaces } from '@oclif/core';
import { Plugin } from '@oclif/core/config';
import { OWN_NAME } from '../src/cli/name.ts';
import { type Manifest, packageOf } from '../src/cli/shell.ts';

/** oclif's manifest of every command, from the sources. Throws if a command cannot be loaded. */
export async function makeManifest(root: string, version: string): Promise<Manifest> {
  const pjson = packageOf(OWN_NAME, version);
  const commands = { strategy: 'explicit', target: './build/command-classes.ts', identifier: 'classes' } as const;
  const described = { ...pjson, type: 'module', oclif: { ...pjson.oclif, commands } } as Interfaces.PJSON;
  const plugin = new Plugin({ root: join(root), pjson: described, isRoot: true, ignoreManifest: true, errorOnManifestCreate: true });
  await plugin.load();
  return JSON.parse(JSON.stringify({ version, commands: plugin.manifest.commands })) as Manifest;
}
