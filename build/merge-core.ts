import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { BuildOptions, ImportKind, Metafile, Plugin } from 'esbuild';
import { builtins } from './builtins.ts';

/** Entries of what every command loads, as the first pass names them; whatever they import comes with them. None needs oclif. */
const CORE = ['src/cli/plain-shell.ts'];

/** Entries of what those load besides that oclif runs. */
const OCLIF = ['unused:wsl-utils', 'src/cli/shell.ts', 'src/commands/others.ts'];

/** What commands without oclif load as well: the width of letters, which both need, would have all of oclif loaded. */
const APART = ['src/report/table.ts'];

/** Entries of what every command on a cluster loads besides. */
const CLUSTER = ['src/cli/compose.ts'];

/** Entries that are loaded by import() alone, and the file that has their exports under their own names: the way by a file in their place is saved. */
export const FACES = {
  'src/cli/plain-shell.ts': 'core.js',
  'src/cli/shell.ts': 'oclif.js',
  'src/cli/compose.ts': 'cluster.js',
} as const;

/**
 * Joins the files that many commands need into three, which hand on their exports, so each module exists once. Splitting alone gives sixty
 * small ones to the shortest command, and Node spends more on finding them than on running them.
 */
export async function mergeCore(folder: string, { outputs }: Metafile, common: BuildOptions): Promise<void> {
  const exportsOf = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output.exports]));
  const entries = Object.values(outputs).map(({ entryPoint = '' }) => entryPoint);
  const commands = entries.filter((entry) => /^src\/(?:commands\/|cli\/(?:.*[-/])?command\.ts$)/.test(entry));
  const [onCluster, ofCommands] = [filesOf(CLUSTER, outputs), filesOf(commands, outputs)];
  // What a command needs before it asks a cluster must not bring the other file with it.
  const core = [...new Set([...filesOf(CORE, outputs), ...onCluster.filter((file) => ofCommands.includes(file))])];
  const apart = filesOf(APART, outputs);
  const oclif = filesOf(OCLIF, outputs).filter((file) => !core.includes(file) && !apart.includes(file));
  const cluster = onCluster.filter((file) => !core.includes(file) && !oclif.includes(file));
  const known = new Set(core);
  const faces = new Map(
    Object.entries(FACES).flatMap(([entry, file]) =>
      filesOf([entry], outputs)
        .slice(0, 1)
        .map((face) => [face, file]),
    ),
  );
  for (const [file, files] of Object.entries({ 'core.js': core, 'oclif.js': oclif, 'cluster.js': cluster })) {
    for (const one of files) known.add(one);
    await mergeInto(file, { folder, files, known, exportsOf, faces }, common);
  }
  const others = [...exportsOf.keys()].filter((file) => file.endsWith('.js') && !known.has(file));
  await goStraight(others, { folder, known, faces }, common);
  for (const face of faces.keys()) rmSync(join(folder, face));
}

/** Lets every other file import from the merged ones, not by way of the files that stand in their place: each would be one more to find and link. */
async function goStraight(
  files: readonly string[],
  { folder, known, faces }: Pick<Merging, 'folder' | 'known' | 'faces'>,
  common: BuildOptions,
): Promise<void> {
  const { build } = await import('esbuild');
  await build({
    ...common,
    absWorkingDir: folder,
    entryPoints: files.map((file) => `./${file}`),
    outdir: folder,
    allowOverwrite: true,
    legalComments: 'inline',
    // What a file loads only when it has to, it still does.
    plugins: [onlyThese({ files: known, faces, banner: String(common.banner?.js ?? ''), kinds: ['import-statement'] }), builtins],
  });
}

interface Merging {
  readonly folder: string;
  readonly files: readonly string[];
  /** These, and those that hand on exports of a file that was made before. */
  readonly known: ReadonlySet<string>;
  readonly exportsOf: ReadonlyMap<string, readonly string[]>;
  /** The file of each of FACES, and the merged one that stands for it. */
  readonly faces: ReadonlyMap<string, string>;
}

async function mergeInto(file: string, { folder, files, known, exportsOf, faces }: Merging, common: BuildOptions): Promise<void> {
  const { build } = await import('esbuild');
  const named = (index: number, one: string) => (exportsOf.get(one) ?? []).map((name) => [name, `m${index}_${name}`] as const);
  const asAlias = files.map((one, index) =>
    exporting(
      named(index, one).map(([name, alias]) => `${name} as ${alias}`),
      `./${one}`,
    ),
  );
  const ownNames = files.flatMap((one) => (faces.get(one) === file ? [exporting(exportsOf.get(one) ?? [], `./${one}`)] : []));
  await build({
    ...common,
    // The folder's own name is another in every build, and names of modules are part of the output.
    absWorkingDir: folder,
    stdin: { contents: [...asAlias, ...ownNames].join('\n'), resolveDir: folder, loader: 'js' },
    legalComments: 'none',
    outfile: join(folder, file),
    plugins: [onlyThese({ files: known, faces, banner: String(common.banner?.js ?? '') }), builtins],
  });
  for (const [index, one] of files.entries()) {
    const names = named(index, one).map(([name, alias]) => `${alias} as ${name}`);
    writeFileSync(join(folder, one), `${exporting(names, `./${file}`)}\n`);
  }
}

const exporting = (names: readonly string[], from: string): string =>
  names.length === 0 ? `import '${from}';` : `export { ${names.join(', ')} } from '${from}';`;

/** Names of the entries' files, and of those that they load at once. */
function filesOf(wanted: readonly string[], outputs: Metafile['outputs']): readonly string[] {
  const files = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const found = new Set<string>();
  const add = (file: string): void => {
    const output = files.get(file);
    if (!output || found.has(file)) return;
    found.add(file);
    for (const { path, kind, external } of output.imports) if (kind === 'import-statement' && !external) add(basename(path));
  };
  const entries = new Map([...files].map(([file, { entryPoint }]) => [entryPoint, file]));
  for (const entry of wanted) {
    const file = entries.get(entry);
    if (file === undefined) throw new Error(`${entry} is no entry of the bundle any more: no file loads it by import()`);
    add(file);
  }
  return [...found];
}

interface Pieces extends Pick<Merging, 'faces'> {
  readonly files: ReadonlySet<string>;
  readonly banner: string;
  readonly kinds?: readonly ImportKind[];
}

/** Every other file stays where it is; the banner, which each file has, is needed once. */
function onlyThese({ files, faces, banner, kinds }: Pieces): Plugin {
  return {
    name: 'only-these',
    setup(build) {
      build.onResolve({ filter: /^\.\// }, ({ path, kind }) => {
        const isIn = kind === 'entry-point' || (files.has(basename(path)) && (kinds?.includes(kind) ?? true));
        const face = faces.get(basename(path));
        return isIn ? undefined : { path: face ? `./${face}` : path, external: true };
      });
      build.onLoad({ filter: /\.js$/ }, ({ path }) => ({ contents: readFileSync(path, 'utf8').replace(banner, ''), loader: 'js' }));
    },
  };
}
