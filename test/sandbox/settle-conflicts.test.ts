import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import { CARRIED_PART, readCarriedEdits } from '../../src/manifest/carried-file.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox, writeCniVersion } from '../support/sandbox-ports.ts';

const FIELD = 'ConfigMap/kube-system/netsvc-config:data.cni_network_config.cniVersion';

async function edited(version = '0.4.0'): Promise<Scenario> {
  const scenario = await installedSandbox();
  writeCniVersion(scenario, version);
  return scenario;
}

async function apply(scenario: Scenario, typed: readonly string[] | undefined, ...flags: readonly string[]) {
  const bench = sandboxCommand(scenario);
  if (typed) bench.answers = [true];
  bench.typed.push(...(typed ?? []));
  const exit = await bench.run('apply', '--until', 'controllers', ...flags);
  return { exit, bench, questions: bench.questions, err: bench.err() };
}

function versionIn({ cluster }: Scenario): string | undefined {
  const config = cluster.store.get(K.ConfigMap, 'netsvc-config', 'kube-system') as { data?: Record<string, string> } | undefined;
  return /"cniVersion": "([^"]+)"/.exec(config?.data?.cni_network_config ?? '')?.[1];
}

describe('fields that only a person can decide on, at a terminal', () => {
  for (const [side, version] of [
    ['mine', '0.4.0'],
    ['theirs', '1.0.0'],
  ] as const) {
    it(`stand as the answer says, which is recorded as --resolve is: ${side}`, async () => {
      const scenario = await edited();
      const { exit, questions, err } = await apply(scenario, [side]);
      assert.equal(exit, 0, err);
      assert.match(
        err,
        new RegExp(
          `conflict 1 of 1: ${FIELD.replaceAll('.', '\\.')}\\n  was:     0\\.3\\.1\\n  mine:    0\\.4\\.0\\n  theirs:  1\\.0\\.0\\n`,
        ),
      );
      assert.match(err, new RegExp(`decided, as with: --resolve .*cniVersion=${side}`));
      assert.match(questions.join('|'), /^Which value\? \[m\]ine \[t\]heirs \[s\]top \[\?\]\|Apply the target release on context/);
      assert.equal(versionIn(scenario), version);
      const id = scenario.state.record?.kept.find((one) => one.includes(CARRIED_PART)) ?? assert.fail('nothing kept');
      assert.deepEqual(readCarriedEdits(JSON.parse(scenario.state.kept.get(id) ?? ''))?.resolutions, { [FIELD]: side });
    });
  }

  for (const [title, typed] of [
    ['stop', ['stop']],
    ['the end of the input', []],
    ['three answers that are none', ['yes', 'what', '1']],
  ] as const) {
    it(`change nothing and end with exit 8 after ${title}`, async () => {
      const scenario = await edited();
      const { exit } = await apply(scenario, typed);
      assert.deepEqual([exit, versionIn(scenario), scenario.state.record], [8, '0.4.0', undefined]);
    });
  }

  it('may be answered by one letter, and ? says what each answer means', async () => {
    const scenario = await edited();
    const { exit, err } = await apply(scenario, ['?', 'm']);
    assert.equal(exit, 0, err);
    assert.match(err, /mine: keep the value in your cluster\n.*theirs: take the value of the new release\n.*stop: decide later/);
    assert.equal(versionIn(scenario), '0.4.0');
  });

  it('show values that hold the words of the finding whole', async () => {
    const scenario = await edited("0.4.0, yours: x, the target's: y; z");
    const { err } = await apply(scenario, ['stop']);
    assert.match(err, /\n {2}mine: {4}0\.4\.0, yours: x, the target's: y; z\n {2}theirs: {2}1\.0\.0\n/);
  });

  it('are not asked about off a terminal, or with --yes', async () => {
    const scenario = await edited();
    for (const ended of [await apply(scenario, undefined), await apply(scenario, ['mine'], '--yes')]) {
      assert.deepEqual([ended.exit, ended.questions], [8, []]);
    }
    assert.deepEqual([versionIn(scenario), scenario.state.record], ['0.4.0', undefined]);
  });
});
