import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_SCENARIOS, type DemoScenarioName } from '../../src/cli/demo-scenarios.ts';
import { describeWhere, NO_TERMINAL } from '../support/needs.ts';
import { inPty } from '../support/pty.ts';
import { CALICO_TARGET, pattern } from '../support/target.ts';
import { program } from '../support/upgrade-process.ts';

const DEMO_SCENARIO_NAMES = Object.keys(DEMO_SCENARIOS) as DemoScenarioName[];

const NEXT = 'Next: kubectl netsvc-upgrade preflight   # your own cluster; changes nothing';
const FIELD = 'DaemonSet/kube-system/calico-node:spec.template.spec.securityContext.seccompProfile.type';

/** Node's cache of compiled code, which every command has, is elsewhere. */
const cache = join(tmpdir(), `netsvc-demo-cache-${process.pid}`);

/** The built program without a terminal, and what it left in the folders where programs leave files. */
function demo(...args: readonly string[]) {
  const home = mkdtempSync(join(tmpdir(), 'netsvc-demo-'));
  try {
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      TMPDIR: home,
      XDG_STATE_HOME: home,
      KUBECONFIG: join(home, 'none'),
      XDG_CACHE_HOME: cache,
    };
    const { status, stdout, stderr } = spawnSync(program, ['demo', '--fast', ...args], { cwd: home, env, encoding: 'utf8' });
    return { status, out: stdout, err: stderr, left: readdirSync(home) };
  } finally {
    rmSync(home, { recursive: true });
  }
}

interface Expected {
  readonly exit: number;
  readonly err: readonly RegExp[];
  readonly out: readonly RegExp[];
}

/** What each says, and that it ends with the exit code of a real run. */
const EXPECTED: Readonly<Record<DemoScenarioName, Expected>> = {
  'image-pull': {
    exit: 5,
    err: [pattern`(?m:^error: .*node-02.*cannot pull \S+:${CALICO_TARGET} \(ImagePullBackOff: failed to resolve reference: not found\))`],
    out: [
      pattern`(?m:^STOPPED at apply, step 9 of 19 · 2 of 4 nodes on ${CALICO_TARGET} · node-02 failing$)`,
      /^ {2}impact {2}routes and rules stay in the kernel of every node; BGP routes to a node without its agent for about two minutes/m,
      /^The exit code is 5\. On a .*: kubectl -n kube-system describe pod /m,
    ],
  },
  'crash-loop': {
    exit: 5,
    err: [/^error: .*node-02.*CrashLoopBackOff, last exit 1, 3 restarts$/m],
    out: [
      /^STOPPED at apply, step 9 of 19 · 2 of 4 nodes/m,
      /^ {2}look {4}kubectl -n kube-system logs /m,
      /^The exit code is 5\. On a .*: kubectl -n kube-system logs .* --previous$/m,
    ],
  },
  'canary-fails': {
    exit: 5,
    err: [/apply: failed/],
    out: [
      pattern`(?m:^STOPPED at apply, step \d+ of \d+ · 0 of 4 nodes on ${CALICO_TARGET} · node-01 failing$)`,
      /^ {2}means {3}no further agent is replaced: the update strategy stays OnDelete/m,
      /^ {2}look {4}kubectl -n kube-system logs calico-node-\S+ -c calico-node --previous$/m,
    ],
  },
  conflict: {
    exit: 8,
    err: [/^error: checks failed$/m],
    out: [
      /^× NS-201 1 change of yours to decide/m,
      /--resolve FIELD=mine\|theirs/,
      /^The exit code is 8\. On a .*: kubectl netsvc-upgrade plan -o wide$/m,
    ],
  },
  lock: {
    exit: 6,
    err: [
      /^error: anna on host host-1 \(process 4711\) has held the lock for 4m\d*s?, at stage apply; nothing was changed/m,
      /^follow that run: kubectl netsvc-upgrade status --watch\nunlock only when that process has ended \(of two runs at once, one stops halfway with exit 7\): kubectl netsvc-upgrade unlock$/m,
    ],
    out: [/^The exit code is 6\. On a .*: kubectl netsvc-upgrade status --watch$/m],
  },
  interrupted: {
    exit: 0,
    err: [
      pattern`(?m:^Resume run \S+ \(v3\.27\.5 → ${CALICO_TARGET}\), interrupted at apply 4m\d*s? ago, on .*\? \[y/N\] y$)`,
      /^\S+ backup: nothing to do$/m,
    ],
    out: [pattern`(?m:^✔ Calico v3\.27\.5 → ${CALICO_TARGET} on 4 nodes)`],
  },
  ebpf: {
    exit: 0,
    err: [
      /^POINT OF NO RETURN +step 8: old agents refuse the new eBPF tables$/m,
      /^\d+ to add, .* connections through a node can break when its agent restarts .*\nNo undo after step 8\. /m,
      /\(no undo after step 8\) \[y\/N\] y$/m,
    ],
    out: [/^The upgrade is done; there is no undo any more\. /m],
  },
  rollback: {
    exit: 0,
    err: [
      /^\d+ to add, \d+ to change, \d+ to remove/m,
      pattern`(?m:^Roll back context "demo" .*from ${CALICO_TARGET} to v3\.27\.5.*\? \[y/N\] y$)`,
      /^NOTE +5 waves, each waited for: configuration → typha → agents → controllers → roles$/m,
    ],
    out: [pattern`(?m:^✔ Calico ${CALICO_TARGET} → v3\.27\.5 on 4 nodes)`],
  },
};

