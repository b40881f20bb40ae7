import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';

/** Entries of what every command on a cluster loads, as the first pass names them; whatever these import comes with them. */
const CORE = [
  'unused:wsl-utils',
  'src/cli/shell.ts',
  'src/commands/status.ts',
  'src/commands/unlock.ts',
  'src/cli/compose.ts',
  'src/cli/open-folder.ts',
  'src/adapters/kubeconfig.ts',
  'src/adapters/cluster.ts',
  'src/adapters/artifacts.ts',
  'src/adapters/work-folder.ts',
  'src/adapters/tools.ts',
  'src/adapters/earlier-answers.ts',
  'src/adapters/records.ts',
  'src/adapters/lock.ts',
  'src/adapters/await-orphans.ts',
  'src/adapters/orphans.ts',
  'src/adapters/run-identity.ts',
  'src/adapters/user-files.ts',
  'src/adapters/clock.ts',
  'src/adapters/machine.ts',
  'src/adapters/owner-journal.ts',
  'src/adapters/owner-journal-maps.ts',
  'src/adapters/stored-bases.ts',
];

/**
 * Splitting makes a file of each set of modules that the same commands share: sixty small ones for the shortest command, and Node
 * spends more on finding and linking them than on running them. Those that every command loads become one, `core.js`; the files
 * that they were hand on its exports, so that each module still exists once.
 */
export async function mergeCore(folder: string, { outputs }: Metafile, common: BuildOptions): Promise<void> {
  const { build } = await import('esbuild');
  const exportsOf = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output.exports]));
  const core = coreFiles(outputs);
  const aliased = (index: number, name: string) => `m${index}_${name}`;
  const reexports = (index: number, file: string) => (exportsOf.get(file) ?? []).map((name) => `${name} as ${aliased(index, name)}`);
  await build({
    ...common,
    // The folder's own name is another in every build, and names of modules are part of the output.
    absWorkingDir: folder,
    stdin: {
      contents: core.map((file, index) => exporting(reexports(index, file), `./${file}`)).join('\n'),
      resolveDir: folder,
      loader: 'js',
    },
    legalComments: 'none',
    outfile: join(folder, 'core.js'),
    plugins: [onlyThese(core, String(common.banner?.js ?? ''))],
  });
  for (const [index, file] of core.entries()) {
    const names = (exportsOf.get(file) ?? []).map((name) => `${aliased(index, name)} as ${name}`);
    writeFileSync(join(folder, file), `${exporting(names, './core.js')}\n`);
  }
}

const exporting = (names: readonly string[], from: string): string =>
  names.length === 0 ? `import '${from}';` : `export { ${names.join(', ')} } from '${from}';`;

/** Names of the core's files, and of those that they load at once. */
function coreFiles(outputs: Metafile['outputs']): readonly string[] {
  const files = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const found = new Set<string>();
  const add = (file: string): void => {
    const output = files.get(file);
    if (!output || found.has(file)) return;
    found.add(file);
    for (const { path, kind, external } of output.imports) if (kind === 'import-statement' && !external) add(basename(path));
  };
  const entries = new Map([...files].map(([file, { entryPoint }]) => [entryPoint, file]));
  for (const entry of CORE) {
    const file = entries.get(entry);
    if (file === undefined) throw new Error(`the core names ${entry}, which is no entry of the bundle: no file loads it by import()`);
    add(file);
  }
  return [...found];
}

/** Every other file stays where it is; the banner, which each file has, is needed once. */
function onlyThese(files: readonly string[], banner: string): Plugin {
  return {
    name: 'only-these',
    setup(build) {
      build.onResolve({ filter: /^\.\// }, ({ path }) => (files.includes(basename(path)) ? undefined : { path, external: true }));
      build.onLoad({ filter: /\.js$/ }, ({ path }) => ({ contents: readFileSync(path, 'utf8').replace(banner, ''), loader: 'js' }));
    },
  };
}
