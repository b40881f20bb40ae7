import assert from 'node:assert/strict';
import { keptText, reachedText, stoppedLines, undoTexts } from '../../../src/cli/ending/end-lines.ts';
import type { Outcome } from '../../../src/cli/ending/run.ts';
import { runLines } from '../../../src/cli/ending/run-lines.ts';
import { chain } from '../../../src/features/chain.ts';
import type { Finding } from '../../../src/kernel/check.ts';
import { command, ownCommand } from '../../../src/kernel/command.ts';
import type { RolloutMark, RolloutTrace } from '../../../src/kernel/history.ts';
import type { RunRecord, StageRecord } from '../../../src/kernel/run-record.ts';
import {
  Again,
  againAs,
  impact,
  means,
  or,
  plainText,
  type Suggestion,
  says,
  seeWhy,
  stepOf,
  THEN_AGAIN,
  text,
} from '../../../src/kernel/step.ts';
import { NO_RETURNS } from '../../../src/kernel/undo.ts';
import { plain } from '../../../src/report/colour.ts';
import { RECORD } from '../../fixtures/stored-record.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const view = {
  palette: plain,
  service: 'Calico',
  release: CALICO_TARGET,
  wide: false,
  full: false,
  advice: true,
  resume: ownCommand('run --timeout=2m'),
};
const record = (more: Partial<RunRecord>): RunRecord => ({
  ...RECORD,
  ...{ target: CALICO_TARGET, startedAt: '2026-11-21T02:00:00Z', kept: ['r-1/apply/edits#1'], ...more },
});
const stage = (id: string, state: StageRecord['state'], because?: string): StageRecord => ({
  ...{ id, state, startedAt: '2026-11-21T02:00:00Z' },
  ...(because === undefined ? {} : { because }),
});
const finding: Finding = {
  ...{ id: 'NS-031', title: 't', category: 'workloads', ref: 'r', outcome: 'warning', message: 'also managed by Flux', evidence: [] },
};
const rollout = (phases: readonly RolloutMark['phase'][], done: boolean): RolloutTrace => ({
  ...{ stage: 'apply', workload: 'DaemonSet/calico-system/calico-node', image: 'i', startedAt: '2026-11-21T02:00:00Z' },
  ...{ seconds: 60, desired: phases.length, done },
  rows: phases.map((phase, index) => ({ node: `node-0${index + 1}`, marks: [{ at: 0, phase }] })),
});
const ended = (more: Partial<Outcome>): Outcome => ({
  ...{
    exit: 'done',
    findings: [],
    plans: [],
    stages: [],
    writes: 3,
    steps: [],
    versions: { before: 'v3.27.5', after: CALICO_TARGET },
  },
  ...more,
});
const history = (trace: RolloutTrace) => ({
  ...{ startedAt: '2026-11-21T02:00:00Z', endedAt: '2026-11-21T02:02:53Z', actions: [], rollouts: [trace], notes: [] },
});

