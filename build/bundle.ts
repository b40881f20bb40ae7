import { basename, join } from 'node:path';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';
import { builtins } from './builtins.ts';
import { FACES, mergeCore } from './merge-core.ts';

/** CommonJS inside an ES module needs these three names. */
const BANNER = [
  "const { createRequire: __createRequire } = process.getBuiltinModule('node:module');",
  "const { fileURLToPath: __toPath } = process.getBuiltinModule('node:url');",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __toPath(import.meta.url);',
  "const __dirname = __toPath(new URL('.', import.meta.url));",
].join('');

/** What the entry loads when it has to stays in files of its own: the entry must not share a chunk with anything. */
const lateApart: Plugin = {
  name: 'late-apart',
  setup(build) {
    build.onResolve({ filter: /^\.\/complete-live\.ts$/ }, () => ({ path: './complete-live.js', external: true }));
    build.onResolve({ filter: /^\.\/(?:shell|plain-shell)\.ts$/ }, ({ path }) => ({
      path: `./${FACES[`src/cli/${basename(path)}` as keyof typeof FACES]}`,
      external: true,
    }));
  },
};

/** Stubs for packages that oclif loads and this program never uses, such as the plugin search: milliseconds at every start. */
const UNUSED: Readonly<Record<string, string>> = {
  tinyglobby: 'export const glob = undefined; export const globSync = undefined;',
  minimatch: 'export const minimatch = undefined;',
  lilconfig: 'export const lilconfig = undefined;',
  'wsl-utils': 'export default false; export const isWsl = false;',
};

const unused: Plugin = {
  name: 'unused',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(?:${Object.keys(UNUSED).join('|')})$`) }, ({ path }) => ({ path, namespace: 'unused' }));
    build.onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({ contents: UNUSED[path] ?? '', loader: 'js' }));
  },
};

/**
 * Bundles the program into `out`; resolves to the files that went in, relative to `root`. Outputs lie one folder deep, as do sources that
 * use `new URL('../…', import.meta.url)`, so it means the same in both (docs/internals/decisions/start-up.md).
 */
export async function bundle(root: string, out: string): Promise<readonly string[]> {
  const { build } = await import('esbuild');
  const common: BuildOptions = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    minifyWhitespace: true,
    legalComments: 'linked',
    logLevel: 'warning',
    outdir: out,
    outbase: join(root, 'src'),
    // The names of modules are part of the output: a linked node_modules must not put a folder of this machine into it.
    preserveSymlinks: true,
    metafile: true,
  };
  const entry = await build({ ...common, entryPoints: ['src/cli/main.ts'], plugins: [lateApart, builtins] });
  const split = (chunkNames: string, ...entryPoints: readonly string[]) =>
    build({
      ...common,
      entryPoints: [...entryPoints],
      splitting: true,
      chunkNames: `cli/${chunkNames}`,
      banner: { js: BANNER },
      plugins: [unused],
      external: ['ts-node', 'tsx'],
    });
  const rest = await split('[name]-[hash]', 'src/cli/shell.ts', 'src/cli/plain-shell.ts');
  // Completion shares nothing with the commands: it would load what they all need.
  const completion = await split('complete-[name]-[hash]', 'src/cli/complete-live.ts');
  const { absWorkingDir: _, outdir: __, outbase: ___, ...alike } = common;
  if (rest.metafile) await mergeCore(join(out, 'cli'), rest.metafile, { ...alike, banner: { js: BANNER } });
  return [entry, rest, completion].flatMap(({ metafile }) => (metafile ? inOutput(metafile) : []));
}

/** What was only looked at and left out has no bytes in any output. */
function inOutput({ outputs }: Metafile): readonly string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  return [...new Set(inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file))];
}
