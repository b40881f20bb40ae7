import { join } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';

/** CommonJS inside an ES module needs these three names. */
const BANNER = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __toPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __toPath(import.meta.url);',
  "const __dirname = __toPath(new URL('.', import.meta.url));",
].join('');

/** The shell stays a file of its own: the entry must not share a chunk with anything. */
const shellApart: Plugin = {
  name: 'shell-apart',
  setup(build) {
    build.onResolve({ filter: /^\.\/shell\.ts$/ }, () => ({ path: './shell.js', external: true }));
  },
};

/**
 * What oclif looks for plugins, configuration files and Windows shells with: the only plugin is in memory, so none of it is reached.
 * A call would say so.
 */
const UNREACHED: Readonly<Record<string, string>> = {
  tinyglobby: 'exports.glob = unreached;',
  minimatch: 'exports.minimatch = unreached;',
  lilconfig: 'exports.lilconfig = unreached;',
  // oclif asks this one at every start; nobody here reads the answer.
  'wsl-utils': 'exports.isWsl = false; exports.powerShellPath = unreached;',
};

const leaveOutUnreached: Plugin = {
  name: 'leave-out-unreached',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${Object.keys(UNREACHED).join('|')})$`) }, ({ path, importer }) =>
      /[/\\]@oclif[/\\]core[/\\]/.test(importer) ? { path, namespace: 'unreached' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'unreached' }, ({ path }) => ({
      contents: `const unreached = () => { throw new Error('${path} is not part of this program'); };\n${UNREACHED[path]}`,
      loader: 'js',
    }));
  },
};

/**
 * Bundles the program into `out`. Every output lies one folder deep, as every source does,
 * so that `new URL('../…', import.meta.url)` means the same in both (docs/decisions/start-up.md).
 */
export async function bundle(root: string, out: string): Promise<void> {
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
  };
  await build({ ...common, entryPoints: ['src/cli/main.ts'], plugins: [shellApart] });
  await build({
    ...common,
    entryPoints: ['src/cli/shell.ts'],
    plugins: [leaveOutUnreached],
    splitting: true,
    chunkNames: 'cli/[name]-[hash]',
    banner: { js: BANNER },
    external: ['ts-node', 'tsx'],
  });
}
