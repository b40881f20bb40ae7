import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { readRuntimeLock, runtimeFile } from '../../build/pack-runtimes.ts';
import { singleExecutable } from '../../build/pack-windows.ts';
import { resolvePrograms } from '../control-plane/binaries.ts';
import { goPlatform } from '../control-plane/build-plan.ts';
import { type KrewHome, makeKrewHome } from '../krew/krew-home.ts';
import { type PackedRelease, packRelease } from '../krew/packed-release.ts';
import { type KrewPrograms, resolveKrew } from '../krew/programs.ts';
import { itWhere } from '../support/needs.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const lock = readRuntimeLock();

describe('the archives of all platforms', function () {
  this.timeout(600_000);

  let release: PackedRelease;
  let krew: KrewPrograms;
  let kubectl: string;

  before(async function () {
    this.timeout(0); // the very first run fetches every runtime
    [kubectl, krew] = [(await resolvePrograms()).kubectl, await resolveKrew()];
    release = await packRelease();
  });
  after(() => release?.stop());

  it('pass the check that krew’s own index runs, downloads and installs included', async () => {
    const home = await makeKrewHome(kubectl, krew);
    try {
      const { exitCode, stderr } = await home.run(krew.validator, ['-manifest', release.manifest], {
        HOME: home.kubectlOnly,
        PATH: [krew.folder, home.kubectlOnly, '/usr/bin', '/bin'].join(delimiter),
      });
      assert.equal(exitCode, 0, stderr);
      const tried = [...stderr.matchAll(/installed +spec\.platforms\[(\d)\]/g)].map(([, index]) => index);
      assert.deepEqual([...new Set(tried)].length, lock.runtimes.length, stderr);
    } finally {
      home.remove();
    }
  });

  it('agree with SHA256SUMS, as sha256sum reads it', () => {
    const said = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release.folder, encoding: 'utf8' });
    assert.equal(said.match(/: OK$/gm)?.length, lock.runtimes.length);
  });

  const here = lock.builders.find(({ os, arch }) => `${os}/${arch}` === goPlatform(process.platform, process.arch));
  const problem = here ? undefined : 'programs for Windows cannot be packed on this machine';
  itWhere(problem, 'hold for Windows a starter that finds the code through a link, as its sister for this machine shows', async () => {
    assert.ok(here);
    const home = await makeKrewHome(kubectl, krew);
    try {
      const store = join(home.root, 'a store');
      mkdirSync(store, { recursive: true });
      execFileSync('tar', ['-xzf', join(release.folder, archiveOf(release, 'windows', 'amd64')), '-C', store]);
      const program = join(store, 'bin', 'kubectl-netsvc_upgrade.exe');
      writeFileSync(program, singleExecutable(here, lock), { mode: 0o755 });
      const link = join(home.kubectlOnly, 'netsvcctl-upgrade');
      symlinkSync(program, link);
      const answers = await home.run(link, ['preflight', '--help'], { PATH: home.kubectlOnly });
      assert.deepEqual([answers.exitCode, answers.stderr], [0, '']);
      assert.match(answers.stdout, /netsvcctl upgrade preflight/);
      const page = await home.run(link, ['explain', 'NS-101'], { PATH: home.kubectlOnly, HOME: home.kubectlOnly });
      assert.deepEqual([page.exitCode, page.stderr], [0, '']);
      assert.match(page.stdout, /NS-101/);
    } finally {
      home.remove();
    }
  });

  for (const runtime of lock.runtimes) {
    const { os, arch, version } = runtime;
    it(`${os}/${arch} installs from a file and holds a license, Node.js ${version} and no link`, async () => {
      const home: KrewHome = await makeKrewHome(kubectl, krew);
      try {
        const archive = archiveOf(release, os, arch);
        const args = ['install', `--manifest=${release.manifest}`, `--archive=${join(release.folder, archive)}`];
        assertSucceeded(await home.krew(args, { KREW_OS: os, KREW_ARCH: arch }));
        const entry = os === 'windows' ? 'kubectl-netsvc_upgrade.exe' : 'kubectl-netsvc_upgrade';
        assert.deepEqual(readdirSync(join(home.root, 'bin')), [entry]);
        const [installed = ''] = readdirSync(join(home.root, 'store', 'netsvc-upgrade'));
        const store = join(home.root, 'store', 'netsvc-upgrade', installed);
        const files = readdirSync(store, { recursive: true }) as string[];
        assert.deepEqual(
          files.filter((file) => lstatSync(join(store, file)).isSymbolicLink()),
          [],
        );
        assert.ok(['LICENSE', 'LICENSE-node.txt', 'THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json'].every((file) => files.includes(file)));
        assert.ok(
          ['permissions.md', 'profiles.md', join('checks', 'NS-009.md')].every((file) => files.includes(join('docs', 'reference', file))),
        );
        assert.ok((lstatSync(join(store, 'bin', entry)).mode & 0o111) !== 0);
        if (os !== 'windows') assert.ok(readFileSync(join(store, 'bin', 'node')).equals(runtimeFile(runtime, runtime.file)));
        else
          assert.equal(
            readFileSync(join(store, 'bin', entry))
              .subarray(0, 2)
              .toString(),
            'MZ',
          );
      } finally {
        home.remove();
      }
    });
  }
});

function archiveOf({ folder }: PackedRelease, os: string, arch: string): string {
  const archive = readdirSync(folder).find((file) => file.endsWith(`_${os}_${arch}.tar.gz`));
  assert.ok(archive);
  return archive;
}