describe('the end of a run', () => {
  it('that came to its end is one line, then each warning and each manual step once', () => {
    const effect = { type: 'ask', instruction: 'replace the CLI elsewhere' } as const;
    const plan = {
      id: 'cli',
      title: 't',
      ref: 'r',
      objects: [],
      notes: [],
      actions: [{ id: 'a', title: 't', ref: 'r', undo: 'full', effect }],
    } as const;
    const lines = runLines(
      ended({
        stages: [stage('apply', 'done'), stage('verify', 'done')],
        findings: [finding],
        plans: [plan],
        history: history(rollout(['new', 'new', 'new', 'new', 'new', 'new'], true)),
      }),
      view,
    );
    assert.deepEqual(lines, [
      'STAGE   STATE  WHY',
      'apply   done',
      'verify  done',
      `✔ Calico v3.27.5 → ${CALICO_TARGET} on 6 nodes in 2m53s · 1 warning · 1 manual step left`,
      'workloads',
      '‼ NS-031 also managed by Flux',
      '0 ok, 1 warning',
      'MANUAL STEP  replace the CLI elsewhere',
    ]);
  });

  it('that stopped is one block, last, with what is to be looked at and what it means', () => {
    const message = 'not complete after 60 s';
    const steps = [
      seeWhy(command`kubectl -n a describe pod b`),
      says('b says: Failed to pull image'),
      means('the name is wrong'),
      impact('routes and rules stay in the kernel of every node; BGP routes to a node without its agent for about two minutes meanwhile'),
      stepOf('fix the pod'),
    ];
    const outcome = ended({
      ...{ exit: 'timeout', stoppedAt: 'apply', message, steps, findings: [finding] },
      stages: [stage('crds', 'done'), stage('apply', 'failed', message)],
      history: history(rollout(['new', 'failed', 'old'], false)),
      record: record({ progress: { stage: 'apply', step: 3, of: 5 } }),
    });
    assert.deepEqual(
      [
        ...runLines(outcome, { ...view, reason: 'below' }).slice(-3),
        ...stoppedLines(outcome, view, ['possible, in this order:', 'A', 'B']),
      ],
      [
        'STAGE  STATE   WHY',
        'crds   done',
        'apply  failed  see below',
        `STOPPED at apply, step 3 of 5 · 1 of 3 nodes on ${CALICO_TARGET} · node-02 failing`,
        '  why     not complete after 60 s',
        '  look    kubectl -n a describe pod b',
        '  says    b says: Failed to pull image',
        '  means   the name is wrong',
        '  impact  routes and rules stay in the kernel of every node; BGP routes to a node without its agent for about two minutes meanwhile',
        '  undo    possible, in this order:',
        '          A',
        '          B',
        '  then    fix the pod',
      ],
    );
  });

  it('that stopped says the reason in its table, the beginning of a long one, unless it stands right below', () => {
    const stopped = ended({
      ...{ exit: 'timeout', stoppedAt: 'apply', message: 'too late' },
      stages: [stage('crds', 'done', 'too late'), stage('apply', 'failed', 'too late')],
    });
    const row = (reason?: 'beside' | 'below') => runLines(stopped, { ...view, ...(reason ? { reason } : {}) }).at(-1);
    assert.deepEqual(
      [row('beside'), row('below'), row()].map((line) => line?.slice(15)),
      ['too late', 'see below', 'too late'],
    );
    // It is the reason of the stage that stopped, whatever another one says.
    assert.match(runLines(stopped, { ...view, reason: 'below' }).at(-2) ?? '', /^crds +done +too late$/);
  });

  it('that stopped has the command itself where a step means it', () => {
    const then = (step: Suggestion) => stoppedLines(ended({ exit: 'interrupted', steps: [stepOf(step)] }), view, []).at(-1);
    const resume = 'resume: kubectl netsvc-upgrade run --timeout=2m';
    assert.equal(then(againAs('it resumes where this one stopped')), `  then    ${resume}`);
    assert.equal(then(THEN_AGAIN), `  then    ${resume}`);
    assert.equal(then(text`fix the pod, then ${againAs('it resumes')}`), `  then    fix the pod, then ${resume}`);
    const tolerant = ended({ exit: 'stopped', steps: [or(text`let it continue: ${new Again('with more', '', ['max-failed', '2'])}`)] });
    for (const typed of ['run --yes', 'run --max-failed=1 --yes', 'run --max-failed 1 --yes']) {
      const [line] = stoppedLines(tolerant, { ...view, resume: ownCommand(typed) }, []).slice(-1);
      assert.equal(line, '  or      let it continue: kubectl netsvc-upgrade run --yes --max-failed=2');
    }
  });

  it('that waits for the user has stopped at its last stage', () => {
    const waits = ended({ exit: 'stopped', message: '1 manual step left', stages: [stage('cli', 'done')] });
    assert.equal(stoppedLines(waits, view, [])[0], 'STOPPED at cli');
  });

  it('of a run that was resumed says of which part the time is', () => {
    const outcome = ended({ stages: [stage('verify', 'done'), stage('apply', 'done')], history: history(rollout(['new'], true)) });
    const [line] = runLines(outcome, { ...view, isResumed: true }).slice(-1);
    assert.equal(line, `✔ Calico v3.27.5 → ${CALICO_TARGET} on 1 node in 2m53s since it was resumed`);
  });

  it('of a part of the chain promises nothing: the proof is not in it', () => {
    const lines = runLines(ended({ stages: [stage('crds', 'done'), stage('apply', 'done')] }), view);
    assert.doesNotMatch(lines.join('\n'), /✔/);
  });
});

