import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Interfaces, Plugin } from '@oclif/core';
import type { Manifest } from '../src/cli/complete.ts';

/** What oclif is told of this program, with the sources in the place of what is built from them. */
export function sourcePackage(root: string): Interfaces.PJSON {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  return JSON.parse(text.replaceAll(/"\.\/dist\/([\w/-]+)\.js"/g, '"./src/$1.ts"')) as Interfaces.PJSON;
}

/** oclif's manifest of every command, from the sources. Throws if a command cannot be loaded. */
export async function makeManifest(root: string): Promise<Manifest> {
  const plugin = new Plugin({ root, pjson: sourcePackage(root), isRoot: true, ignoreManifest: true, errorOnManifestCreate: true });
  await plugin.load();
  return JSON.parse(JSON.stringify(plugin.manifest)) as Manifest;
}
