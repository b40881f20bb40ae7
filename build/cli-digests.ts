/**
 * Writes `src/adapters/digests/calico-cli.json`: the SHA-256 of the service's CLI by release and platform, as kubespray notes them. Whoever
 * replaces the download does not replace them, as they come from another project. Needs kubespray with its history, for it drops old
 * releases:
 *
 * node build/cli-digests.ts FOLDER/kubespray/.git
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareReleases, parseRelease } from '../src/kernel/release.ts';

/** Where the list has stood. */
const LISTS = [
  'roles/download/defaults/main.yml',
  'roles/download/defaults/main/checksums.yml',
  'roles/kubespray-defaults/defaults/main/checksums.yml',
  'roles/kubespray_defaults/defaults/main/checksums.yml',
  'roles/kubespray_defaults/vars/main/checksums.yml',
];
const OLDEST = parseRelease('v3.15.0');

const [repository] = process.argv.slice(2);
if (repository === undefined) throw new Error('name the git directory of kubespray');

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-C', repository, ...args], { maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] }).toString();

/** By platform and release every sum that was ever noted: one that was noted twice differently is not known. */
const noted = new Map<string, Map<string, Set<string>>>();
for (const path of LISTS) {
  const blobs = new Set(
    git('log', '--format=%h', 'HEAD', '--', path)
      .split('\n')
      .flatMap((commit) => /blob (\w+)/.exec(commit === '' ? '' : git('ls-tree', commit, '--', path))?.[1] ?? []),
  );
  for (const blob of blobs) note(git('cat-file', 'blob', blob));
}

function note(list: string): void {
  const [, section = ''] = /^calicoctl_binary_checksums:\n((?:[ #].*\n|\n)+)/m.exec(list) ?? [];
  let platform = '';
  for (const line of section.split('\n')) {
    platform = /^ {2}(\w+):\s*$/.exec(line)?.[1] ?? platform;
    const [, release, sum] = /^ {4}v?(\d+\.\d+\.\d+): (?:sha256:)?"?([0-9a-f]{64})"?$/.exec(line) ?? [];
    if (release === undefined || sum === undefined) continue;
    const releases = noted.get(platform) ?? new Map<string, Set<string>>();
    noted.set(platform, releases.set(`v${release}`, (releases.get(`v${release}`) ?? new Set()).add(sum)));
  }
}

function ordered(releases: ReadonlyMap<string, ReadonlySet<string>>): Record<string, string> {
  const known = [...releases].flatMap(([name, sums]) => {
    const release = parseRelease(name);
    const [sum] = sums;
    const isKnown = release && OLDEST && sum !== undefined && sums.size === 1 && compareReleases(release, OLDEST) >= 0;
    return isKnown ? [{ name, release, sum }] : [];
  });
  known.sort((a, b) => compareReleases(a.release, b.release));
  return Object.fromEntries(known.map(({ name, sum }) => [name, sum]));
}

const platforms = [...noted].toSorted().map(([platform, releases]) => [`linux-${platform}`, ordered(releases)]);
const file = join(import.meta.dirname, '..', 'src', 'adapters', 'digests', 'calico-cli.json');
writeFileSync(file, `${JSON.stringify(Object.fromEntries(platforms), undefined, 2)}\n`);
