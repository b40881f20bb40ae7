import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

/** CommonJS inside an ES module needs these names. */
const BANNER = "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);";
const NAMES = { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' };

/** What oclif loads by the names in package.json. */
const ENTRIES = ['src/cli/main.ts', 'src/cli/help.ts', 'src/commands/*.ts', 'src/hooks/*.ts'];

/** Packages that oclif loads at each start and this program has no use for. */
const LEFT_OUT = ['debug', 'minimatch', 'tinyglobby', 'wsl-utils'];

/**
 * Bundles the program into `out`; resolves to the files that went in, relative to `root`. Outputs lie one folder deep, as do sources that
 * use `new URL('../…', import.meta.url)`, so it means the same in both (docs/internals/decisions/start-up.md).
 */
export async function bundle(root: string, out: string): Promise<readonly string[]> {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: globSync(ENTRIES, { cwd: root }).sort(),
    bundle: true,
    splitting: true,
    chunkNames: 'cli/[name]-[hash]',
    platform: 'node',
    target: 'node22',
    format: 'esm',
    banner: { js: BANNER },
    define: NAMES,
    // oclif looks for them in a checkout of its own.
    external: ['ts-node', 'tsx'],
    alias: { ...Object.fromEntries(LEFT_OUT.map((name) => [name, './build/left-out.ts'])), ejs: './build/plain-templates.ts' },
    minifyWhitespace: true,
    legalComments: 'linked',
    logLevel: 'warning',
    outdir: out,
    outbase: join(root, 'src'),
    // The names of modules are part of the output: a linked node_modules must not put a folder of this machine into it.
    preserveSymlinks: true,
    metafile: true,
  });
  return inOutput(metafile);
}

/** What was only looked at and left out has no bytes in any output. */
function inOutput({ outputs }: Metafile): readonly string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  return [...new Set(inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file))];
}
