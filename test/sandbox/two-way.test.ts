import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { emptyFolder } from '../support/folders.ts';
import { folderReleases, ownReleases } from '../support/releases.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

describe('an installation of a release whose manifest nobody has', () => {
  const folder = emptyFolder('netsvc-two-way-');
  beforeEach(() => {
    cpSync(join(ownReleases, netsvc.defaultRelease), join(folder, netsvc.defaultRelease), { recursive: true });
  });

  /** Only the target can be fetched. */
  async function without(): Promise<Scenario> {
    const scenario = await installedSandbox();
    return { ...scenario, releases: folderReleases(folder) };
  }

  it('is shown against the target, field by field with its owner, and stops with exit 8', async () => {
    const bench = sandboxCommand(await without());
    assert.equal(await bench.run('plan'), 8);
    const [, table = ''] = bench.out().split('no base tells your changes from the release');
    assert.match(table, /FIELD +LIVE +TARGET +OWNER/);
    assert.match(table, /ConfigMap\/kube-system\/netsvc-config data\S* .* kubectl-client-side-apply/);
    assert.match(table, /NS-205/);
  });

  it('has the same in the document', async () => {
    const bench = sandboxCommand(await without());
    await bench.run('plan', '-o', 'json');
    const { stages } = JSON.parse(bench.out()) as { stages: readonly { twoWay?: readonly Record<string, unknown>[] }[] };
    const fields = stages.flatMap(({ twoWay }) => twoWay ?? []);
    assert.ok(fields.length > 0);
    for (const field of fields)
      assert.deepEqual(
        Object.keys(field).filter((key) => key !== 'target'),
        ['ref', 'path', 'live', 'owners'],
      );
  });

  it('has no such table where a base is there', async () => {
    const bench = sandboxCommand(await installedSandbox());
    assert.equal(await bench.run('plan'), 0);
    assert.doesNotMatch(bench.out(), /no base tells/);
  });

  it('is upgraded once a person has typed its release under that table', async () => {
    const bench = sandboxCommand(await without());
    bench.answers = [true];
    bench.typed.push('v3.26.4');
    assert.equal(await bench.run('apply', '--until', 'controllers'), 0, bench.err());
    assert.match(bench.err(), /no base tells your changes[\s\S]*FIELD +LIVE +TARGET +OWNER[\s\S]*NS-205: /);
    assert.match(bench.questions[0] ?? '', /type v3\.26\.4/);
  });

  for (const [title, typed, flags, exit] of [
    ['another word', ['yes'], [], 8],
    ['--yes alone', [], ['--yes'], 8],
    ['--yes and the acceptance by name', [], ['--yes', '--accept', 'NS-205=v3.26.4'], 0],
  ] as const) {
    it(`ends with exit ${exit} after ${title}`, async () => {
      const scenario = await without();
      const bench = sandboxCommand(scenario);
      bench.answers = [true];
      bench.typed.push(...typed);
      assert.equal(await bench.run('apply', '--until', 'controllers', ...flags), exit, bench.err());
      assert.equal(scenario.state.record === undefined, exit !== 0);
    });
  }
});
