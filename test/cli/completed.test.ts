import assert from 'node:assert/strict';
import { commandHere, findingsHere, outcomeHere, textHere } from '../../src/cli/carried.ts';
import type { Finding } from '../../src/kernel/check.ts';
import { type Command, command, kubeconfigCommand, localCommand, repairCommand } from '../../src/kernel/command.ts';
import { advised } from '../../src/kernel/judge.ts';
import type { PlannedStage } from '../../src/kernel/plan.ts';
import { stepOf, type Text, text } from '../../src/kernel/step.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { commandOf } from '../support/typed-command.ts';

const here = [
  { name: 'context', word: '--context=prod' },
  { name: 'release', word: '--release=v3.31.2' },
  { name: 'manifest-url', word: '--manifest-url=mirror' },
];

const TABLE: readonly (readonly [what: string, next: string, expected: string])[] = [
  [
    'a command of this program',
    'kubectl netsvc-upgrade wait',
    'kubectl netsvc-upgrade wait --context=prod --release=v3.31.2 --manifest-url=mirror',
  ],
  [
    'one with flags of its own: most may be given once',
    `kubectl netsvc-upgrade preflight --release ${CALICO_TARGET}`,
    `kubectl netsvc-upgrade preflight --context=prod --manifest-url=mirror --release ${CALICO_TARGET}`,
  ],
  [
    'one with the name of a profile',
    'kubectl netsvc-upgrade permissions --for run --profile calico --path chart',
    'kubectl netsvc-upgrade permissions --context=prod --release=v3.31.2 --for run --profile calico --path chart',
  ],
  ['one that knows no artifacts', 'kubectl netsvc-upgrade unlock', 'kubectl netsvc-upgrade unlock --context=prod --release=v3.31.2'],
  ['a command of kubectl', 'kubectl describe node n1', 'kubectl --context=prod describe node n1'],
  ['a command that needs no cluster', 'kubectl netsvc-upgrade explain NS-105', 'kubectl netsvc-upgrade explain NS-105'],
  [
    'a command behind a pipe',
    'kubectl get x -o yaml | kubectl replace --dry-run=server -f -',
    'kubectl --context=prod get x -o yaml | kubectl --context=prod replace --dry-run=server -f -',
  ],
  ['a command of helm, by its own names', 'helm history calico --namespace n', 'helm --kube-context=prod history calico --namespace n'],
];

/** Those that ask no cluster, or only the file that names it. */
const LOCAL: readonly (readonly [what: string, next: Command, expected: string])[] = [
  ['that asks no cluster', localCommand`helm version`, 'helm version'],
  ['that reads the file alone', kubeconfigCommand`kubectl config get-contexts`, 'kubectl --kubeconfig=f config get-contexts'],
];

const COMMANDS = ['run', 'status', 'unlock', 'verify', 'ownerrefs'];
/** What is said to a person in sentences: hints, steps of errors, notes of a plan. */
const SENTENCES: readonly (readonly [what: string, said: Text | string, expected: string])[] = [
  [
    'a command at the end',
    text`look who runs: ${command`kubectl netsvc-upgrade status`}`,
    'look who runs: kubectl netsvc-upgrade status --context=prod --release=v3.31.2',
  ],
  [
    'two commands, each with what it does not say itself',
    text`first ${command`kubectl netsvc-upgrade ownerrefs strip --release v1`}; then ${command`kubectl netsvc-upgrade unlock`}`,
    'first kubectl netsvc-upgrade ownerrefs --context=prod --manifest-url=mirror strip --release v1; then kubectl netsvc-upgrade unlock --context=prod --release=v3.31.2',
  ],
  [
    'one that deletes',
    text`once nothing uses it: ${repairCommand`kubectl delete secret s -n kube-system`}`,
    'once nothing uses it: kubectl --context=prod delete secret s -n kube-system',
  ],
  [
    'one behind xargs',
    text`${command`kubectl api-resources -o name | xargs -n 1 kubectl get -n a`}`,
    'kubectl --context=prod api-resources -o name | xargs -n 1 kubectl --context=prod get -n a',
  ],
  [
    'a namespace before the verb',
    text`then delete it: ${repairCommand`kubectl -n a get secrets -o name | xargs kubectl -n a delete`}`,
    'then delete it: kubectl --context=prod -n a get secrets -o name | xargs kubectl --context=prod -n a delete',
  ],
  ['what only looks like one', 'b says: kubectl delete ns a', 'b says: kubectl delete ns a'],
];