describe('the demo of the built program', function () {
  this.timeout(60_000);
  after(() => rmSync(cache, { recursive: true, force: true }));

  it('shows the plan, what it comes to and the question, and answers it where nobody is there', () => {
    const { status, out, err, left } = demo();
    assert.deepEqual([status, left], [0, []], err);
    assert.match(
      err,
      pattern`(?m:^KIND/NAME +ACTION[\s\S]*^\d+ to add, \d+ to change, 0 to remove, .*\n.*\nUpgrade context "demo" .*from v3\.27\.5 to ${CALICO_TARGET}.*\? \[y/N\] y$)`,
    );
    assert.match(err, /^NOTE +4 waves, each waited for: configuration → agents → typha → controllers$/m);
    assert.doesNotMatch(err, /POINT OF NO RETURN/, 'a rollback takes all of it back');
    assert.match(out, /^✔ Calico .* on 4 nodes/m);
    assert.equal(out.trimEnd().split('\n').at(-1), NEXT);
  });

  for (const name of DEMO_SCENARIO_NAMES)
    it(`of ${name} says what a run says, and ends with its exit code`, () => {
      const { exit, ...said } = EXPECTED[name];
      const { status, out, err, left } = demo('--scenario', name);
      assert.deepEqual([status, left], [exit, []], err);
      assert.match(err, /^The commands that are named below are for a real cluster: this one is gone when the demo ends\.$/m);
      for (const one of said.err) assert.match(err, one);
      for (const one of said.out) assert.match(out, one);
      assert.equal(out.trimEnd().split('\n').at(-1), NEXT);
    });

  it('of an unknown scenario names those that there are', () => {
    const { status, err } = demo('--scenario', 'flood');
    assert.equal(status, 64);
    assert.ok(err.includes(`--scenario=flood to be one of: ${DEMO_SCENARIO_NAMES.join(', ')}\n`), err);
  });

  describeWhere(NO_TERMINAL, 'in a terminal', () => {
    it('changes nothing when the question is declined', async () => {
      const { exit, text } = await inPty(['demo', '--fast'], { columns: 120, answers: [{ when: /\[y\/N\]/, type: 'n\r' }] });
      assert.equal(exit, 5, text);
      assert.match(text, /declined: nothing was changed/);
    });

    it('of conflict asks which value is to stand, and then the question', async () => {
      const answers = [
        { when: /Which value\?/, type: 'm\r' },
        { when: /\[y\/N\]/, type: 'y\r' },
      ];
      const { exit, text } = await inPty(['demo', '--fast', '--no-progress', '--scenario', 'conflict'], { columns: 160, answers });
      assert.equal(exit, 0, text);
      assert.ok(text.includes(`conflict 1 of 1: ${FIELD}\n  was:     (absent)\n  mine:    Unconfined\n  theirs:  RuntimeDefault\n`), text);
      assert.match(text, /^✔ .* on 4 nodes/m);
    });

    it('of image-pull ends in the block of a run that stopped', async () => {
      const { exit, text } = await inPty(['demo', '--fast', '--yes', '--no-progress', '--scenario', 'image-pull'], { columns: 160 });
      assert.equal(exit, 5, text);
      assert.match(
        text,
        /^STOPPED at apply, step .*\n {2}why .*ImagePullBackOff.*[\s\S]*^ {2}look .*[\s\S]*^ {2}impact .*[\s\S]*^Next: .* preflight/m,
      );
    });
  });
});
