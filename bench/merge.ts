import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { parseManifest } from '../src/manifest/manifest.ts';
import { releases } from '../test/support/releases.ts';
import { interleave, ratioTable, type Section } from './measure.ts';

/** All definitions of a release in one file. */
const FILE = 'manifests/operator-crds.yaml';

/** The largest manifest there is: the definitions of v3.30.7, the same with edits, and those of v3.32.1, read and merged. */
export async function mergeLargest(): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'merge-'));
  try {
    const program = join(folder, 'merge.mjs');
    await build({
      entryPoints: [join(import.meta.dirname, 'merge-program.ts')],
      outfile: program,
      ...{ bundle: true, platform: 'node', format: 'esm', logLevel: 'error' },
      banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    });
    const states = await writeStates(folder);
    const bare = { name: '`node -e 0`', program: process.execPath, args: ['-e', '0'] };
    const merge = (name: string, kind: 'json' | 'yaml', ...more: readonly string[]) => {
      const files = [`${states.base}.${kind}`, `${states.mine}.${kind}`, states.theirs];
      return { name, program: process.execPath, args: [program, ...files, ...more] };
    };
    const commands = [
      bare,
      merge('base and live objects as JSON, target as YAML: only read', 'json', 'read'),
      merge('the same, read and merged', 'json'),
      merge('all three as YAML, read and merged', 'yaml'),
    ];
    return {
      title: 'Merge of the largest manifest',
      aim: 'at most 1 s and 300 MB for all definitions of a release (3 MB), of which three states are read and merged',
      lines: ratioTable(await interleave(commands, 5)),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The definitions of v3.30.7, the same with edits, both as the program has them (JSON) and as files; and where the target's are. */
async function writeStates(folder: string): Promise<Readonly<Record<'base' | 'mine' | 'theirs', string>>> {
  const text = await readFile(join(releases, 'v3.30.7', FILE), 'utf8');
  const states = { base: text, mine: text.replaceAll('specifies', 'says') };
  for (const [name, state] of Object.entries(states)) {
    await writeFile(join(folder, `${name}.yaml`), state);
    const objects = parseManifest(state, name).documents.map(({ object }) => object);
    await writeFile(join(folder, `${name}.json`), JSON.stringify(objects));
  }
  return { base: join(folder, 'base'), mine: join(folder, 'mine'), theirs: join(releases, 'v3.32.1', FILE) };
}