describe('the next step of a finding', () => {
  it('leads forward in an upgrade, and on with the rollback in a rollback', () => {
    const one: Finding = {
      ...{ id: 'NS-304', title: 't', category: 'result', ref: '§1', outcome: 'error', message: 'm', evidence: [] },
      ...advised([], command`kubectl netsvc-upgrade apply`),
    };
    const next = (intent: 'upgrade' | 'rollback') =>
      `${findingsHere([one], { typed: 'verify', carried: here, commands: ['apply', 'rollback'], chain: { intent } })[0]?.next}`;
    assert.equal(next('upgrade'), 'kubectl netsvc-upgrade apply --context=prod --release=v3.31.2 --manifest-url=mirror');
    assert.equal(next('rollback'), 'kubectl netsvc-upgrade rollback --context=prod --manifest-url=mirror');
  });

  it('of a hint as well: what continues it is the rollback, with what is accepted and without flags of the way there', () => {
    const said = text`or continue: ${command`kubectl netsvc-upgrade run --accept NS-206 --release v3.32.1`}; see ${command`kubectl netsvc-upgrade ownerrefs list`}, ${command`kubectl netsvc-upgrade wait`}`;
    const hint = (intent: 'upgrade' | 'rollback') =>
      `${textHere(said, { typed: 'rollback', carried: [], commands: ['run', 'wait', 'ownerrefs'], chain: { intent } })}`;
    const P = 'kubectl netsvc-upgrade';
    assert.equal(hint('upgrade'), `or continue: ${P} run --accept NS-206 --release v3.32.1; see ${P} ownerrefs list, ${P} wait`);
    assert.equal(hint('rollback'), `or continue: ${P} rollback --accept NS-206; see ${P} ownerrefs list, ${P} rollback`);
  });

  it('is a plan of the rollback in a rollback', () => {
    const one: Finding = {
      ...{ id: 'NS-201', title: 't', category: 'manifest', ref: '§1', outcome: 'error', message: 'm', evidence: [] },
      ...advised([], command`kubectl netsvc-upgrade plan -o wide`),
    };
    const next = (intent: 'upgrade' | 'rollback') =>
      `${findingsHere([one], { typed: 'rollback', carried: [], commands: ['plan'], chain: { intent } })[0]?.next}`;
    assert.deepEqual(
      [next('upgrade'), next('rollback')],
      ['kubectl netsvc-upgrade plan -o wide', 'kubectl netsvc-upgrade plan -o wide --rollback'],
    );
  });

  for (const [what, next, expected] of TABLE)
    it(`leads to the cluster that was judged: ${what}`, () => assert.equal(String(commandHere(commandOf(next), here)), expected));

  for (const [what, next, expected] of LOCAL)
    it(`is given no more than it can use, if it is one ${what}`, () => {
      assert.equal(String(commandHere(next, [{ name: 'kubeconfig', word: '--kubeconfig=f' }, ...here])), expected);
    });

  it('stays as it is where nothing was given on the command line', () => {
    for (const [, next] of TABLE) assert.equal(String(commandHere(commandOf(next), [])), next);
  });

  it('is the page of the check where this version has no such command', () => {
    const nextOf = (next: string) => {
      const one: Finding = {
        id: 'NS-702',
        title: 't',
        category: 'follow-up',
        ref: '§4.6',
        outcome: 'warning',
        message: 'm',
        evidence: [],
        ...advised([], commandOf(next)),
      };
      return findingsHere([one], { typed: 'plan', carried: here, commands: ['wait'] })[0]?.next;
    };
    assert.equal(String(nextOf('kubectl netsvc-upgrade alp --dry-run=server')), 'kubectl netsvc-upgrade explain NS-702');
    assert.match(String(nextOf('kubectl netsvc-upgrade wait') ?? ''), /^kubectl netsvc-upgrade wait --context=prod /);
  });

  for (const [what, said, expected] of SENTENCES)
    it(`and so does a sentence with ${what}`, () => {
      assert.equal(String(textHere(said, { typed: 'plan', carried: here, commands: COMMANDS })), expected);
      assert.equal(String(textHere(said, { typed: 'plan', carried: [], commands: COMMANDS })), String(said));
    });

  it('is in everything that the end of a command suggests, and in an error', () => {
    const [said, meant] = [text`${repairCommand`kubectl delete crd a`}`, 'kubectl --context=prod delete crd a'];
    const ask = { id: 'a', title: 't', ref: '§1', undo: 'full', effect: { type: 'ask', instruction: said } } as const;
    const ref = { apiVersion: 'v1', kind: 'Secret', name: 's' };
    const left = { ref, change: 'left-behind', fields: [], hidden: [], taken: [], note: said } as const;
    const plan: PlannedStage = { id: 's', title: 't', ref: '§1', actions: [ask], objects: [left], notes: [said] };
    const finding: Finding = {
      ...{ id: 'NS-001', title: 't', category: 'kubernetes', ref: '§1', outcome: 'error', message: 'm', evidence: [] },
      ...advised([said], undefined),
    };
    const { findings, plans, steps } = outcomeHere(
      { findings: [finding], plans: [plan], steps: [stepOf(said)] },
      { typed: 'plan', carried: here, commands: [] },
    );
    const effect = plans[0]?.actions[0]?.effect;
    assert.deepEqual(
      [findings[0]?.hint, plans[0]?.notes[0], plans[0]?.objects[0]?.note, effect?.type === 'ask' && effect.instruction, steps[0]].map(
        String,
      ),
      [meant, meant, meant, meant, meant],
    );
  });

  it('is the page of the check where it is the command that has just ended, however that was written', () => {
    const one = { id: 'NS-202', title: 't', category: 'manifest', ref: '§4.4', outcome: 'error', message: 'm', evidence: [] } as const;
    const nextAfter = (typed: string) =>
      findingsHere([{ ...one, ...advised([], command`kubectl netsvc-upgrade plan -o wide`) }], {
        typed,
        carried: [{ name: 'context', word: '--context=prod' }],
        commands: ['plan'],
      })[0]?.next;
    for (const typed of [
      'plan --output wide --context prod',
      'plan --context=prod -o=wide --report-file x.html -q',
      'plan -o wide --context=prod --yes',
    ])
      assert.equal(String(nextAfter(typed)), 'kubectl netsvc-upgrade explain NS-202', typed);
    for (const typed of ['plan --context=prod', 'run -o wide --context=prod', 'plan -o wide --context=other'])
      assert.equal(String(nextAfter(typed)), 'kubectl netsvc-upgrade plan --context=prod -o wide', typed);
  });

  it('adds to a flag that may be given more than once', () => {
    const carried = [
      { name: 'accept', word: '--accept=NS-110' },
      { name: 'values', word: '--values=a.yaml' },
    ];
    assert.equal(
      String(commandHere(commandOf('kubectl netsvc-upgrade plan --accept NS-251 --values FILE'), carried)),
      'kubectl netsvc-upgrade plan --accept=NS-110 --accept NS-251 --values FILE',
    );
  });

  it('is added to no finding that has none', () => {
    const passed: Finding = { id: 'NS-001', title: 't', category: 'kubernetes', ref: '§1', outcome: 'ok', message: 'm', evidence: [] };
    const [first, second] = findingsHere([passed, { ...passed, ...advised([], command`kubectl version`) }], {
      typed: 'plan',
      carried: here,
      commands: [],
    });
    assert.deepEqual([first, String(second?.next)], [passed, 'kubectl --context=prod version']);
  });
});
