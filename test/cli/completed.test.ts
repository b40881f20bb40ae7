import assert from 'node:assert/strict';
import { findingsHere, nextHere, outcomeHere, textHere } from '../../src/cli/carried.ts';
import { type Command, command } from '../../src/kernel/argv.ts';
import type { Finding } from '../../src/kernel/check.ts';
import type { PlannedStage } from '../../src/kernel/plan.ts';
import { CALICO_TARGET } from '../support/target.ts';

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
    'kubectl netsvc-upgrade permissions --release=v3.31.2 --for run --profile calico --path chart',
  ],
  ['one that knows no artifacts', 'kubectl netsvc-upgrade unlock', 'kubectl netsvc-upgrade unlock --context=prod --release=v3.31.2'],
  ['a command of kubectl', 'kubectl describe node n1', 'kubectl --context=prod describe node n1'],
  ['a command that needs no cluster', 'kubectl netsvc-upgrade explain NS-105', 'kubectl netsvc-upgrade explain NS-105'],
  ['a command of another program', 'helm version', 'helm version'],
  [
    'a command behind a pipe',
    'kubectl get x -o yaml | kubectl replace --dry-run=server -f -',
    'kubectl --context=prod get x -o yaml | kubectl --context=prod replace --dry-run=server -f -',
  ],
  ['a command of helm, by its own names', 'helm history calico --namespace n', 'helm --kube-context=prod history calico --namespace n'],
];

const COMMANDS = ['run', 'status', 'unlock', 'verify', 'ownerrefs'];
/** What is said to a person in sentences: hints, suggestions of errors, notes of a plan. */
const SENTENCES: readonly (readonly [what: string, text: string, expected: string])[] = [
  [
    'a command at the end',
    'look who runs: kubectl netsvc-upgrade status',
    'look who runs: kubectl netsvc-upgrade status --context=prod --release=v3.31.2',
  ],
  [
    'two commands, each with what it does not say itself',
    'first kubectl netsvc-upgrade ownerrefs strip --release v1; then kubectl netsvc-upgrade unlock',
    'first kubectl netsvc-upgrade ownerrefs --context=prod --manifest-url=mirror strip --release v1; then kubectl netsvc-upgrade unlock --context=prod --release=v3.31.2',
  ],
  [
    'one that deletes',
    'once nothing uses it: kubectl delete secret s -n kube-system',
    'once nothing uses it: kubectl --context=prod delete secret s -n kube-system',
  ],
  [
    'one behind xargs',
    'kubectl api-resources -o name | xargs -n 1 kubectl get -n a',
    'kubectl --context=prod api-resources -o name | xargs -n 1 kubectl --context=prod get -n a',
  ],
  [
    'a namespace before the verb',
    'then delete it: kubectl -n a get secrets -o name | xargs kubectl -n a delete',
    'then delete it: kubectl --context=prod -n a get secrets -o name | xargs kubectl --context=prod -n a delete',
  ],
  [
    'the name of the program',
    'use the version of kubectl netsvc-upgrade that wrote it',
    'use the version of kubectl netsvc-upgrade that wrote it',
  ],
  ['words about kubectl', 'install kubectl and put it on PATH', 'install kubectl and put it on PATH'],
  ['a field manager', 'kubectl-edit and client-side kubectl', 'kubectl-edit and client-side kubectl'],
];

describe('the next step of a finding', () => {
  for (const [what, next, expected] of TABLE)
    it(`leads to the cluster that was judged: ${what}`, () => assert.equal(nextHere(next, here), expected));

  it('stays as it is where nothing was given on the command line', () => {
    for (const [, next] of TABLE) assert.equal(nextHere(next, []), next);
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
        next: next as Command,
      };
      return findingsHere([one], { typed: 'plan', carried: here, commands: ['wait'] })[0]?.next;
    };
    assert.equal(nextOf('kubectl netsvc-upgrade alp --dry-run=server'), 'kubectl netsvc-upgrade explain NS-702');
    assert.match(nextOf('kubectl netsvc-upgrade wait') ?? '', /^kubectl netsvc-upgrade wait --context=prod /);
  });

  for (const [what, text, expected] of SENTENCES)
    it(`and so does a sentence with ${what}`, () => {
      assert.equal(textHere(text, { typed: 'plan', carried: here, commands: COMMANDS }), expected);
      assert.equal(textHere(text, { typed: 'plan', carried: [], commands: COMMANDS }), text);
    });

  it('is in everything that the end of a command suggests, and in an error', () => {
    const [said, meant] = ['kubectl delete crd a', 'kubectl --context=prod delete crd a'];
    const ask = { id: 'a', title: 't', ref: '§1', undo: 'full', effect: { type: 'ask', instruction: said } } as const;
    const ref = { apiVersion: 'v1', kind: 'Secret', name: 's' };
    const left = { ref, change: 'left-behind', fields: [], hidden: [], taken: [], note: said } as const;
    const plan: PlannedStage = { id: 's', title: 't', ref: '§1', actions: [ask], objects: [left], notes: [said] };
    const finding: Finding = {
      ...{ id: 'NS-001', title: 't', category: 'kubernetes', ref: '§1', outcome: 'error', message: 'm', evidence: [] },
      hint: said,
    };
    const { findings, plans, suggestions } = outcomeHere(
      { findings: [finding], plans: [plan], suggestions: [said] },
      { typed: 'plan', carried: here, commands: [] },
    );
    const effect = plans[0]?.actions[0]?.effect;
    assert.deepEqual(
      [findings[0]?.hint, plans[0]?.notes[0], plans[0]?.objects[0]?.note, effect?.type === 'ask' && effect.instruction, suggestions[0]],
      [meant, meant, meant, meant, meant],
    );
  });

  it('is the page of the check where it is the command that has just ended, however that was written', () => {
    const one = { id: 'NS-202', title: 't', category: 'manifest', ref: '§4.4', outcome: 'error', message: 'm', evidence: [] } as const;
    const nextAfter = (typed: string) =>
      findingsHere([{ ...one, next: command`kubectl netsvc-upgrade plan -o wide` }], {
        typed,
        carried: [{ name: 'context', word: '--context=prod' }],
        commands: ['plan'],
      })[0]?.next;
    for (const typed of [
      'plan --output wide --context prod',
      'plan --context=prod -o=wide --report-file x.html -q',
      'plan -o wide --context=prod --yes',
    ])
      assert.equal(nextAfter(typed), 'kubectl netsvc-upgrade explain NS-202', typed);
    for (const typed of ['plan --context=prod', 'run -o wide --context=prod', 'plan -o wide --context=other'])
      assert.equal(nextAfter(typed), 'kubectl netsvc-upgrade plan --context=prod -o wide', typed);
  });

  it('adds to a flag that may be given more than once', () => {
    const carried = [
      { name: 'accept', word: '--accept=NS-110' },
      { name: 'values', word: '--values=a.yaml' },
    ];
    assert.equal(
      nextHere('kubectl netsvc-upgrade plan --accept NS-251 --values FILE', carried),
      'kubectl netsvc-upgrade plan --accept=NS-110 --accept NS-251 --values FILE',
    );
  });

  it('is added to no finding that has none', () => {
    const passed: Finding = { id: 'NS-001', title: 't', category: 'kubernetes', ref: '§1', outcome: 'ok', message: 'm', evidence: [] };
    assert.deepEqual(
      findingsHere([passed, { ...passed, next: command`kubectl version` }], { typed: 'plan', carried: here, commands: [] }),
      [passed, { ...passed, next: 'kubectl --context=prod version' }],
    );
  });
});
