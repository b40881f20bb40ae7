import assert from 'node:assert/strict';
import { chmod, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createAuthority } from '../control-plane/certificates.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';
import { surroundingsEnv, upgrade } from '../support/upgrade-process.ts';

const oldKubectl = (real: string) => `#!/bin/sh
case $1 in config) exec '${real}' "$@" ;; esac
echo '{"clientVersion":{"major":"1","minor":"15","gitVersion":"v1.15.12"}}'
`;

/** Eight levels of ten aliases each: a hundred million nodes in a few hundred bytes. */
const BOMB = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
  .concat(Array.from({ length: 8 }, (_, level) => `a${level + 1}: &a${level + 1} [${Array(10).fill(`*a${level}`).join(', ')}]`))
  .join('\n');

const CHAIN = ['run', '--skip', 'cli'];

/** The repository's releases, and one that is older than what is installed. */
async function olderRelease(folder: string): Promise<void> {
  await cp(ownReleases, folder, { recursive: true });
  await mkdir(join(folder, 'v3.26.3', 'manifests'), { recursive: true });
  const text = await readFile(manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), 'utf8');
  await writeFile(join(folder, 'v3.26.3', 'manifests', 'netsvc.yaml'), text.replaceAll('v3.26.4', 'v3.26.3'));
}

interface Row {
  /** The whole chain unless said. */
  readonly command?: readonly string[];
  readonly args?: (folder: string) => readonly string[];
  /** Of the release files; the repository's own unless said. */
  readonly source?: (folder: string) => string;
  readonly kubeconfig?: (folder: string) => string;
  readonly env?: (folder: string) => Readonly<Record<string, string>>;
  readonly exit: number;
  /** What is wrong, where, and what to do next. */
  readonly says: readonly RegExp[];
}

