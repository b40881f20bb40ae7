import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { plainCommands } from '../../build/plain-commands.ts';
import { twinOf } from '../../src/cli/command-line.ts';
import { STAGE_IDS } from '../../src/cli/command-names.ts';
import type { FastPathTable } from '../../src/cli/plain-flags.ts';
import { type PlainFlags, readPlainFlags } from '../../src/cli/plain-flags.ts';
import { PLAIN_COMMANDS, runPlain } from '../../src/cli/plain-shell.ts';
import type { Asked } from '../../src/cli/session.ts';
import type { Manifest } from '../../src/cli/shell.ts';
import { applies, type CommandBench, commandBench, fakeStage } from '../support/command-bench.ts';

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'oclif.manifest.json'), 'utf8')) as Manifest;

describe('commands without oclif', () => {
  let table: Pick<FastPathTable, 'version' | 'names' | 'plain'>;
  before(async () => {
    table = { version: manifest.version, names: Object.keys(manifest.commands), plain: await plainCommands(manifest) };
  });

  type Env = Readonly<Record<string, string>>;

  /** All stages, so that every part of the chain that flags leave is one. */
  const chain = STAGE_IDS.map((id) => fakeStage(id, id === 'apply' ? { plan: applies('upgrade.yaml') } : { readOnly: true }));

  /** What is composed for is all that was asked. */
  const asked = ({ requests }: CommandBench) =>
    (requests as readonly Partial<Asked>[]).map(({ command, typed, carried, flags, looksOnly }) => ({
      command,
      typed,
      carried,
      flags,
      looksOnly,
    }));
  const seen = (exit: number, bench: CommandBench) => ({ exit, out: bench.out(), err: bench.err(), asked: asked(bench) });

  /** What it says, asks and composes; undefined if it is left to oclif. */
  async function plainly(argv: readonly string[], env: Env) {
    const bench = commandBench(chain, env);
    const exit = await runPlain(argv, table, bench.seams);
    return exit === undefined ? undefined : seen(exit, bench);
  }

  async function byOclif(argv: readonly string[], env: Env) {
    const bench = commandBench(chain, env);
    return seen(await bench.run(...argv), bench);
  }

  const plain: readonly (readonly [string, Env])[] = [
    ['status', {}],
    ['unlock', {}],
    ['status -o json', {}],
    ['status -o json', { NETSVC_UPGRADE_OUTPUT: 'yaml', NETSVC_UPGRADE_AS_GROUP: 'a,b' }],
    ['unlock --yes -n default --server=https://a:b@c', {}],
    ['unlock --yes=false --quiet', { NETSVC_UPGRADE_YES: '1' }],
    ['status --context prod --as-group a --as-group=b --token abc', { NETSVC_UPGRADE_KUBECONFIG: 'k' }],
    ['status --state-namespace=other --report-file=/none/x.json', {}],
    ['run', {}],
    ['run --yes --from=crds --through apply --skip wait --accept NS-001', { NETSVC_UPGRADE_SKIP: 'alp,cli' }],
    ['run -y --dry-run=client --timeout=10x', { NETSVC_UPGRADE_RELEASE: 'v3.31.0' }],
    ['run --from apply --through crds', {}],
    ['run --plan-file /none/plan.json', {}],
  ];
  for (const [line, env] of plain)
    it(`"${line}" is read as oclif reads it`, async () => {
      const argv = line.split(' ');
      const found = await plainly(argv, env);
      assert.ok(found, 'it is left to oclif');
      assert.deepEqual(found, await byOclif(argv, env));
    });

  for (const line of [
    'apply',
    'status more',
    'status --bogus',
    'status --context',
    'status --context=',
    'status --context --quiet',
    'status --context a --context b',
    'status -o toml',
    'status -o=json',
    'status -ojson',
    'status -v',
    'status -v=6',
    'status --',
    'unlock --yes=maybe',
    'unlock -qy -- x',
    'run --max-failed=1',
    'run --from nowhere',
  ])
    it(`"${line}" is left to oclif`, async () => assert.equal(await plainly(line.split(' '), {}), undefined));

  it('whatever is read plainly is what oclif reads, for any words and any environment', async function () {
    this.timeout(60_000);
    const ids = Object.keys(PLAIN_COMMANDS);
    const flagsOf = (id: string) => Object.entries(table.plain[id] ?? {});
    const value = fc.constantFrom(
      'json',
      'wide',
      'toml',
      'a',
      'as-written',
      '6',
      '-1',
      '007',
      '',
      'a,b',
      'a=b',
      'a b',
      '--quiet',
      '-',
      'true',
      'false',
    );
    const line = fc.constantFrom(...ids).chain((id) => {
      const spelt = flagsOf(id).flatMap(([name, { char }]) => (char ? [`--${name}`, `-${char}`] : [`--${name}`]));
      const word = fc.oneof(
        fc.constantFrom(...spelt),
        fc.tuple(fc.constantFrom(...spelt), value).map(([flag, one]) => `${flag}=${one}`),
        fc.tuple(fc.constantFrom(...spelt), value).map(([flag, one]) => `${flag}${one}`),
        value,
        fc.constantFrom('--', '-qy', '--no-yes', '--output-', '--constructor', '--__proto__=a', '-h'),
      );
      const env = fc.dictionary(fc.constantFrom(...flagsOf(id).map(([name]) => twinOf(name))), value, { maxKeys: 2 });
      return fc.tuple(fc.array(word, { maxLength: 5 }), env).map(([words, around]) => ({ argv: [id, ...words], env: around }));
    });
    let read = 0;
    await fc.assert(
      fc.asyncProperty(line, async ({ argv, env }) => {
        const found = await plainly(argv, env);
        if (!found) return;
        read += 1;
        assert.deepEqual(found, await byOclif(argv, env));
      }),
      { numRuns: 800 },
    );
    assert.ok(read > 20, `only ${read} lines were read plainly`);
  });

  it('know only flags that can be read plainly: a definition that says more stops the build', async () => {
    const { status } = manifest.commands;
    assert.ok(status);
    const quiet = { ...status.flags.quiet, exclusive: ['v'] } as unknown as (typeof status.flags)[string];
    const changed = { ...manifest, commands: { ...manifest.commands, status: { ...status, flags: { ...status.flags, quiet } } } };
    await assert.rejects(plainCommands(changed), /--quiet of status says "exclusive"/);
  });

  it('leave to oclif what is not taken as it is written', () => {
    const flags: PlainFlags = { v: { type: 'option', char: 'v', converted: true }, output: { type: 'option', default: 'table' } };
    assert.deepEqual(readPlainFlags([], flags), { output: 'table' });
    assert.equal(readPlainFlags(['--v=6'], flags), undefined);
    assert.deepEqual(table.plain.status?.v, { type: 'option', char: 'v', converted: true });
  });
});
