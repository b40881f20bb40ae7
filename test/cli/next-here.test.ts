import assert from 'node:assert/strict';
import { findingsHere, nextHere } from '../../src/cli/next-here.ts';
import type { Finding } from '../../src/kernel/check.ts';

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
    'kubectl netsvc-upgrade preflight --release v3.32.1',
    'kubectl netsvc-upgrade preflight --context=prod --manifest-url=mirror --release v3.32.1',
  ],
  ['one that knows no artifacts', 'kubectl netsvc-upgrade unlock', 'kubectl netsvc-upgrade unlock --context=prod --release=v3.31.2'],
  ['a command of kubectl', 'kubectl describe node n1', 'kubectl --context=prod describe node n1'],
  ['a command that needs no cluster', 'kubectl netsvc-upgrade explain NS-105', 'kubectl netsvc-upgrade explain NS-105'],
  ['a command of another program', 'helm version', 'helm version'],
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
        next,
      };
      return findingsHere([one], { carried: here, commands: ['wait'] })[0]?.next;
    };
    assert.equal(nextOf('kubectl netsvc-upgrade alp --dry-run=server'), 'kubectl netsvc-upgrade explain NS-702');
    assert.match(nextOf('kubectl netsvc-upgrade wait') ?? '', /^kubectl netsvc-upgrade wait --context=prod /);
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
    assert.deepEqual(findingsHere([passed, { ...passed, next: 'kubectl version' }], { carried: here, commands: [] }), [
      passed,
      { ...passed, next: 'kubectl --context=prod version' },
    ]);
  });
});
