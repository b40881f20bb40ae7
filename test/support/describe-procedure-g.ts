import assert from 'node:assert/strict';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../control-plane/until.ts';
import { collectorStartsAnew } from './collector-settles.ts';
import { shared } from './installed-cluster.ts';
import { bareGraph, JOURNAL, ownedCluster, TARGET } from './owned-cluster.ts';
import { releases } from './releases.ts';
import { assertSucceeded, upgrade } from './upgrade-process.ts';

const QUOTA = '/api/v1/namespaces/kube-system/resourcequotas';
const MAPS = '/api/v1/namespaces/kube-system/secrets';

/** Which release was installed is said: images alone leave it open between releases whose manifests differ in little. */
const RUN = ['run', '--yes', '--skip', 'cli', '--base', releases] as const;

/** Describes an upgrade by one `run` of the built program, kube-controller-manager restarted in the middle of it and at its end. */
export function describeProcedureG(count: number): void {
  describe(`run takes ${count} dependents of every sort through the upgrade, under a real garbage collector`, function () {
    this.timeout(280_000);
    const owned = shared(() => ownedCluster(count));

    it('loses none of them to new UIDs, to new names of policies, or to restarts of kube-controller-manager', async () => {
      const { plane } = owned.cluster;
      let isOver = false;
      const ended = owned.cluster.upgrade(...RUN, ...TARGET).finally(() => {
        isOver = true;
      });
      await until('the new API server serves', async () => isOver || owned.convertsUids(), 200_000);
      assert.ok(!isOver, 'the new API server serves while the program is at work');
      await plane.restartControllerManager();
      assertSucceeded(await ended);
      assert.equal(owned.migrated.length, 2);
      await collectorStartsAnew(plane);
      assert.deepEqual(Object.keys(await owned.graph()), Object.keys(owned.first));
    });

    it('takes none off before its record is acknowledged', () => {
      assert.deepEqual(owned.tooEarly(), []);
    });

    it('has every reference back at its place, with its flags and the new UID', async () => {
      assert.deepEqual(await owned.graph(), await owned.wanted());
    });

    it('keeps the journal as files of when it removed and when it forgot, and leaves none in the cluster', async () => {
      const { around, plane } = owned.cluster;
      const files = await readdir(around.home, { recursive: true });
      assert.equal(files.filter((name) => /owner-references-[^/]*\.json$/.test(name)).length, 2, `${files}`);
      await assert.rejects(plane.api.get(JOURNAL), /404/);
    });

    it('writes nothing the second time', async () => {
      const before = await owned.cluster.versions();
      assertSucceeded(await owned.cluster.upgrade(...RUN, ...TARGET));
      assert.deepEqual([await owned.cluster.versions(), await owned.graph()], [before, await owned.wanted()]);
    });
  });
}

/** Describes what goes wrong on the way: no room for the journal, a machine that is lost, a journal that somebody edited. */
export function describeLostMachine(count: number): void {
  describe(`${count} dependents whose upgrade two machines share, under a real garbage collector`, function () {
    this.timeout(280_000);
    const owned = shared(() => ownedCluster(count));
    const here = (...args: readonly string[]) => owned.cluster.upgrade(...args, ...TARGET);
    const elsewhere = async (...args: readonly string[]) => {
      const home = join(owned.cluster.around.home, 'another-machine');
      await mkdir(home, { recursive: true });
      return upgrade([...args, ...TARGET], { ...owned.cluster.around, home });
    };

    it('keep every reference where a quota leaves no room for the journal', async () => {
      const { api } = owned.cluster.plane;
      const { items } = await api.get<{ items: readonly unknown[] }>(MAPS);
      // Room for the record of the run, none for what comes after.
      const hard = { 'count/secrets': `${items.length + 1}` };
      const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'full' }, spec: { hard } };
      await api.send('POST', QUOTA, quota);
      await until('the quota counts', async () => {
        const { status } = await api.get<{ status?: { used?: Record<string, string> } }>(`${QUOTA}/full`);
        return status?.used?.['count/secrets'] !== undefined;
      });
      const { exitCode, stderr } = await here('ownerrefs', 'strip', '--yes');
      assert.equal(exitCode, 1, stderr);
      assert.match(stderr, /exceeded quota/);
      assert.deepEqual(await owned.graph(), owned.first);
      await api.send('DELETE', `${QUOTA}/full`);
    });

    it('lose the references that the upgrade breaks, and no other', async () => {
      assertSucceeded(await here('ownerrefs', 'strip', '--yes'));
      assert.deepEqual(await owned.graph(), bareGraph(owned.first));
    });

    it('live through the upgrade, the migration of policy names and two restarts of kube-controller-manager', async () => {
      const { plane } = owned.cluster;
      assertSucceeded(await here(...RUN, '--through', 'wait'));
      await until('policies have their new names', async () => owned.migrated.length >= 2);
      for (let restart = 0; restart < 2; restart += 1) await collectorStartsAnew(plane);
      assert.deepEqual(Object.keys(await owned.graph()), Object.keys(owned.first));
    });

    it('get nothing back from a journal that somebody edited', async () => {
      const { api } = owned.cluster.plane;
      const { data } = await api.get<{ data: Record<string, string> }>(JOURNAL);
      const head = Buffer.from(data['journal.json'] ?? '', 'base64').toString('utf8');
      const edited = Buffer.from(head.replace('"entries": ', '"entries": 1')).toString('base64');
      await api.send('PATCH', JOURNAL, { data: { 'journal.json': edited } });
      const { exitCode, stderr } = await elsewhere('ownerrefs', 'restore', '--yes');
      assert.equal(exitCode, 1, stderr);
      assert.match(stderr, /checksum does not match/);
      assert.deepEqual(await owned.graph(), bareGraph(owned.first));
      await api.send('PATCH', JOURNAL, { data });
    });

    it('have every reference back from a machine that saw nothing of it, and the collector agrees', async () => {
      const { plane } = owned.cluster;
      assertSucceeded(await elsewhere('ownerrefs', 'restore', '--yes'));
      assert.deepEqual(await owned.graph(), await owned.wanted());
      await collectorStartsAnew(plane);
      assert.deepEqual(await owned.graph(), await owned.wanted());
    });

    it('lost none before its record was acknowledged', () => {
      assert.deepEqual(owned.tooEarly(), []);
    });

    it('are forgotten by the journal only then; nothing dangles', async () => {
      assertSucceeded(await elsewhere('ownerrefs', 'forget', '--yes'));
      await assert.rejects(owned.cluster.plane.api.get(JOURNAL), /404/);
      assertSucceeded(await elsewhere('verify'));
    });
  });
}
