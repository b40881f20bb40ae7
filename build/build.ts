import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inputStamp, isFresh, writeStamp } from './stamp.ts';

/** Data that the program reads at run time, from the source tree to dist. */
const DATA = [['src/adapters/bases', 'adapters/bases']] as const;

const root = join(import.meta.dirname, '..');

/** Builds dist and oclif.manifest.json; `--if-stale` only if an input has changed since. Types are checked by `npm run typecheck`. */
async function main(): Promise<void> {
  if (process.argv.includes('--if-stale') && isFresh(root)) return;
  const stamp = inputStamp(root);
  const partial = join(root, `dist.partial-${process.pid}`);
  try {
    mkdirSync(partial, { recursive: true });
    await fill(partial);
    writeStamp(partial, stamp);
    rmSync(join(root, 'dist'), { recursive: true, force: true });
    renameSync(partial, join(root, 'dist'));
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

async function fill(out: string): Promise<void> {
  const [{ bundle }, { bundledPackages, notices }, { makeManifest }] = await Promise.all([
    import('./bundle.ts'),
    import('./bundled-packages.ts'),
    import('./manifest.ts'),
  ]);
  const packages = bundledPackages(root, await bundle(root, out));
  writeFileSync(join(out, 'packages.json'), `${JSON.stringify(packages, undefined, 2)}\n`);
  writeFileSync(join(out, 'THIRD-PARTY-NOTICES.txt'), notices(root, packages));
  for (const [from, to] of DATA) if (existsSync(join(root, from))) cpSync(join(root, from), join(out, to), { recursive: true });
  writeFileSync(join(root, 'oclif.manifest.json'), `${JSON.stringify(await makeManifest(root), undefined, 2)}\n`);
}

await main();
