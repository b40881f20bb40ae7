import assert from 'node:assert/strict';
import { stripVTControlCharacters } from 'node:util';
import type { RunReport } from '../../src/cli/documents.ts';
import { prerequisites } from '../../src/features/preflight/prerequisites.ts';
import { plainText } from '../../src/kernel/step.ts';
import { forTerminal } from '../../src/kernel/visible.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { findKind } from '../../src/sandbox/store.ts';
import { put } from '../support/hep-sandbox.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';
import { withoutNetwork } from './ailing-pods.ts';

/** The last lines of every command: why it ended early, what it came to and what it changed, and the next command (ux, Screens 4, 6 to 8 and 14). */
describe('the last lines of a command', function () {
  this.timeout(60_000);
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox();
  });

  async function performed(typed: string, answers?: readonly boolean[]) {
    const bench = sandboxCommand(scenario);
    bench.answers = answers && [...answers];
    const exit = await bench.run(...typed.split(' '));
    return { exit, lines: bench.screen(), questions: bench.questions };
  }

  function intoEbpf() {
    const { cluster } = scenario;
    const settings = { apiVersion: `${cluster.profile.crdGroup}/v1`, kind: 'FelixConfiguration' };
    const kind = findKind(cluster.kinds(), settings.apiVersion, settings.kind);
    assert.ok(kind);
    cluster.store.insert(kind, { ...settings, metadata: { name: 'default' }, spec: { bpfEnabled: true } });
  }

  it('of preflight say whether the cluster is ready, and that nothing was changed', async () => {
    const { exit, lines } = await performed('preflight');
    assert.deepEqual(
      [exit, lines.slice(-3)],
      [0, ['READY, 1 warning', 'Nothing was changed by this command.', 'Next: kubectl netsvc-upgrade plan']],
    );
  });

  it('and its first lines what an upgrade needs, as the pages have it', async () => {
    const { lines } = await performed('preflight');
    const profile = netsvc;
    for (const [what, needed] of prerequisites(profile, profile.defaultRelease)) {
      const words = plainText(needed).split(' ');
      const at = lines.findIndex((line) => line.startsWith(`${what} `));
      assert.ok(at >= 0, `${what} in\n${lines.join('\n')}`);
      assert.ok(lines.slice(at).join(' ').replaceAll(/\s+/g, ' ').includes(words.join(' ')), `${what}: ${words.join(' ')}`);
    }
  });

  it('of a wait alone that ended well lead to the stage that follows, though the run is not finished', async () => {
    await performed('crds --yes');
    await performed('apply --yes');
    const well = await performed('wait');
    assert.deepEqual([well.exit, well.lines.at(-1)], [0, 'Next: kubectl netsvc-upgrade ownerrefs restore']);
  });

  it('of preflight count what stands in the way', async () => {
    scenario.cluster.nodes.fault('node-02', 'crash-loop');
    await performed('run --yes');
    const { exit, lines } = await performed('preflight --release v3.26.4');
    assert.equal(exit, 3, lines.join('\n'));
    assert.match(lines.at(-5) ?? '', /^NOT READY: \d+ blockers?$/);
    assert.equal(lines.at(-4), 'Nothing was changed by this command.');
    assert.match(lines.at(-3) ?? '', /^Earlier parts of this run, begun \d+s ago, changed: .*apply\.$/);
    assert.equal(
      lines.at(-2),
      'Routes and rules stay in the kernel of every node; BGP routes to a node without its agent for about two minutes. New pods get no network on a node whose agent is not ready.',
    );
  });

  it('of a run that stopped, of its report and of status lead to one look; the report keeps its steps as they are', async () => {
    scenario.cluster.nodes.fault('node-02', 'crash-loop');
    const documentOf = async (typed: string) => {
      const bench = sandboxCommand(scenario);
      await bench.run(...typed.split(' '), '-o', 'json');
      return JSON.parse(bench.out()) as Pick<RunReport, 'next' | 'nextStep' | 'steps' | 'suggestions'>;
    };
    const run = await documentOf('run --yes');
    const report = await documentOf('report');
    assert.match(run.next, /^kubectl -n kube-system logs \S+ -c \S+ --previous$/);
    assert.deepEqual([report.next, report.nextStep], [run.next, run.nextStep]);
    assert.equal((await documentOf('status')).next, run.next);
    assert.ok(run.steps.some(({ kind }) => kind === 'look'));
    assert.deepEqual([report.steps, report.suggestions], [run.steps, run.suggestions]);
    const { lines } = await performed('report');
    assert.equal(lines.at(-1), `Next: ${run.next}`);
  });

  it('of preflight and verify after a run that stopped lead to the run, whose release the header calls unfinished', async () => {
    scenario.cluster.nodes.fault('node-02', 'crash-loop');
    await performed('run --yes');
    scenario.cluster.nodes.fault('node-02', 'none');
    for (const command of ['preflight', 'verify']) {
      const { lines } = await performed(command);
      assert.ok(
        lines.some((line) => pattern`v3\.26\.4 → ${NETSVC_TARGET}, unfinished`.test(line)),
        lines.join('\n'),
      );
      assert.equal(lines.at(-1), 'Next: kubectl netsvc-upgrade run');
    }
  });

  it('of a status after a run that failed name the command that resumes it', async () => {
    scenario.cluster.nodes.fault('node-02', 'crash-loop');
    await performed('run --yes --skip alp');
    const { lines } = await performed('status');
    const told = 'taken from the run record in namespace kube-system, you did not type it: --skip=alp (check it before you use it)';
    assert.ok(lines.includes(told), 'it names what the command that resumes takes from there, not only what the next one does');
    assert.equal(lines.at(-2), 'Once the cause is fixed, resume with: kubectl netsvc-upgrade run --skip=alp');
    assert.match(lines.at(-1) ?? '', /^Next: kubectl -n kube-system logs netsvc-node-\w+ -c netsvc-node --previous$/);
    const waited = await performed('wait');
    assert.match(waited.lines.at(-1) ?? '', /^Next: kubectl -n kube-system (?:logs|describe pod) /);
  });

  it('of a plan say that it is one', async () => {
    const { lines } = await performed('plan');
    assert.deepEqual(lines.slice(-2), ['Nothing was changed: this is a plan.', 'Next: kubectl netsvc-upgrade run']);
  });

  it('of a dry run say that it was one', async () => {
    const { lines } = await performed('run --dry-run=server');
    assert.deepEqual(lines.slice(-2), ['Nothing was changed: this was a dry run.', 'Next: kubectl netsvc-upgrade run']);
  });

  it('of a dry run are the same where a controller writes the status of an object meanwhile', async () => {
    const { cluster } = scenario;
    const { dryRunPatch } = cluster;
    let asked = 0;
    const meanwhile: typeof dryRunPatch = (kind, ref, ...more) => {
      asked += ref.kind === 'DaemonSet' ? 1 : 0;
      const live = asked === 2 ? cluster.store.get(kind, ref.name, ref.namespace) : undefined;
      if (live && ref.kind === 'DaemonSet') cluster.store.update(kind, { ...live, status: { observedGeneration: 99 } });
      return dryRunPatch(kind, ref, ...more);
    };
    Object.assign(cluster, { dryRunPatch: meanwhile });
    const { exit, lines } = await performed('apply --dry-run=server');
    assert.deepEqual([asked, exit], [2, 0], lines.join('\n'));
    assert.equal(lines.at(-2), 'Nothing was changed: this was a dry run.');
  });

  it('of a command that Ctrl-C stops between two of many patches say that something was changed', async () => {
    const { cluster } = scenario;
    const { patch } = cluster;
    const bench = sandboxCommand(scenario);
    let sent = 0;
    const stopping: typeof patch = (...args) => {
      sent += 1;
      if (sent === 5) bench.engine.soft.abort();
      return patch(...args);
    };
    Object.assign(cluster, { patch: stopping });
    assert.equal(await bench.run('apply', '--yes', '--parallel=2'), 130);
    assert.ok(sent < 17, `${sent} patches`);
    const text = bench.screen().join('\n');
    assert.match(text, /^error: stopped between two steps: nothing was being written$/m);
    assert.match(text, /^Changed by this command: apply\. The step that did not end may have changed more\.$/m);
    assert.doesNotMatch(text, /nothing was changed/i);
  });

  it('of a run that came to its end say from where to where, on how many nodes, how long, and what is left', async () => {
    const { exit, lines } = await performed('run --yes');
    assert.equal(exit, 0, lines.join('\n'));
    const success = lines.findIndex((line) => line.startsWith('✔'));
    assert.match(lines[success] ?? '', pattern`^✔ .* v3\.26\.4 → ${NETSVC_TARGET} on 2 nodes in \d+s · 2 manual steps left$`);
    assert.equal(lines.slice(success).filter((line) => line.startsWith('MANUAL STEP')).length, 2, 'then each step once');
    assert.equal(
      lines.at(-4),
      'Changed by this command: 1 DaemonSet, 1 Deployment, 5 CRDs and 5 others (apply), cli.',
      'the files of the backup change nothing in the cluster',
    );
    assert.equal(
      lines.at(-3),
      'Routes and rules stay in the kernel while an agent restarts. This program measured no traffic of running pods.',
    );
    assert.equal(lines.at(-2), 'What can be undone now: kubectl netsvc-upgrade plan --rollback');
  });

  it('of a second run say that nothing was changed, and a plan then has no changes', async () => {
    await performed('run --yes');
    assert.equal((await performed('run --yes')).lines.at(-2), 'Nothing was changed by this command.');
    const { lines } = await performed('plan');
    assert.equal(lines.at(-2), 'No changes: there is nothing to do.');
    assert.doesNotMatch(lines.join('\n'), /^STEP|backup/m);
  });

  it('of a plan without changes name the manual step that is left', async () => {
    scenario = await installedSandbox({ installed: NETSVC_TARGET });
    put(scenario, 'GlobalNetworkPolicy', 'allow-all-upgrade', { selector: 'has(old)', types: ['Ingress'], ingress: [{ action: 'Allow' }] });
    const { lines } = await performed('policy --dry-run=client');
    assert.equal(lines.at(-2), 'No changes: a manual step is left.');
    assert.match(lines.join('\n'), /^1 +policy +manual step: review the traffic logs of allow-all-upgrade/m);
  });

  it('of a run that stopped stand below its report: the error, what it was, what was changed, and the look that helps', async () => {
    scenario.cluster.nodes.fault('node-02', 'crash-loop');
    const { exit, lines } = await performed('run --yes');
    assert.equal(exit, 5);
    const from = lines.findIndex((line) => line.startsWith('error: '));
    const last = lines.slice(from);
    assert.match(last[0] ?? '', /^error: 1 pod failed.*node-02.*CrashLoopBackOff/);
    assert.match(last[1] ?? '', pattern`^STOPPED at apply, step 5 of 9 · \d of 2 nodes on ${NETSVC_TARGET} · node-02 failing$`);
    assert.match(last[2] ?? '', /^ {2}why {5}1 pod failed.*CrashLoopBackOff/);
    assert.match(last[3] ?? '', /^ {2}look {4}kubectl -n kube-system logs netsvc-node-\S+ -c netsvc-node --previous$/);
    assert.match(last[4] ?? '', /^ {2}says .*no route to host$/);
    assert.match(last[5] ?? '', /^ {2}says .* failed to start$/);
    assert.match(last[6] ?? '', /^ {2}means /);
    assert.match(
      last[7] ?? '',
      /^ {2}impact {2}routes and rules stay in the kernel of every node; BGP routes to a node without its agent for about two minutes; new pods on node-\d+ get no network until its agent is ready$/,
    );
    assert.match(last[8] ?? '', /^ {2}then {4}keep new pods off /);
    assert.match(last[9] ?? '', /^ {2}undo {4}possible: kubectl netsvc-upgrade rollback$/);
    assert.equal(last.at(-3), 'Changed by this command: 1 DaemonSet, 1 Deployment, 5 CRDs and 5 others (apply).');
    assert.match(
      last.at(-2) ?? '',
      /^Any machine can resume this run: .* only on sandbox, in \/sandbox\/\S+: copy it to another machine\.$/,
    );
    assert.ok(
      lines.some((line) => /^\S+ apply: step 5 of 9: wait for /.test(line)),
      'the number of the plan',
    );
    const status = await performed('status');
    assert.match(status.lines.join('\n'), /^run \S+, profile netsvc: not finished, at step 5 of 9 \(apply\)$/m);
    assert.match(status.lines.join('\n'), /^undo: possible: kubectl netsvc-upgrade rollback/m);
    assert.match(last.at(-1) ?? '', /^Next: kubectl -n kube-system logs /);
    assert.ok(from > lines.findIndex((line) => line.startsWith('STAGE ')), 'the report is above');
    assert.match(lines.join('\n'), /^apply +failed +see below$/m);
  });

  it('of a run that stopped are one block on a terminal, and nothing is said twice', async () => {
    scenario.cluster.nodes.fault('node-02', 'crash-loop');
    const bench = sandboxCommand(scenario);
    Object.assign(bench.seams.terminal, { outIsTerminal: true, errIsTerminal: true, columns: 400 });
    await bench.run('run', '--yes');
    const lines = stripVTControlCharacters(forTerminal(bench.screen().join('\n'))).split('\n');
    const block = lines.slice(lines.findIndex((line) => line.startsWith('STOPPED')));
    assert.match(block[0] ?? '', pattern`^STOPPED at apply, step 5 of 9 · \d of 2 nodes on ${NETSVC_TARGET} · node-02 failing$`);
    assert.match(block[1] ?? '', /^ {2}why {5}1 pod failed.*CrashLoopBackOff/);
    assert.match(block[2] ?? '', /^ {2}look {4}kubectl -n kube-system logs \S+ -c netsvc-node --previous$/);
    assert.match(
      block[6] ?? '',
      /^ {2}impact {2}routes and rules stay in the kernel of every node; BGP routes to a node without its agent for about two minutes/,
    );
    const rows = block.slice(3, 11).map((line) => line.trim().replace(/^(\w+) +/, '$1 '));
    assert.match(rows.join('\n'), /^says .*dial tcp.*no route to host$/m);
    assert.match(rows.join('\n'), /^means the pod does not reach that address/m);
    const order = rows.filter((row) => /^(?:then|or|undo) /.test(row));
    assert.equal(order[0], 'then keep new pods off node-02: kubectl cordon node-02 (afterwards: kubectl uncordon node-02)');
    assert.match(order[1] ?? '', /^undo possible: /);
    assert.match(order[2] ?? '', /^then fix the cause \(Kubernetes then continues this rollout by itself\), then resume: /);
    assert.doesNotMatch(block.join('\n'), /as undo says/);
    assert.match(block.at(-1) ?? '', /^Next: kubectl -n kube-system logs /);
    assert.doesNotMatch(lines.join('\n'), /^error:/m);
    assert.match(lines.join('\n'), /^apply +failed +see below$/m);
  });

  it('of a run that stopped say of eBPF what they say of no other data plane', async () => {
    intoEbpf();
    scenario.cluster.nodes.fault('node-02', 'crash-loop');
    for (const command of ['run --yes', 'wait']) {
      const { lines } = await performed(command);
      const text = lines.join('\n');
      assert.match(text, /^ {2}impact {2}connections through nodes whose agent restarted may have broken, /m, command);
      assert.doesNotMatch(text, /routes and rules stay/i, command);
    }
  });

  it('of a run that came to its end warn of nothing that was to be done before', async () => {
    intoEbpf();
    const { exit, lines } = await performed('run --yes');
    assert.equal(exit, 0, lines.join('\n'));
    assert.doesNotMatch(lines.join('\n'), /^‼ NS-507/m);
  });

  it('of a run that stopped because new pods get no network name their nodes, and not another that is late', async () => {
    const broken = await installedSandbox({ nodes: 3 });
    withoutNetwork('Failed to create pod sandbox: x509: unknown authority')(broken.cluster, broken);
    scenario = broken;
    const { exit, lines } = await performed('run --yes');
    assert.equal(exit, 5, lines.join('\n'));
    const last = lines.slice(lines.findIndex((line) => line.startsWith('error: ')));
    assert.match(
      last.find((line) => line.startsWith('STOPPED')) ?? '',
      pattern` · 1 of 3 nodes on ${NETSVC_TARGET} · new pods on node-01 get no network$`,
    );
    assert.deepEqual(
      last.slice(-4).filter((line) => !line.startsWith('Any machine can resume')),
      [
        '  then    fix node-01, then resume: kubectl netsvc-upgrade run',
        'Changed by this command: 1 DaemonSet, 1 Deployment, 5 CRDs and 5 others (apply).',
        'Next: kubectl -n shop describe pod web',
      ],
    );
    assert.ok(
      last.includes(
        '  impact  routes and rules stay in the kernel of every node; BGP routes to a node without its agent for about two minutes; new pods on node-01 get no network',
      ),
    );
    assert.ok(last.includes('  then    keep new pods off node-01: kubectl cordon node-01 (afterwards: kubectl uncordon node-01)'));
    assert.equal(last.filter((line) => line.includes('OnDelete')).length, 1, 'node-03 is still to be rolled');
    assert.doesNotMatch(last.join('\n'), /--max-failed/);
  });

  it('of a run that stopped lead to a question that says what is resumed, and what it found broken is over at the end', async () => {
    scenario.cluster.nodes.fault('node-02', 'crash-loop');
    await performed('run --yes');
    scenario.cluster.nodes.fault('node-02', 'none');
    const { exit, lines, questions } = await performed('run', [true]);
    assert.equal(exit, 0, lines.join('\n'));
    assert.match(
      questions[0] ?? '',
      pattern`^Resume run \S+ \(v3\.26\.4 → ${NETSVC_TARGET}\), stopped at apply \d+s ago, on context "sandbox" \(sandbox, 2 nodes\)\?$`,
    );
    const end = lines.slice(lines.findLastIndex((line) => line.endsWith(' preflight: done in 0s')));
    assert.match(end.join('\n'), /^STAGE /m);
    assert.doesNotMatch(end.join('\n'), /^[‼×~] NS-(?:401|107)\b/m);
    assert.match(end.join('\n'), pattern`(?m:^✔ .* v3\.26\.4 → ${NETSVC_TARGET} on 2 nodes)`);
    assert.match(
      end.join('\n'),
      /^Changed by this command: .*\nEarlier parts of this run, begun \S+ ago, changed: .*apply\.\nRoutes and rules stay in the kernel while an agent restarts\. This program measured no traffic of running pods\.$/m,
    );
  });
});
