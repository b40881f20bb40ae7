import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTPUT_FORMATS } from '../../src/cli/common-flags.ts';
import { processTerminal } from '../../src/cli/terminal.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { JsonPatchOp } from '../../src/kernel/object.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { emptyFolder } from '../support/folders.ts';
import { harmless, plants } from '../support/planted-secrets.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

/* Secrets that people wrote where none belongs: into variables, annotations and texts of what is upgraded. No output shows one. */

const AGENT = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'netsvc-node', namespace: 'kube-system' };
const CONFIG = { apiVersion: 'v1', kind: 'ConfigMap', name: 'netsvc-config', namespace: 'kube-system' };

type Named = readonly (readonly [name: string, value: string])[];

async function installedWith(variables: Named, annotations: Named = [], texts: Named = []): Promise<Scenario> {
  const scenario = await installedSandbox({ cli: false });
  const add = (path: string, value: unknown): JsonPatchOp => ({ op: 'add', path, value });
  const pointer = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
  const edit = (kind: typeof K.DaemonSet, ref: typeof AGENT, ops: readonly JsonPatchOp[]) =>
    scenario.cluster.registry.jsonPatch(kind, ref, ops, { manager: 'kubectl-edit' });
  edit(K.DaemonSet, AGENT, [
    ...variables.map(([name, value]) => add('/spec/template/spec/containers/0/env/-', { name, value })),
    add('/spec/template/metadata/annotations', Object.fromEntries(annotations)),
  ]);
  edit(
    K.ConfigMap,
    CONFIG,
    texts.map(([name, value]) => add(`/data/${pointer(name)}`, value)),
  );
  await scenario.clock.sleep(60_000);
  return scenario;
}

const linesWith = (text: string, secrets: readonly string[]): string =>
  text
    .split('\n')
    .filter((line) => secrets.some((one) => line.includes(one)))
    .map((line) => line.slice(0, 400))
    .join('\n');

/** A command as a process writes it: through the one terminal. */
async function told(scenario: Scenario, ...argv: readonly string[]) {
  const bench = sandboxCommand(scenario);
  const written: string[] = [];
  const stream = { write: (text: string) => written.push(text), on: () => stream, isTTY: false, columns: 200 };
  const streams = { stdin: stream, stdout: stream, stderr: stream } as never;
  Object.assign(bench.seams, { terminal: processTerminal({}, streams) });
  const exit = await bench.run(...argv);
  return { exit, text: written.join('') };
}

describe('planted secrets in a whole upgrade', function () {
  this.timeout(240_000);
  const folder = emptyFolder('planted-');
  const all = plants();
  const of = (...places: readonly string[]): Named =>
    all.filter(({ place }) => places.includes(place)).map(({ name, value }) => [name, value]);
  const installed = () => installedWith(of('env'), of('annotation'), of('data', 'text'));

  const assertUnseen = (text: string) => {
    const seen = all.filter(({ secret }) => text.includes(secret)).map(({ place, name }) => `${place} ${name}`);
    assert.deepEqual(
      seen,
      [],
      seen.length > 0
        ? linesWith(
            text,
            all.filter(({ secret }) => text.includes(secret)).map(({ secret }) => secret),
          )
        : '',
    );
  };

  it('stand in no plan, in no format and at no level of detail', async () => {
    const scenario = await installed();
    for (const flags of [...OUTPUT_FORMATS.map((format) => ['-o', format]), ['-o', 'images'], ['--diff'], ['-v=8']]) {
      const plan = await told(scenario, 'plan', ...flags);
      assert.equal(plan.exit, 0, plan.text.slice(-4000));
      if (flags.includes('wide')) assert.match(plan.text, /DB_PASSWORD.*\(hidden\)/);
      assertUnseen(plan.text);
    }
    const file = join(folder, 'plan.json');
    assertUnseen((await told(scenario, 'plan', '--out', file)).text);
    assertUnseen(readFileSync(file, 'utf8'));
  });

  it('stand in nothing that a run says, reports or keeps as a report', async () => {
    const scenario = await installed();
    for (const name of ['run.html', 'run.md', 'run.json', 'run.txt']) {
      const metrics = join(folder, 'run.prom');
      const run = await told(scenario, 'run', '--yes', '-v=8', '--report-file', join(folder, name), '--metrics-file', metrics);
      assert.equal(run.exit, 0, run.text.slice(-4000));
      assertUnseen(run.text);
      for (const file of [join(folder, name), metrics]) assertUnseen(readFileSync(file, 'utf8'));
    }
    for (const argv of [
      ['report', '-o', 'markdown'],
      ['report', '-o', 'json'],
      ['status', '-o', 'wide'],
      ['verify', '-o', 'wide'],
    ])
      assertUnseen((await told(scenario, ...argv)).text);
  });

  it('are told from harmless values, which a plan shows', async () => {
    const plan = await told(await installedWith(harmless()), 'plan', '-o', 'json');
    assert.equal(plan.exit, 0, plan.text.slice(-4000));
    for (const [name, value] of harmless()) assert.ok(plan.text.includes(value), `${name} ${value}`);
    assert.ok(!plan.text.includes('(hidden)'));
  });
});
