import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { explainedIncidents } from '../../build/explained-incidents.ts';
import { checkedIncidents } from '../../build/known-incidents.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { Change } from '../../src/sandbox/store.ts';
import { type Ground, type GroundName, groundOf, undone } from '../support/incident-grounds.ts';
import { playedHelm } from '../support/played-helm.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import type { After, Changing, IncidentRun, IncidentWorld } from './incident.ts';
import { stoppedRuns } from './incident-runs.ts';
import { upgradedRuns } from './incident-upgrades.ts';
import { incidentWorlds as otherWorlds } from './incident-worlds.ts';
import { incidents } from './incidents-table.ts';
import { releaseWorlds } from './release-worlds.ts';
import { stateWorlds } from './state-worlds.ts';

const incidentWorlds = { ...otherWorlds, ...releaseWorlds, ...stateWorlds };
const RUN = 'run --yes --skip cli';
const PREFLIGHT = 'preflight -o wide';
const grounds = new Map<GroundName, Promise<Ground>>();

async function said({ scenario, profile }: Ground, { release, flags }: Pick<IncidentWorld, 'release' | 'flags'>, command: string) {
  const bench = sandboxCommand(scenario, profile, (own) => playedHelm(scenario, own));
  const line = [command, ...(profile === calico ? ['--release', release] : []), flags].join(' ').trim();
  const exit = await bench.run(...line.split(' '));
  return { exit, text: bench.out() + bench.err() };
}

const MARKS = { error: '×', warning: '‼', ok: '√' } as const;

/** What is said of one check. */
function finding(text: string, { check, severity }: IncidentWorld): string {
  return new RegExp(`^${MARKS[severity]} ${check} .*\n(?: {4}.*\n)*`, 'm').exec(text)?.[0] ?? '';
}

describe('an upgrade on a cluster like those that broke', () => {
  for (const [title, world] of Object.entries(incidentWorlds))
    it(`${world.severity === 'error' ? 'stops before it writes' : 'is told'}: ${title}`, async () => {
      if (!grounds.has(world.ground)) grounds.set(world.ground, groundOf(world.ground));
      const ground = (await grounds.get(world.ground)) ?? assert.fail();
      const { cluster } = ground.scenario;
      const isStopped = world.severity === 'error';
      const isAsBefore = await undone(ground.scenario, async () => {
        for (const change of world.changes) await change(cluster, ground.scenario);
        cluster.faults.writes = 0;
        const { exit, text } = await said(ground, world, isStopped && !world.command ? RUN : PREFLIGHT);
        assert.match(finding(text, world), world.says, text);
        assert.equal(exit, isStopped ? 3 : 0, text);
        assert.equal(cluster.faults.writes, 0);
      });
      if (!isAsBefore) grounds.delete(world.ground);
    });

  /** So that a row proves its own change, and nothing that was there before. */
  it('says none of it where nothing was changed', async () => {
    for (const [ground, found] of grounds) {
      const worlds = Object.values(incidentWorlds).filter((one) => one.ground === ground && one.changes.length > 0);
      for (const release of new Set(worlds.map((one) => one.release))) {
        const { exit, text } = await said(await found, { release, flags: '' }, PREFLIGHT);
        assert.equal(exit, 0, text);
        for (const world of worlds.filter((one) => one.release === release && one.severity !== 'ok'))
          assert.doesNotMatch(finding(text, world), world.says, text);
      }
    }
  });
});

/** What the command did to a new ground, with the change that makes it one of those clusters or without. */
async function ran({ ground: name, changes: makings, command = RUN, ...run }: IncidentRun): Promise<After & { readonly exit: number }> {
  const ground = await groundOf(name);
  const { scenario } = ground;
  const changes: Change[] = [];
  scenario.cluster.store.listen((one) => void changes.push(one));
  for (const change of makings) await change(scenario.cluster, scenario);
  return { ...(await said(ground, run, command)), scenario, changes };
}

/** Runs with one ground and the same flags are one run, with all their changes. */
const together = Map.groupBy(Object.entries(upgradedRuns), ([, { ground, command, flags, release }]) =>
  JSON.stringify([ground, command, flags, release]),
);