/** The built CLI, asked to upgrade a real cluster with something that cannot work (ux: exit codes; one error, its place, the next step). */
describe('bad input, on a real control plane', () => {
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 1 }));
  let folder = '';
  /** Of every row: none changes anything. */
  let versions: string;

  before(async () => {
    versions = await cluster.versions();
    folder = join(cluster.around.home, 'input');
    await mkdir(join(folder, 'nothing'), { recursive: true });
    await mkdir(join(folder, 'tools'));
    await mkdir(join(folder, 'old'));
    await olderRelease(join(folder, 'older'));
    await writeFile(join(folder, 'empty.yaml'), '');
    await writeFile(join(folder, 'binary.yaml'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3, 0xff, 0xfe]));
    await writeFile(join(folder, 'bomb.yaml'), BOMB);
    await writeFile(
      join(folder, 'cut.yaml'),
      (await readFile(manifestFile(NETSVC_TARGET, 'netsvc.yaml', ownReleases), 'utf8')).slice(0, -700),
    );
    const expired = createAuthority('old').issue({ commonName: 'ann', isExpired: true });
    await writeFile(join(folder, 'expired.crt'), expired.certificate);
    await writeFile(join(folder, 'expired.key'), expired.key);
    for (const tool of ['sh', 'env', 'dirname', 'readlink', 'uname', 'sed', 'cat'])
      await symlink(`/bin/${tool}`, join(folder, 'tools', tool));
    await writeFile(join(folder, 'old', 'kubectl'), oldKubectl(cluster.around.kubectl));
    await chmod(join(folder, 'old', 'kubectl'), 0o755);
  });

  const file = (name: string) => (at: string) => ['--upgrade-file', join(at, name)];
  const rows: Readonly<Record<string, Row>> = {
    'an empty upgrade file': {
      args: file('empty.yaml'),
      exit: 64,
      says: [/empty\.yaml is not a whole netsvc manifest: it has no DaemonSet/, pattern`start from netsvc\.yaml of ${NETSVC_TARGET}`],
    },
    'a binary upgrade file': {
      args: file('binary.yaml'),
      exit: 64,
      says: [/binary\.yaml:1: the file is not text/, /Name a file of Kubernetes manifests/],
    },
    'an upgrade file that explodes': {
      args: file('bomb.yaml'),
      exit: 64,
      says: [/bomb\.yaml:1: not valid YAML: Excessive alias count/, /nothing of the file was used/],
    },
    'an upgrade file that was cut off': {
      args: file('cut.yaml'),
      exit: 64,
      says: [/cut\.yaml:\d+: not valid YAML/, /Correct line \d+ of/],
    },
    'no upgrade file': { args: file('none.yaml'), exit: 64, says: [/none\.yaml: there is no such file/, /check the name/] },
    'the upgrade file of another release': {
      args: () => ['--upgrade-file', manifestFile('v3.26.4', 'netsvc.yaml', ownReleases)],
      exit: 64,
      says: [pattern`is of v3\.26\.4 .*, not of ${NETSVC_TARGET}`, pattern`start from netsvc\.yaml of ${NETSVC_TARGET}`],
    },
    'the upgrade file of another variant': {
      args: () => ['--upgrade-file', manifestFile(NETSVC_TARGET, 'netsvc-overlay.yaml', ownReleases)],
      exit: 64,
      says: [/netsvc-overlay\.yaml is of another variant than netsvc/, pattern`start from netsvc\.yaml of ${NETSVC_TARGET}`],
    },
    'a folder without releases': {
      source: (at) => join(at, 'nothing'),
      exit: 1,
      says: [pattern`nothing/${NETSVC_TARGET}/manifests/netsvc\.yaml does not exist`, /--manifest-url/],
    },
    'a release that the folder does not have': {
      args: () => ['--release', 'v3.99.1'],
      exit: 1,
      says: [/v3\.99\.1\/manifests\/netsvc\.yaml does not exist/, pattern`releases there: v3\.26\.4, ${NETSVC_TARGET}`, /--release/],
    },
    'no release at all': {
      args: () => ['--release', 'latest'],
      exit: 64,
      says: [/--release=latest is not a release tag/, pattern`write it as ${NETSVC_TARGET}`],
    },
    'a flag that does not exist': {
      args: () => ['--upgrade-fil', 'x'],
      exit: 64,
      says: [/unknown flag --upgrade-fil/, /did you mean --upgrade-file\?/],
    },
    'a check that does not exist': { args: () => ['--accept', 'NS-999'], exit: 64, says: [/there is no check NS-999/, /explain/] },
    'a stage that does not exist': { args: () => ['--skip', 'aply'], exit: 64, says: [/--skip=aply/, /did you mean --skip=apply\?/] },
    'a cluster that does not answer': {
      args: () => ['--server', 'https://127.0.0.1:1'],
      exit: 1,
      says: [/https:\/\/127\.0\.0\.1:1 cannot be reached/, /check that the cluster is up/],
    },
    'a context that does not exist': {
      args: () => ['--context', 'nowhere'],
      exit: 64,
      says: [/context "nowhere" does not exist in/, /choose a known one with --context: test/],
    },
    'no kubeconfig': {
      kubeconfig: (at) => join(at, 'none'),
      exit: 64,
      says: [/no current context in .*none/, /choose one with --context/],
    },
    'a client certificate that has expired': {
      args: (at) => ['--client-certificate', join(at, 'expired.crt'), '--client-key', join(at, 'expired.key')],
      exit: 1,
      says: [/client certificate .*expired on 20\d\d-/, /renew it .*, or choose another user/],
    },
    'no kubectl on PATH': {
      env: (at) => ({ PATH: join(at, 'tools') }),
      exit: 64,
      says: [/kubectl cannot be started: kubectl \(ENOENT\)/, /^install kubectl and put it on PATH$/m],
    },
    'a kubectl that is too old': {
      env: (at) => ({ PATH: [join(at, 'old'), '/usr/bin', '/bin'].join(delimiter) }),
      exit: 3,
      says: [/× NS-004 kubectl v1\.15\.12 is older/, /Download kubectl/],
    },
    'a kubectl that is too old, for apply alone': {
      command: ['apply'],
      env: (at) => ({ PATH: [join(at, 'old'), '/usr/bin', '/bin'].join(delimiter) }),
      exit: 3,
      says: [/× NS-004 kubectl v1\.15\.12 is older/, /Download kubectl/],
    },
    'a downgrade, for apply alone': {
      command: ['apply'],
      args: () => ['--release', 'v3.26.3'],
      source: (at) => join(at, 'older'),
      exit: 3,
      says: [/× NS-106 installed release v3\.26\.4 is newer than the target v3\.26\.3/, /Choose a newer target/],
    },
  };
  for (const [title, { command = CHAIN, args = () => [], source = () => ownReleases, kubeconfig, env, exit, says }] of Object.entries(
    rows,
  )) {
    it(`${title}: exit ${exit}, what is wrong and what to do, and nothing is changed`, async () => {
      const around = {
        ...cluster.around,
        ...(kubeconfig ? { kubeconfig: kubeconfig(folder) } : {}),
        env: env?.(folder) ?? { PATH: surroundingsEnv(cluster.around).PATH ?? '' },
      };
      const result = await upgrade([...command, '--yes', '--manifest-url', source(folder), ...args(folder)], around);
      const said = `${result.stdout}\n${result.stderr}`;
      assert.equal(result.exitCode, exit, said);
      for (const words of says) assert.match(said, words);
      assert.equal(result.stderr.match(/^error: /gm)?.length, 1, said);
      assert.deepEqual(await cluster.versions(), versions);
    });
  }
});
