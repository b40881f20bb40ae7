import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { forTerminal } from '../../src/kernel/visible.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { ACCESS, kvstoreScenario } from '../support/kvstore-sandbox.ts';
import { ownerSandbox, renaming } from '../support/owner-sandbox.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';

const AGENT = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'netsvc-node', namespace: 'kube-system' };

const installed = () => installedSandbox({ cli: false });

async function diffOf(scenario: Scenario, profile?: Profile, ...flags: readonly string[]) {
  const bench = sandboxCommand(scenario, profile);
  const exit = await bench.run('plan', '--diff', ...flags);
  return { exit, out: bench.out(), err: bench.err() };
}

/** The diff of one object, by its header. */
function partOf(out: string, head: string): string {
  const [, part] = out.split(`${head}\n`);
  assert.ok(part !== undefined, `${head} in\n${out}`);
  return part.split(/^diff /m)[0] ?? '';
}

describe('plan --diff', function () {
  this.timeout(60_000);

  it('shows each object, live against planned, and changes nothing', async () => {
    const scenario = await installed();
    const writes = scenario.cluster.faults.writes;
    const { exit, out, err } = await diffOf(scenario);
    assert.equal(exit, 0, err);
    assert.equal(scenario.cluster.faults.writes, writes);
    const name = 'DaemonSet/kube-system/netsvc-node';
    const agent = partOf(out, `diff -u -N live/${name} planned/${name}\n--- live/${name}\n+++ planned/${name}`);
    assert.match(agent, /^-\s+image: registry\.netsvc\.io\/netsvc\/node:v3\.26\.4$/m);
    assert.match(agent, pattern`(?m:^\+\s+image: registry\.netsvc\.io/netsvc/node:${NETSVC_TARGET}$)`);
    assert.match(agent, /^@@ -\d+,\d+ \+\d+,\d+ @@$/m);
    assert.match(out, pattern`(?m:^manifest path, .* v3\.26\.4 → ${NETSVC_TARGET})`);
    assert.match(out, /^Nothing was changed: this is a plan\.\nNext: .*run/m);
    for (const unseen of ['managedFields', 'resourceVersion', 'status:', 'last-applied', 'KIND/NAME'])
      assert.ok(!out.includes(unseen), unseen);
  });

  it('shows an object that is created whole, against nothing', async () => {
    const { out } = await diffOf(await installed());
    const created = partOf(out, '--- /dev/null\n+++ planned/ServiceAccount/kube-system/netsvc-cni-plugin');
    assert.match(created, /^@@ -0,0 \+1,5 @@\n\+apiVersion: v1\n\+kind: ServiceAccount\n/);
  });

  it('keeps the edits of a person on both sides', async () => {
    const scenario = await installed();
    const path = '/spec/template/spec/containers/0/env/-';
    const value = { name: 'OWN', value: 'mine' };
    scenario.cluster.registry.jsonPatch(K.DaemonSet, AGENT, [{ op: 'add', path, value }], { manager: 'kubectl-set' });
    const { out } = await diffOf(scenario);
    assert.doesNotMatch(out, /^[-+].*\bOWN\b/m);
  });

  it('has what of owner references goes, and lists the steps that it has no diff for', async () => {
    const { scenario } = await ownerSandbox();
    const { exit, out } = await diffOf(scenario, renaming);
    assert.equal(exit, 3);
    const owned = partOf(out, '--- live/ConfigMap/default/owned-pool\n+++ planned/ConfigMap/default/owned-pool');
    assert.match(owned, /^-\s+ownerReferences:\n-\s+- apiVersion: netsvc\.io\/v3\n(?:-.*\n)+/m);
    assert.doesNotMatch(owned, /^\+/m);
    assert.match(out, /^Known as commands only, without a diff:\nSTEP +STAGE +DOES\n2 +ownerrefs-strip +write the owner references/m);
    assert.doesNotMatch(out, / ownerrefs-strip +.*owner references removed/);
    assert.match(out, /^× NS-741 /m);
  });

  it('hides what Secrets hold', async () => {
    const scenario = await kvstoreScenario('v3.27.5');
    const { exit, out, err } = await diffOf(scenario, calico);
    assert.equal(exit, 0, err);
    for (const value of [ACCESS.ca, ACCESS.certificate, ACCESS.key])
      for (const unseen of [value.split('\n')[1] ?? '', btoa(value).slice(0, 24)]) assert.equal(out.includes(unseen), false, unseen);
  });

  it('lists only what is in a namespace that is asked for, and what is in none', async () => {
    const { out } = await diffOf(await installed(), undefined, '-n', 'default');
    assert.doesNotMatch(out, /live\/DaemonSet/);
    assert.match(out, /live\/CustomResourceDefinition/);
  });

  it('says that there is nothing to do where there is nothing, and exits as plan does', async () => {
    const scenario = await installed();
    assert.equal((await diffOf(scenario, undefined, '--detailed-exitcode')).exit, 2);
    assert.equal(await sandboxCommand(scenario).run('run', '--yes'), 0);
    const { exit, out } = await diffOf(scenario, undefined, '--detailed-exitcode');
    assert.equal(exit, 0);
    assert.match(out, /^No changes: there is nothing to do\.$/m);
    assert.doesNotMatch(out, /^(?:diff|---|\+\+\+|@@)/m);
  });

  it('is coloured on a terminal as git colours a diff, and no line of it is parted', async () => {
    const bench = sandboxCommand(await installed());
    Object.assign(bench.seams.terminal, { outIsTerminal: true, columns: 40 });
    assert.equal(await bench.run('plan', '--diff'), 0);
    const lines = forTerminal(bench.out()).split('\n');
    const has = (line: string) => assert.ok(lines.includes(line), `${JSON.stringify(line)} in\n${lines.join('\n')}`);
    has('\u001b[1m--- live/DaemonSet/kube-system/netsvc-node\u001b[22m');
    has('\u001b[1m+++ planned/DaemonSet/kube-system/netsvc-node\u001b[22m');
    has('\u001b[36m@@ -0,0 +1,5 @@\u001b[39m');
    has('\u001b[32m+kind: ServiceAccount\u001b[39m');
    assert.ok(lines.some((line) => line.startsWith('\u001b[31m-') && line.endsWith('\u001b[39m')));
  });

  for (const [format, instead] of [
    ['json', /leave --diff out: -o json has each changed field .* \.stages\[\]\.objects\[\]\.fields/],
    ['yaml', /-o yaml has each changed field/],
    ['markdown', /leave --diff out, or -o/],
    ['images', /leave --diff out, or -o/],
  ] as const)
    it(`is refused together with -o ${format}`, async () => {
      const { exit, err, out } = await diffOf(await installed(), undefined, '-o', format);
      assert.equal(exit, 64);
      assert.match(err, instead);
      assert.equal(out, '');
    });

  it('leaves whole objects out of every other form', async () => {
    for (const format of ['json', 'yaml', 'wide']) {
      const bench = sandboxCommand(await installed());
      assert.equal(await bench.run('plan', '-o', format), 0);
      assert.equal(/\bbodies\b/.test(bench.out()), false, format);
    }
  });
});
