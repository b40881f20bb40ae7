/**
 * Writes `src/adapters/digests/calico.json`: the SHA-256 of every manifest that the service publishes at the tag of a release, which is what
 * `PROFILE.manifestUrl/<release>/manifests/…` serves. Needs a clone of the service's repository with its tags:
 *
 *   node build/release-digests.ts FOLDER/calico/.git
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareReleases, parseRelease } from '../src/kernel/release.ts';
import { calico } from '../src/profiles/calico.ts';

const [repository] = process.argv.slice(2);
if (repository === undefined) throw new Error('name the git directory of the service’s repository');

const git = (...args: readonly string[]): Buffer => execFileSync('git', ['-C', repository, ...args], { maxBuffer: 1 << 30 });
const files = new Set([
  ...calico.variants.map(({ file }) => file),
  ...calico.addOns.map(({ file }) => file),
  calico.operator.file,
  calico.crdFile,
  'operator-crds.yaml',
]);
const sums = new Map<string, string | undefined>();
const tags = git('tag')
  .toString()
  .split('\n')
  .filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
const ordered = tags
  .flatMap((name) => ({ name, release: parseRelease(name) }))
  .flatMap(({ name, release }) => (release ? [{ name, release }] : []));
ordered.sort((a, b) => compareReleases(a.release, b.release));

/** By file the sum since a release; null: it is not published there. */
const since: Record<string, Record<string, string | null>> = {};
const releases: string[] = [];
for (const { name } of ordered) {
  const lines = git('ls-tree', '-r', name, 'manifests/').toString().split('\n');
  const found = new Map<string, string>();
  for (const line of lines) {
    const [, blob = '', path = ''] = /^\d+ blob (\w+)\tmanifests\/(.+)$/.exec(line) ?? [];
    const sum = files.has(path) || /^alp\/.*\.yaml$/.test(path) ? sumOf(blob) : undefined;
    if (sum !== undefined) found.set(path, sum);
  }
  if (found.size === 0) continue;
  releases.push(name);
  for (const path of new Set([...Object.keys(since), ...found.keys()])) {
    const changes = since[path] ?? {};
    const sum = found.get(path) ?? null;
    if ((Object.values(changes).at(-1) ?? null) !== sum) changes[name] = sum;
    since[path] = changes;
  }
}
const folder = join(import.meta.dirname, '..', 'src', 'adapters', 'digests');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'calico.json'), `${JSON.stringify({ releases, since })}\n`);

/** Undefined for the templates of the old website, which were published as what was rendered from them. */
function sumOf(blob: string): string | undefined {
  if (sums.has(blob)) return sums.get(blob);
  const content = git('cat-file', 'blob', blob);
  const isTemplate = /^---\s*\nlayout:/.test(content.subarray(0, 200).toString());
  const sum = isTemplate ? undefined : createHash('sha256').update(content).digest('hex');
  sums.set(blob, sum);
  return sum;
}
