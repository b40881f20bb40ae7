import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { netsvcScenario } from '../../src/sandbox/scenario.ts';
import { testFolder } from '../support/folders.ts';
import type { Loopback } from '../support/loopback-server.ts';
import { serveSandbox } from '../support/served-sandbox.ts';
import { putKubectl } from '../support/stand-in-kubectl.ts';
import { openKubeconfig, type TracedRun, traced } from '../support/traced-process.ts';

const root = join(import.meta.dirname, '..', '..');
const sources = `${pathToFileURL(join(root, 'src')).href}/`;
const releases = join(root, 'src', 'sandbox', 'releases');

/** What a command must not load without need: each costs milliseconds at its start, the first half a second. */
const HEAVY = ['@kubernetes/client-node', 'listr2', 'cli-table3', 'yaml', 'js-yaml', 'https-proxy-agent', 'execa'];

interface Expected {
  readonly args: readonly string[];
  readonly exit: number;
  /** Of HEAVY, what its own files load, in that order. */
  readonly packages: readonly string[];
  /** Shipped files with a name, but for those of every command that oclif reads and that asks a cluster. */
  readonly files: readonly string[];
  /** Shipped files without one, at most: the bundler makes them of what several commands share, and cuts anew with each new share. */
  readonly mostChunks: number;
}

/** Of every command of the table; `run` does without oclif. */
const COMMON = ['cluster.js', 'core.js', 'main.js'];

const COMMANDS: readonly Expected[] = [
  {
    args: ['preflight'],
    exit: 0,
    packages: ['cli-table3', 'yaml', 'js-yaml', 'execa'],
    files: [
      'oclif.js',
      'head-line.js',
      'detect.js',
      'known-digests.js',
      'execa.js',
      'stage-command.js',
      'stages.js',
      'plan-chain.js',
      'progress.js',
      'run-chain.js',
      'run-lines.js',
      'effects.js',
    ],
    mostChunks: 43,
  },
  {
    args: ['plan'],
    exit: 0,
    packages: ['yaml', 'js-yaml', 'execa'],
    files: [
      'oclif.js',
      'known-digests.js',
      'execa.js',
      'detect.js',
      'plan-chain.js',
      'command.js',
      'progress.js',
      'recorded.js',
      'effects.js',
    ],
    mostChunks: 42,
  },
  {
    args: ['run', '--dry-run=client'],
    exit: 0,
    packages: ['yaml', 'js-yaml', 'execa'],
    files: ['known-digests.js', 'execa.js', 'detect.js', 'plan-chain.js', 'progress.js', 'recorded.js', 'stage-command.js', 'effects.js'],
    mostChunks: 41,
  },
  {
    args: ['hep', '--dry-run=client'],
    exit: 3,
    packages: ['yaml', 'js-yaml'],
    files: [
      'oclif.js',
      'known-digests.js',
      'stage-command.js',
      'stages.js',
      'detect.js',
      'plan-chain.js',
      'progress.js',
      'recorded.js',
      'effects.js',
    ],
    mostChunks: 40,
  },
  {
    args: ['alp', '--dry-run=client'],
    exit: 0,
    packages: ['yaml', 'js-yaml'],
    files: ['oclif.js', 'stage-command.js', 'stages.js', 'detect.js', 'plan-chain.js', 'progress.js', 'effects.js'],
    mostChunks: 39,
  },
  {
    args: ['ownerrefs', 'list'],
    exit: 0,
    packages: [],
    files: ['oclif.js', 'detect.js', 'owner-list-command.js', 'references.js'],
    mostChunks: 27,
  },
  {
    args: ['verify'],
    exit: 3,
    packages: ['cli-table3', 'yaml', 'js-yaml'],
    files: [
      'oclif.js',
      'head-line.js',
      'detect.js',
      'known-digests.js',
      'plan-chain.js',
      'progress.js',
      'run-chain.js',
      'run-lines.js',
      'effects.js',
      'stage-command.js',
      'stages.js',
    ],
    mostChunks: 42,
  },
];

/** What the commands of the chain load, on an installation that they can read whole: by name, so that what makes them slow cannot come back unseen. */
describe('a command of the chain on a cluster', function () {
  this.timeout(60_000);
  const folder = testFolder('netsvc-chain-modules-');
  let server: Loopback;

  before(async () => {
    const { cluster } = await netsvcScenario({ nodes: 2, releasesFolder: releases, clock: virtualClock() });
    server = await serveSandbox(cluster);
    writeFileSync(join(folder, 'config'), openKubeconfig(server.url));
    putKubectl(folder);
  });
  after(async () => {
    await server.close();
  });

  const run = (entry: string, args: readonly string[]) => {
    const source = args[0] === 'ownerrefs' ? [] : ['--manifest-url', releases];
    const env = { PATH: folder, HOME: folder, XDG_STATE_HOME: folder, KUBECONFIG: join(folder, 'config') };
    return traced(entry, [...args, ...source], env);
  };

  const heavy = ({ imports }: TracedRun) =>
    HEAVY.filter((name) => imports.some(({ importer, specifier }) => importer.startsWith(sources) && specifier === name));

  const shipped = ({ imports }: TracedRun) => {
    const files = new Set(imports.flatMap(({ url }) => (url.startsWith('file:') ? [url.replace(/^.*\//, '')] : [])));
    const isChunk = (file: string) => /^chunk-\w+\.js$/.test(file);
    const named = [...files].filter((file) => !isChunk(file)).map((file) => file.replace(/-\w{8}(?=\.js$)/, ''));
    return { named: named.sort(), chunks: [...files].filter(isChunk).length };
  };

  for (const { args, exit, packages, files, mostChunks } of COMMANDS) {
    it(`${args.join(' ')} loads of the heavy packages ${packages.join(' and ') || 'none'}`, async () => {
      const ran = await run('src/cli/main.ts', args);
      assert.deepEqual([ran.exit, heavy(ran)], [exit, packages], ran.stdout + ran.stderr);
    });

    it(`${args.join(' ')} as it is shipped is at most ${COMMON.length + files.length + mostChunks} files`, async () => {
      const ran = await run('dist/cli/main.js', args);
      assert.equal(ran.exit, exit, ran.stdout + ran.stderr);
      const { named, chunks } = shipped(ran);
      assert.deepEqual(named, [...COMMON, ...files].sort());
      assert.ok(chunks <= mostChunks, `${chunks} without a name`);
    });
  }
});