for (const [, runs] of together)
  describe(`a run on a cluster like those that broke: ${runs[0]?.[1].ground}`, () => {
    let after: After & { readonly exit: number };
    before(async () => {
      const [first = assert.fail()] = runs.map(([, run]) => run);
      const assertNotSo: Changing = (_, scenario) => {
        // So that a row proves what the run did, and nothing that was so before.
        for (const [title, { holds }] of runs)
          assert.throws(
            () => holds({ scenario, text: '', changes: [] }),
            () => true,
            title,
          );
      };
      after = await ran({ ...first, changes: [...runs.flatMap(([, { changes }]) => changes), assertNotSo] });
    });

    for (const [title, { holds, exit }] of runs)
      it(`is done, and ${title}`, () => {
        assert.equal(after.exit, exit, after.text);
        holds(after);
      });
  });

describe('a run on a cluster like those that broke', () => {
  for (const [title, run] of Object.entries(stoppedRuns))
    it(`stops and says what it means: ${title}`, async () => {
      const after = await ran(run);
      assert.equal(after.exit, run.exit, after.text);
      run.holds(after);
    });

  it('says none of it where nothing fails', async () => {
    const [plain = assert.fail()] = Object.values(stoppedRuns);
    const after = await ran({ ...plain, changes: [] });
    assert.equal(after.exit, 0, after.text);
    for (const { holds } of Object.values(stoppedRuns)) assert.throws(() => holds(after));
  });
});

/** Server-side apply, definitions, certificates, webhooks and pod security. */
const DECIDED_BY_SERVER = [1, 4, 5, 6, 7, 9, 16, 20, 72, 73, 74, 101, 107, 108];

describe('the account of incidents', () => {
  const worldsOf = ({ row }: { readonly row: number }) => Object.values(incidentWorlds).filter(({ rows }) => rows.includes(row));
  const runs = [...Object.values(upgradedRuns), ...Object.values(stoppedRuns)];

  it('has a test of each on the embedded cluster', () => {
    for (const one of incidents) {
      const named = one.tests.filter((test) => test.startsWith('sandbox/'));
      const worlds = [...worldsOf(one), ...runs.filter(({ rows }) => rows.includes(one.row))];
      assert.ok(named.length + worlds.length > 0, `row ${one.row}: ${one.threads}`);
    }
  });

  it('has a test on a real control plane of those that its API server decides', () => {
    const byRow = (row: number) => incidents[row - 1]?.tests.filter((test) => test.startsWith('e2e/')) ?? [];
    assert.deepEqual(
      DECIDED_BY_SERVER.filter((row) => byRow(row).length === 0),
      [],
    );
  });

  it('names tests that are there', () => {
    const lost = [...new Set(incidents.flatMap(({ tests }) => tests))].filter((test) => {
      const [, file = '', words = ''] = /^([\w/-]+): (.*)$/.exec(test) ?? [];
      const path = join(import.meta.dirname, '..', `${file}.test.ts`);
      return !existsSync(path) || !readFileSync(path, 'utf8').includes(words);
    });
    assert.deepEqual(lost, []);
  });

  it('knows every thread of the page of known incidents', () => {
    const known = incidents.flatMap(({ threads }) => threads);
    const told = rowsOfPage().flatMap(({ threads }) => threads);
    assert.deepEqual(
      told.filter((thread) => !known.includes(thread)),
      [],
    );
  });

  /** By what somebody sees: no check beforehand can tell it. */
  it('has on that page what only a node shows', () => {
    const told = rowsOfPage().flatMap(({ threads }) => threads);
    const missing = [48, 56, 62, 63, 64, 98].filter((row) => !incidents[row - 1]?.threads.some((thread) => told.includes(thread)));
    assert.deepEqual(missing, []);
  });

  it('has a world for every check of that page, or a run', () => {
    const without = rowsOfPage().filter(({ check, id, threads }) => {
      const all = incidents.filter((one) => threads.some((thread) => one.threads.includes(thread)));
      const isRun = runs.some(({ rows }) => all.some(({ row }) => rows.includes(row)));
      const worlds = all.flatMap(worldsOf).filter((one) => one.check === check);
      return check !== undefined && !worlds.some((one) => !id || says(one, id)) && !(isRun && !id);
    });
    assert.deepEqual(without, []);
  });
});

/** What the page has, by what finds it beforehand. */
function rowsOfPage(): readonly { readonly check?: string; readonly id?: string; readonly threads: readonly string[] }[] {
  return [...checkedIncidents(), ...explainedIncidents].map(({ sources, ...row }) => {
    const threads = sources.flatMap((one) => (one.includes('#') ? [one.replace(/^[^/]+\//, '')] : []));
    return { ...row, threads: threads.length > 0 ? threads : ['You-Broke-Reddit'] };
  });
}

function says({ says: { source } }: IncidentWorld, id: string): boolean {
  return source
    .replaceAll('\\', '')
    .split(/\[sS\]\*/)
    .includes(id);
}