describe('what can be undone', () => {
  const now = new Date('2026-11-21T02:10:00Z');
  const context = { name: 'context', word: '--context=prod' };
  const undo = (more: Partial<RunRecord>, refused?: string) =>
    undoTexts(record({ backup: '/b', ...more }), { chain, carried: [context], now, refused }).map(plainText);
  const noReturn = { step: 4, point: 'tables' } as const;
  const progress = { stage: 'apply', step: 3, of: 5 };

  it('is nothing where the run has changed nothing of the service', () => {
    assert.deepEqual(undo({ wrote: ['backup'] }), ['nothing to undo: this run has not changed the service']);
  });

  it('is a rollback of all, up to the point of no return', () => {
    const back = 'kubectl netsvc-upgrade rollback --context=prod';
    assert.deepEqual(undo({ wrote: ['backup', 'apply'] }), [`possible: ${back}`]);
    assert.deepEqual(undo({ wrote: ['backup', 'apply'], progress: { ...progress, noReturn } }), [`possible until step 4 of 5: ${back}`]);
  });

  it('gives a rollback no flag that was meant for the way there', () => {
    const meant = ['resolve', 'backup-dir', 'probe'].map((one) => ({ name: one, word: `--${one}=x` }));
    const carried = [context, ...meant];
    const texts = undoTexts(record({ wrote: ['apply'] }), { chain, carried, now, refused: undefined }).map(plainText);
    assert.deepEqual(texts, ['possible: kubectl netsvc-upgrade rollback --context=prod']);
  });

  it('is left to the files of the backup where rollback refuses', () => {
    const [first = '', second, third] = undo({ wrote: ['apply', 'alp'] }, 'In eBPF mode …');
    assert.equal(first, 'only as a manual step, rollback refuses: In eBPF mode …');
    assert.equal(second, '/b/RESTORE.md has the commands, object by object');
    assert.equal(third, 'this part alone: kubectl netsvc-upgrade alp --undo --context=prod');
  });

  it('is none by operator or chart where rollback refuses: the files of the backup are no undo there', () => {
    const intent = { kind: 'upgrade', from: 'v3.31.7', to: 'v3.32.1' } as const;
    for (const path of ['operator', 'chart'] as const)
      assert.deepEqual(undo({ path, wrote: ['apply'], intent }, 'it kept nothing'), [
        'not possible any more (docs/use/going-back.md)',
        'it kept nothing',
      ]);
  });

  it('of a rollback is the way forward again', () => {
    const takesBack = { runId: 'r', from: 'v3.27.5', to: 'v3.32.1', startedAt: '', wrote: ['apply'] };
    assert.deepEqual(undo({ wrote: ['apply'], intent: { kind: 'rollback', to: 'v3.27.5', takesBack } }), [
      'this run goes back itself; forward again, once you accept NS-012 by name: kubectl netsvc-upgrade run --context=prod --release v3.32.1',
    ]);
  });

  it('is nothing by operator or chart once the CRDs are there, as the backup says too', () => {
    for (const path of ['operator', 'chart'] as const)
      assert.deepEqual(undo({ path, wrote: ['ownerrefs-strip', 'crds'] }), [
        'not possible any more (docs/use/going-back.md)',
        NO_RETURNS.crds.long,
        'this part alone: kubectl netsvc-upgrade ownerrefs restore --undo --context=prod',
      ]);
    assert.deepEqual(undo({ path: 'operator', wrote: ['ownerrefs-strip'] }), [
      'possible: kubectl netsvc-upgrade ownerrefs restore --undo --context=prod',
    ]);
  });

  it('leaves the backup on one machine, and all that resumes the run in the cluster', () => {
    const any = 'Any machine can resume this run: what it needs is in the cluster, but for files and scripts that its flags name.';
    assert.equal(keptText({ startedBy: 'anna@host-1' }), any);
    const text = `${any} The backup is only on host-1, in /b: copy it to another machine.`;
    assert.equal(keptText({ startedBy: 'anna@host-1', backup: '/b' }), text);
    assert.equal(keptText({ startedBy: 'bob@host-2', backup: '/b', backupBy: 'anna@host-1' }), text, 'another machine began');
    assert.match(keptText({ startedBy: 'bob@host-2', backup: '/b', resumes: 'r-1' }), /only on the machine that took it, in \/b/);
  });

  it('is one command for objects, references and templates', () => {
    assert.deepEqual(undo({ wrote: ['ownerrefs-strip', 'apply', 'alp'] }), ['possible: kubectl netsvc-upgrade rollback --context=prod']);
  });

  it('is the copy of a policy, whose row has the command', () => {
    assert.deepEqual(undo({ wrote: ['policy'] }), ['possible: the row of policy has the command that creates it again']);
    const other = { ...chain.find(({ id }) => id === 'policy'), id: 'another' } as (typeof chain)[number];
    const [way] = undoTexts(record({ wrote: ['another'] }), { chain: [other], carried: [], now, refused: undefined }).map(plainText);
    assert.equal(way, 'possible: the row of another has the command that creates it again');
  });

  it('says that a run left the backup out', () => {
    const [, second] = undoTexts(record({ wrote: ['apply'] }), { chain, carried: [], now, refused: 'why' }).map(plainText);
    assert.equal(second, 'this run has no backup; see docs/use/going-back.md');
  });

  it('is over after the point of no return, but for parts; an earlier part of the run has other numbers', () => {
    const passed = { point: noReturn.point, at: '2026-11-21T02:05:00Z' };
    assert.deepEqual(undo({ wrote: ['apply', 'alp'], noReturn: passed, progress: { ...progress, step: 5, noReturn } }), [
      'not possible any more since step 4 of 5 (docs/use/going-back.md)',
      'In eBPF mode new agents keep connections in a table that older agents refuse. A node whose agent is new cannot get its old agent back, short of a restart of the node, which was not tried.',
      'this part alone: kubectl netsvc-upgrade alp --undo --context=prod',
    ]);
    assert.match(undo({ wrote: ['apply'], noReturn: passed, progress })[0] ?? '', /^not possible any more since 5m ago \(docs/);
  });

  it('names the steps of a stage that is at work as a range', () => {
    assert.equal(reachedText(progress), 'step 3 of 5');
    assert.equal(reachedText({ ...progress, last: 5 }), 'one of steps 3–5 of 5');
  });
});
