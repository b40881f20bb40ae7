/**
 * Writes `src/adapters/digests/calico.json`: the SHA-256 of every manifest that the service publishes at the tag of a release, which is what
 * `PROFILE.manifestUrl/<release>/manifests/…` serves. Needs a clone of the service's repository with the tags that are new:
 *
 *   node build/release-digests.ts FOLDER/calico/.git
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestIn, type Published } from '../src/adapters/artifacts/known-digests.ts';
import { compareVersions } from '../src/kernel/release.ts';
import { calico } from '../src/profiles/calico.ts';

type Sums = ReadonlyMap<string, string>;

/** The stored sums with those of every release that has a tag in the repository. */
export function packDigests(repository: string, stored: Published): Published {
  const sums = new Map(stored.releases.map((release) => [release, sumsOf(stored, release)]));
  for (const tag of tagsOf(repository)) {
    const found = publishedAt(repository, tag);
    if (found.size > 0) sums.set(tag, found);
  }
  const releases = [...sums.keys()].sort((a, b) => compareVersions(a, b));
  /** By file the sum since a release; null: it is not published there. */
  const since: Record<string, Record<string, string | null>> = {};
  for (const release of releases) {
    const found = sums.get(release) ?? new Map<string, string>();
    for (const path of new Set([...Object.keys(since), ...found.keys()])) {
      const changes = since[path] ?? {};
      const sum = found.get(path) ?? null;
      if ((Object.values(changes).at(-1) ?? null) !== sum) changes[release] = sum;
      since[path] = changes;
    }
  }
  return { releases, since };
}

function sumsOf(stored: Published, release: string): Sums {
  const sums = Object.keys(stored.since).map((path) => [path, digestIn(stored, release, path)] as const);
  return new Map(sums.flatMap(([path, sum]) => (sum === undefined ? [] : [[path, sum] as const])));
}

const git = (repository: string, ...args: readonly string[]): Buffer =>
  execFileSync('git', ['-C', repository, ...args], { maxBuffer: 1 << 30 });

function tagsOf(repository: string): readonly string[] {
  const tags = git(repository, 'tag').toString().split('\n');
  return tags.filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
}

const FILES = new Set([
  ...calico.variants.map(({ file }) => file),
  ...calico.addOns.map(({ file }) => file),
  calico.operator.file,
  calico.crdFile,
  'operator-crds.yaml',
]);

function publishedAt(repository: string, tag: string): Sums {
  const found = new Map<string, string>();
  for (const line of git(repository, 'ls-tree', '-r', tag, 'manifests/').toString().split('\n')) {
    const [, blob = '', path = ''] = /^\d+ blob (\w+)\tmanifests\/(.+)$/.exec(line) ?? [];
    const sum = FILES.has(path) || /^alp\/.*\.yaml$/.test(path) ? sumOf(repository, blob) : undefined;
    if (sum !== undefined) found.set(path, sum);
  }
  return found;
}

const known = new Map<string, string | undefined>();

/** Undefined for the templates of the old website, which were published as what was rendered from them. */
function sumOf(repository: string, blob: string): string | undefined {
  if (known.has(blob)) return known.get(blob);
  const content = git(repository, 'cat-file', 'blob', blob);
  const isTemplate = /^---\s*\nlayout:/.test(content.subarray(0, 200).toString());
  const sum = isTemplate ? undefined : createHash('sha256').update(content).digest('hex');
  known.set(blob, sum);
  return sum;
}

if (import.meta.main) {
  const [repository] = process.argv.slice(2);
  if (repository === undefined) throw new Error('name the git directory of the service’s repository');
  const file = join(import.meta.dirname, '..', 'src', 'adapters', 'digests', 'calico.json');
  writeFileSync(file, `${JSON.stringify(packDigests(repository, JSON.parse(readFileSync(file, 'utf8'))))}\n`);
}
