import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { examplesOf } from '../../build/cli-pages.ts';
import type { Manifest } from '../../src/cli/complete.ts';
import type { Seams } from '../../src/cli/seams.ts';
import { chain, chains } from '../../src/features/chain.ts';
import { OWN_NAME } from '../../src/kernel/own-name.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { commandBench } from '../support/command-bench.ts';
import { emptyFolder } from '../support/folders.ts';
import { ownReleases } from '../support/releases.ts';
import { runOclif } from '../support/run-oclif.ts';
import { compositionOf } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as Manifest;

/** A person at a terminal who says yes to everything, with the cluster in memory. */
async function perform(line: string, scenario: Scenario, home: string) {
  const bench = commandBench(chain, { HOME: home, PATH: home });
  bench.answers = Array.from({ length: 9 }, () => true);
  const seams: Seams = {
    ...bench.seams,
    compose: async (request) => compositionOf(scenario, request),
    loadChain: async (intent = 'upgrade') => chains[intent],
  };
  const exit = await runOclif(wordsOf(line, home), seams);
  return { exit, out: bench.out(), err: bench.err() };
}

/** The words after the program's name; an example that needs more of a shell than `~` and `&&` is no good example. */
function wordsOf(line: string, home: string): readonly string[] {
  assert.doesNotMatch(line, /["'|;$`*]/);
  assert.ok(line.startsWith(`${OWN_NAME} `), line);
  const words = line.slice(OWN_NAME.length + 1).split(' ');
  // Its pauses are for people.
  return [...words.map((word) => word.replace(/^~/, home)), ...(words[0] === 'demo' ? ['--fast'] : [])];
}

/** As the controllers of a real cluster write it. */
function putConfiguration({ cluster }: Scenario): void {
  const { kind, name } = netsvc.controllersConfiguration;
  const found = cluster.kinds().find((one) => one.kind === kind);
  assert.ok(found);
  const spec = { controllers: { node: { syncLabels: 'Enabled' } } };
  cluster.store.insert(found, { apiVersion: `${netsvc.crdGroup}/v1`, kind, metadata: { name }, spec });
}

/** What has to be there before an example makes sense. */
const BEFORE: Readonly<Record<string, string>> = {
  'run --plan-file plan.json --yes': 'plan --out plan.json',
  'wait --timeout=30m': 'run --yes',
  commit: 'run --yes --canary 1',
  'commit --yes --timeout=30m': 'run --yes --canary 1',
  'wait --probe-network --probe-image registry.example.com/busybox:1.37 --probe-namespace netsvc-probe': 'run --yes',
  'verify --report-file=verify.html': 'run --yes',
  'hep --dry-run=client -o wide': 'run --yes',
  'hep --accept NS-712=node-01': 'run --yes',
  'hep --undo': 'run --yes',
  'run --include hep': 'run --yes',
  report: 'run --yes',
  'report --report-file=run.html': 'run --yes',
};

/** Part of a cluster is more than one node. */
const NODES_FOR = /--canary| commit/;

/** Examples that show trouble end as a run in trouble does. */
// What the profile of this cluster was tested with is not known.
const EXITS: Readonly<Record<string, number>> = {
  'demo --scenario image-pull': 5,
  'demo --scenario canary-fails': 5,
  'run --yes --canary 1': 5,
  path: 64,
};

describe('the examples of every help page', () => {
  const here = process.cwd();
  const home = emptyFolder('netsvc-examples-');

  beforeEach(() => {
    mkdirSync(join(home, '.krew', 'bin'), { recursive: true });
    process.chdir(home);
  });
  afterEach(() => {
    process.chdir(here);
  });

  for (const command of Object.values(manifest.commands)) {
    for (const example of examplesOf(command)) {
      it(example, async () => {
        const scenario = await installedSandbox({ nodes: NODES_FOR.test(example) ? 2 : 1 });
        scenario.files.write('upgrade.yaml', readFileSync(join(ownReleases, NETSVC_TARGET, 'manifests', 'netsvc.yaml'), 'utf8'));
        putConfiguration(scenario);
        const before = BEFORE[example.slice(OWN_NAME.length + 1)];
        const lines = [...(before ? [`${OWN_NAME} ${before}`] : []), ...example.split(' && ')];
        for (const line of lines) {
          const { exit, out, err } = await perform(line, scenario, home);
          assert.equal(exit, EXITS[line.slice(OWN_NAME.length + 1)] ?? 0, `${line}\n${out}\n${err}`);
        }
        for (const [, file = ''] of example.matchAll(/--(?:out|report-file)[= ](\S+)/g)) assert.ok(existsSync(join(home, file)), file);
      });
    }
  }
});
