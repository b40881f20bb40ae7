import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { OUTPUT_FORMATS } from '../../src/cli/common-flags.ts';
import { K } from '../../src/kernel/kinds.ts';
import { refOf } from '../../src/kernel/object.ts';
import { LAST_APPLIED } from '../../src/kube/managed-fields.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { emptyFolder } from '../support/folders.ts';
import {
  ACCESS,
  ENDPOINT,
  FILE,
  kvstoreScenario,
  storeObjects,
  withCarriedSettings,
  withOwnVariables,
} from '../support/kvstore-sandbox.ts';
import { folderReleases, manifestFile, releases } from '../support/releases.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { CALICO_TARGET } from '../support/target.ts';

/* `kubectl diff` prints the values of a Secret from kubectl's own note on it: no output of ours ever does. */

const PATH = '/files/upgrade.yaml';
const NEW_KEY = '-----BEGIN PRIVATE KEY-----\nkey-since-renewed\n-----END PRIVATE KEY-----\n';
const VALUES = [ACCESS.ca, ACCESS.certificate, ACCESS.key, NEW_KEY];
/** In every spelling that an output could have, cut as a table cuts it; of a value of several lines a single one is enough. */
const UNSEEN = [...VALUES.map((value) => value.split('\n')[1] ?? ''), ...VALUES.map((value) => btoa(value).slice(0, 24))];

/** The note on the Secret has the first key, the Secret itself the one that took its place. */
async function installed(): Promise<Scenario> {
  const scenario = await kvstoreScenario('v3.27.5');
  const { secret } = storeObjects(scenario);
  assert.ok(secret);
  const patch = [{ op: 'replace', path: '/data/etcd-key', value: btoa(NEW_KEY) }] as const;
  scenario.cluster.registry.jsonPatch(K.Secret, refOf(secret), patch, { manager: 'kubectl-patch' });
  const now = storeObjects(scenario).secret;
  assert.ok(now?.metadata.annotations?.[LAST_APPLIED]?.includes(btoa(ACCESS.key)));
  scenario.cluster.faults.writes = 0;
  const emptied = withOwnVariables(withCarriedSettings(readFileSync(manifestFile(CALICO_TARGET, FILE), 'utf8'), ENDPOINT));
  scenario.files.write(PATH, emptied);
  return scenario;
}

/** The release that is installed cannot be fetched: its objects are shown beside the target's. */
async function withoutBase(folder: string): Promise<Scenario> {
  const only = join(folder, 'releases');
  mkdirSync(only);
  symlinkSync(join(releases, CALICO_TARGET), join(only, CALICO_TARGET));
  return { ...(await installed()), releases: folderReleases(only) };
}

function assertUnseen(text: string, where: string): void {
  assert.deepEqual(
    UNSEEN.filter((value) => text.includes(value)),
    [],
    where,
  );
}

/** What the program leaves behind on this machine and in the cluster. */
function leftBehind({ files, workFolder, state }: Scenario): string {
  const texts = files.below(workFolder).map((path) => `${path}\n${files.text(path)}`);
  return [...texts, JSON.stringify(state.record), ...state.kept.values()].join('\n');
}

describe('the values of a Secret that kubectl noted on it', () => {
  const folder = emptyFolder('unshown-');

  const told = async (scenario: Scenario, ...argv: readonly string[]) => {
    const bench = sandboxCommand(scenario, calico);
    const exit = await bench.run(...argv);
    const files = readdirSync(folder)
      .filter((name) => name !== 'releases')
      .map((name) => `${name}\n${readFileSync(join(folder, name), 'utf8')}`);
    return { exit, out: bench.out(), text: [bench.out(), bench.err(), ...files, leftBehind(scenario)].join('\n') };
  };

  /** The ways in which a Secret comes up in a plan, with the plan's exit code and what shows that it did. */
  const ways = [
    ['carried by us', installed, [], 0, /calico-etcd-secrets/],
    ['in a file that empties it', installed, ['--upgrade-file', PATH], 3, /calico-etcd-secrets/],
    ['beside the target, without a base', () => withoutBase(folder), [], 3, /calico-etcd-secrets/],
  ] as const;

  for (const [title, scenario, flags, exit, sign] of ways) {
    for (const format of OUTPUT_FORMATS)
      it(`stand in no plan -o ${format}: ${title}`, async () => {
        const plan = await told(await scenario(), 'plan', '-o', format, '-v=8', ...flags);
        assert.equal(plan.exit, exit, plan.text);
        if (format === 'wide' || format === 'json') assert.match(plan.out, sign);
        assertUnseen(plan.text, plan.text);
      });

    for (const suffix of ['json', 'yaml', 'md', 'html', 'txt'])
      it(`stand in no report as .${suffix}: ${title}`, async () => {
        const file = join(folder, `report.${suffix}`);
        const plan = await told(await scenario(), 'plan', '--report-file', file, ...flags);
        assert.ok(existsSync(file), plan.text);
        assertUnseen(plan.text, file);
      });
  }

  it('stand in no plan file', async () => {
    const file = join(folder, 'plan.json');
    const plan = await told(await installed(), 'plan', '--out', file);
    assert.ok(existsSync(file), plan.text);
    assertUnseen(plan.text, file);
  });

  it('stand in nothing that a run says, writes or keeps', async () => {
    const scenario = await installed();
    const run = await told(scenario, 'apply', '--yes', '-v=8', '--report-file', join(folder, 'run.html'));
    assert.equal(run.exit, 0, run.text);
    assertUnseen((await told(scenario, 'backup', '--yes')).text, 'backup');
    assert.match(leftBehind(scenario), /calico-config/);
    assertUnseen(run.text, 'run');
    for (const [command, format] of [
      ['report', 'markdown'],
      ['report', 'json'],
      ['status', 'wide'],
      ['verify', 'wide'],
    ] as const) {
      const later = await told(scenario, command, '-o', format);
      assert.ok(later.out.length > 0, later.text);
      assertUnseen(later.text, command);
    }
  });
});
