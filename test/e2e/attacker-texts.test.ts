import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { assertNoCommandOfOthers } from '../support/marked-by-others.ts';
import { type Plant, plants } from '../support/planted-secrets.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { assertSucceeded, program, surroundingsEnv, type UpgradeProcess } from '../support/upgrade-process.ts';

const FLAGS = ['--profile', 'netsvc', '--manifest-url', ownReleases, '--skip', 'cli'];
const AGENT = ['daemonset', '-n', 'kube-system', 'netsvc-node'];
const CONTROLLERS = ['deployment', '-n', 'kube-system', 'netsvc-kube-controllers'];

/** Texts on a real cluster: of somebody who wants them run, and of people who wrote credentials where none belongs. */
describe('texts that others wrote into objects of the service', function () {
  this.timeout(280_000);
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 2 }));

  it('become no command of an output: annotations of agent and controllers', () =>
    assertNoCommandOfOthers(cluster, [AGENT, CONTROLLERS], FLAGS.slice(0, 4)));

  it('start no kubectl and no helm of the current folder, whatever PATH says', async () => {
    const here = join(cluster.around.home, 'here');
    mkdirSync(here);
    for (const name of ['kubectl', 'helm', 'node']) writeFileSync(join(here, name), '#!/bin/sh\ntouch OWNED\n', { mode: 0o755 });
    const { PATH, ...env } = surroundingsEnv(cluster.around);
    const options = { cwd: here, env: { ...env, PATH: `:.:${PATH}` }, extendEnv: false, reject: false } as const;
    for (const command of ['preflight', 'plan']) assertSucceeded(await execa(program, [command, ...FLAGS.slice(0, 4)], options));
    assert.deepEqual(readdirSync(here).toSorted(), ['helm', 'kubectl', 'node']);
  });

  describe('that are credentials', () => {
    const all = plants();
    const of = (...places: readonly Plant['place'][]) => all.filter(({ place }) => places.includes(place));
    const entries = (some: readonly Plant[]) => Object.fromEntries(some.map(({ name, value }) => [name, value]));

    before(async () => {
      const env = of('env').map(({ name, value }) => ({ name, value }));
      const containers = [{ name: 'netsvc-node', env }];
      const template = { metadata: { annotations: entries(of('annotation')) }, spec: { containers } };
      await patch(AGENT, { spec: { template } });
      await patch(['configmap', '-n', 'kube-system', 'netsvc-config'], { data: entries(of('data', 'text')) });
      await kubectl('rollout', 'status', '--timeout=120s', ...AGENT);
    });

    const patch = (object: readonly string[], change: object) =>
      kubectl('patch', ...object, '--type=strategic', '-p', JSON.stringify(change));

    async function kubectl(...args: readonly string[]): Promise<void> {
      const { exitCode, stderr } = await cluster.plane.kubectl(args);
      assert.equal(exitCode, 0, stderr);
    }

    function assertUnseen(text: string, what: string): void {
      const seen = all.filter(({ secret }) => text.includes(secret)).map(({ place, name }) => `${place} ${name}`);
      assert.deepEqual(seen, [], what);
    }

    const said = ({ stdout, stderr }: UpgradeProcess) => `${stdout}\n${stderr}`;

    it('stand in nothing that a plan says, in none of its forms', async () => {
      for (const form of [
        ['-o', 'wide'],
        ['-o', 'json'],
        ['--diff', '-v=8'],
      ]) {
        const plan = await cluster.upgrade('plan', ...FLAGS, ...form);
        assertSucceeded(plan);
        if (form.includes('wide')) assert.match(plan.stdout, /DB_PASSWORD.*\(hidden\)/);
        assertUnseen(said(plan), form.join(' '));
      }
    });

    it('stand in nothing that a run says, logs, reports or keeps as a report', async () => {
      const file = join(cluster.around.home, 'run.html');
      const run = await cluster.upgrade('run', '--yes', '-v=8', '--report-file', file, ...FLAGS);
      assertSucceeded(run);
      assertUnseen(said(run), 'run');
      assertUnseen(readFileSync(file, 'utf8'), 'the page');
      for (const command of ['report -o json', 'status -o wide', 'verify -o wide'])
        assertUnseen(said(await cluster.upgrade(...command.split(' '), '--profile', 'netsvc')), command);
    });
  });
});
