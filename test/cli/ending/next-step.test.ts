import assert from 'node:assert/strict';
import { CHAINS } from '../../../src/cli/command-names.ts';
import { type Ending, nextCommand } from '../../../src/cli/ending/next-step.ts';
import type { Finding } from '../../../src/kernel/check.ts';
import { command } from '../../../src/kernel/command.ts';
import { look, seeWhy, stepOf, text } from '../../../src/kernel/step.ts';
import { commandOf } from '../../support/typed-command.ts';

const P = 'kubectl netsvc-upgrade';
const carried = [
  { name: 'context', word: '--context=prod' },
  { name: 'manifest-url', word: '--manifest-url=mirror' },
];
const base: Ending = { exit: 'done', chain: CHAINS.run, carried, typed: 'run --context=prod', findings: [] };
const finding = (id: string, outcome: Finding['outcome'], next?: string): Finding => ({
  ...{ id, title: 't', category: 'nodes', ref: 'r', outcome, message: 'm', evidence: [] },
  ...(next ? { next: commandOf(next) } : {}),
});

describe('the last line', () => {
  const cases: readonly (readonly [string, Partial<Ending>, string])[] = [
    ['goes on after a stage', { chain: CHAINS.crds }, `${P} apply --context=prod --manifest-url=mirror`],
    ['takes references off before the CRDs', { chain: CHAINS.backup }, `${P} ownerrefs strip --context=prod --manifest-url=mirror`],
    [
      'goes on once references are off',
      { chain: CHAINS['ownerrefs strip'], typed: 'ownerrefs --context=prod strip' },
      `${P} crds --context=prod --manifest-url=mirror`,
    ],
    ['puts references back after the rollout', { chain: CHAINS.wait }, `${P} ownerrefs restore --context=prod --manifest-url=mirror`],
    [
      'replaces the CLI then',
      { chain: CHAINS['ownerrefs restore'], typed: 'ownerrefs restore' },
      `${P} cli --context=prod --manifest-url=mirror`,
    ],
    [
      'continues the rollback that a wait alone stood beside',
      { chain: CHAINS.wait, exit: 'timeout', typed: 'wait', resume: commandOf(`${P} rollback --context=prod`) },
      `${P} rollback --context=prod`,
    ],
    ['renews sidecars before it verifies', { chain: CHAINS.cli }, `${P} alp --context=prod --manifest-url=mirror`],
    ['does not go on after an undo', { chain: CHAINS.hep, typed: 'hep --undo' }, `${P} status --context=prod`],
    [
      'runs the plan that was saved, and no other',
      { chain: CHAINS.plan, pending: true, savedPlan: 'my plan.json' },
      `${P} run --context=prod --manifest-url=mirror --plan-file 'my plan.json'`,
    ],
    ['goes from plan to run', { chain: CHAINS.plan, pending: true }, `${P} run --context=prod --manifest-url=mirror`],
    ['goes from an empty plan to verify', { chain: CHAINS.plan, pending: false }, `${P} verify --context=prod --manifest-url=mirror`],
    ['repeats a dry run for real', { chain: CHAINS.apply, dryRun: true, typed: 'apply --dry-run=server -o wide' }, `${P} apply -o wide`],
    ['repeats a dry run for real, written apart', { chain: CHAINS.apply, dryRun: true, typed: 'apply --dry-run client' }, `${P} apply`],
    ['shows the first manual step that a run leaves', { manual: commandOf(`${P} policy`) }, `${P} policy`],
    [
      'shows what a stage that stopped for it leaves',
      { exit: 'stopped', chain: CHAINS.cli, typed: 'cli', manual: commandOf('ls -l /x') },
      'ls -l /x',
    ],
    ['resumes a run that stopped, whatever it left before', { exit: 'stopped', manual: commandOf('ls -l /x') }, `${P} run --context=prod`],
    [
      'goes on after a stage that leaves no more than advice',
      { chain: CHAINS.cli, manual: commandOf('ls') },
      `${P} alp --context=prod --manifest-url=mirror`,
    ],
    ['continues what was interrupted', { exit: 'interrupted' }, `${P} run --context=prod`],
    [
      'asks before it continues, whatever was said before',
      { exit: 'interrupted', typed: 'run --yes --context=prod' },
      `${P} run --context=prod`,
    ],
    ['asks after a dry run', { chain: CHAINS.apply, dryRun: true, typed: 'apply -y --dry-run=server' }, `${P} apply`],
    [
      'repeats a verify that was interrupted, whatever run is unfinished',
      { exit: 'interrupted', chain: CHAINS.verify, typed: 'verify', resume: commandOf(`${P} run`) },
      `${P} verify`,
    ],
    [
      'looks at the run after a verify that failed itself',
      { exit: 'failed', chain: CHAINS.verify, typed: 'verify', resume: commandOf(`${P} run`) },
      `${P} status --context=prod`,
    ],
    [
      'continues the unfinished run after a verify that found it open',
      { exit: 'blocked', chain: CHAINS.verify, resume: commandOf(`${P} run`) },
      `${P} run`,
    ],
    ['continues after a timeout', { exit: 'timeout' }, `${P} run --context=prod`],
    [
      'goes from a wait that took too long to the run, which does what is missing',
      { exit: 'timeout', chain: CHAINS.wait, typed: 'wait' },
      `${P} run --context=prod --manifest-url=mirror`,
    ],
    [
      'looks first at what stopped it',
      {
        exit: 'stopped',
        steps: [stepOf('1 pod failed'), seeWhy(command`kubectl -n a logs b --previous`), seeWhy(command`kubectl -n a describe pod c`)],
      },
      'kubectl -n a logs b --previous',
    ],
    [
      'takes no command for a look that a manual step or somebody’s message ends with',
      {
        exit: 'stopped',
        chain: CHAINS.cli,
        typed: 'cli',
        steps: [
          stepOf(text`Remove it with: ${command`kubectl delete pod -n a calicoctl`}. Then apply it again`),
          stepOf('operator degraded: run: kubectl delete ns a'),
        ],
      },
      `${P} cli`,
    ],
    [
      'takes no command of its own for a look',
      { exit: 'timeout', steps: [look(text`then look at: ${command`kubectl netsvc-upgrade verify`}`)] },
      `${P} run --context=prod`,
    ],
    [
      'shows the plan again where --yes was missing: what asks nobody is not pasted',
      { exit: 'usage' },
      `${P} run --context=prod --dry-run=client`,
    ],
    [
      'leaves out the saved plan there: a dry run does not compare it',
      { exit: 'usage', typed: 'run --plan-file plan.json' },
      `${P} run --dry-run=client`,
    ],
    ['goes from a run to its report, which knows no artifacts', {}, `${P} report --context=prod`],
    ['follows the run that holds the lock', { exit: 'locked' }, `${P} status --watch --context=prod`],
    [
      'goes from the demo to a cluster, changing nothing',
      { chain: CHAINS.demo, carried: [] },
      `${P} preflight   # your own cluster; changes nothing`,
    ],
    [
      'goes from trouble in the demo to a cluster as well',
      { chain: CHAINS.demo, carried: [], exit: 'locked' },
      `${P} preflight   # your own cluster; changes nothing`,
    ],
    ['goes from a part of the chain to what the record says', { carried: [{ name: 'through', word: '--through=crds' }] }, `${P} status`],
    ['follows a check that found the cluster stale', { exit: 'stale', findings: [finding('NS-206', 'error', 'do it')] }, 'do it'],
    ['makes a new plan', { exit: 'stale' }, `${P} plan --context=prod --manifest-url=mirror --out plan.json`],
    [
      'takes the first error that says what to do',
      { exit: 'blocked', findings: [finding('NS-001', 'error'), finding('NS-002', 'error', 'do it')] },
      'do it',
    ],
    [
      'explains an error that does not',
      { exit: 'blocked', findings: [finding('NS-001', 'error'), finding('NS-002', 'warning', 'no')] },
      `${P} explain NS-001`,
    ],
    ['takes a warning under --fail-on=warning', { exit: 'warned', findings: [finding('NS-002', 'warning', 'do it')] }, 'do it'],
    [
      'goes from a preflight to what is asked before an upgrade',
      { chain: CHAINS.preflight, typed: 'preflight', findings: [{ ...finding('NS-606', 'warning', 'ask'), leads: 'before' }] },
      'ask',
    ],
    [
      'leaves that to others after a run',
      { findings: [{ ...finding('NS-606', 'warning', 'ask'), leads: 'before' }] },
      `${P} report --context=prod`,
    ],
    ['goes from a run to what is left after it', { findings: [{ ...finding('NS-301', 'warning', 'do it'), leads: 'after' }] }, 'do it'],
    ['never is empty', { exit: 'blocked' }, `${P} preflight --context=prod --manifest-url=mirror`],
  ];
  for (const [title, ending, line] of cases) it(title, () => assert.equal(String(nextCommand({ ...base, ...ending })), line));

  it('is forget after owner references were put back because the upgrade is called off', () => {
    const ending = {
      exit: 'done',
      chain: CHAINS['ownerrefs restore'],
      carried: [],
      typed: 'ownerrefs restore --undo',
      findings: [],
    } as const;
    assert.equal(String(nextCommand(ending)), 'kubectl netsvc-upgrade ownerrefs forget');
  });
});
