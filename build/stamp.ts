import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the build reads, from the root of the project. */
const INPUTS = ['src', 'build', 'package.json', 'package-lock.json'];

/** Names, sizes and modification times of every input: cheap, and different after any edit or checkout. */
export function inputStamp(root: string): string {
  const hash = createHash('sha256');
  for (const input of INPUTS) for (const line of linesOf(join(root, input))) hash.update(line);
  return hash.digest('hex');
}

function linesOf(path: string): readonly string[] {
  if (!existsSync(path)) return [`${path} none\n`];
  if (!statSync(path).isDirectory()) return [lineOf(path)];
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => lineOf(join(entry.parentPath, entry.name))).sort();
}

function lineOf(file: string): string {
  const { size, mtimeMs } = statSync(file);
  return `${file} ${size} ${mtimeMs}\n`;
}

export function isFresh(root: string): boolean {
  const outputs = ['dist/stamp', 'dist/cli/main.js', 'oclif.manifest.json'].map((file) => join(root, file));
  return outputs.every((file) => existsSync(file)) && readFileSync(join(root, 'dist/stamp'), 'utf8') === inputStamp(root);
}

export function writeStamp(folder: string, stamp: string): void {
  writeFileSync(join(folder, 'stamp'), stamp);
}
