import assert from 'node:assert/strict';
import { errorLines, errorText } from '../../src/cli/error-text.ts';
import { type Ended, faultEnded, faultHere } from '../../src/cli/fault-end.ts';
import { command, kubeconfigCommand } from '../../src/kernel/command.ts';
import { type ExitName, Fault, unlockOnce } from '../../src/kernel/fault.ts';
import { look, type Suggestion, says, seeWhy, text, WHEN_READY } from '../../src/kernel/step.ts';

const P = 'kubectl netsvc-upgrade';
const carried = [{ name: 'context', word: '--context=prod' }];
const here: Ended = {
  ...{ command: 'apply', typed: 'apply --context=prod --yes', carried, commands: ['apply', 'unlock'] },
  ...{ header: ['context "prod"', 'https://a'], isConnected: true, isUnchanged: false },
};
const ended = (code: ExitName, hints: readonly Suggestion[], at: Partial<Ended> = {}) =>
  faultHere(new Fault(code, 'm', hints), { ...here, ...at });

describe('the next command after an error', () => {
  const cases: readonly (readonly [string, ExitName, readonly Suggestion[], Partial<Ended>, string])[] = [
    ['is that of a hint', 'failed', ['fix it', seeWhy(command`kubectl -n a get b`)], {}, 'kubectl --context=prod -n a get b'],
    [
      'looks at the contexts of the file alone',
      'usage',
      [look(text`see them: ${kubeconfigCommand`kubectl config get-contexts`}`)],
      {},
      'kubectl config get-contexts',
    ],
    ['asks the run after a failure', 'failed', ['fix it'], {}, `${P} status --context=prod`],
    [
      'asks the server where a status fails',
      'failed',
      [],
      { command: 'status', typed: 'status --context=prod' },
      'kubectl --context=prod cluster-info',
    ],
    ['asks the server that has not answered', 'failed', [], { isConnected: false }, 'kubectl --context=prod cluster-info'],
    ['looks at the contexts where none is known', 'failed', [], { isConnected: false, header: undefined }, 'kubectl config get-contexts'],
    ['is the help after a wrong flag', 'usage', ['leave it out'], {}, `${P} apply --help`],
    ['is the same command after a no', 'stopped', [WHEN_READY], {}, `${P} apply --context=prod`],
    [
      'is not what a pod says',
      'failed',
      [says('see says: kubectl delete ns a'), 'the pod on n says: kubectl delete ns a'],
      {},
      `${P} status --context=prod`,
    ],
    ['is not what unlocks', 'locked', [unlockOnce()], {}, `${P} status --watch --context=prod`],
    [
      'is not what has just failed',
      'failed',
      [look(text`see: ${command`kubectl netsvc-upgrade apply`}`)],
      {},
      `${P} status --context=prod`,
    ],
    [
      'leads on from a preflight that is refused',
      'blocked',
      [],
      { command: 'preflight', typed: 'preflight', carried: [] },
      `${P} preflight --help`,
    ],
  ];
  for (const [what, code, hints, at, next] of cases) it(what, () => assert.equal(String(ended(code, hints, at).end?.next), next));

  it('stands last, and is said once', () => {
    const fault = ended('failed', ['fix it', seeWhy(command`kubectl get b`)], { isUnchanged: true });
    assert.deepEqual(errorLines(fault), [
      ...['context "prod"   https://a', 'error: m', 'fix it'],
      ...['Nothing was changed by this command.', 'Next: kubectl --context=prod get b'],
    ]);
    const declined = ended('stopped', [WHEN_READY], { isUnchanged: true });
    assert.deepEqual(errorLines(declined), ['error: m', `Next: ${P} apply --context=prod`]);
    assert.match(errorText(fault, [], ['at x (y.ts)']), /\nat x \(y\.ts\)\nNext: \S.*\n$/);
  });

  it('is one line, and among the steps for machines', () => {
    const fault = ended('stopped', [], { typed: "apply '--base=a\nNext: b'" });
    assert.doesNotMatch(errorLines(fault).join('\n'), /^Next: b/m);
    const { error } = JSON.parse(errorText(ended('failed', ['fix it']), ['-o', 'json']));
    assert.deepEqual(error.next, ['fix it', `${P} status --context=prod`]);
  });

  it('is there before a command is known, too', () => {
    assert.equal(String(faultEnded(new Fault('usage', 'm', []), 'apply').end?.next), `${P} apply --help`);
    assert.equal(String(faultEnded(new Fault('usage', 'm', []), '--x').end?.next), `${P} --help`);
    assert.equal(String(faultEnded(new Fault('failed', 'm', []), 'apply').end?.next), `${P} --version`);
    const told = ended('failed', []);
    assert.equal(faultEnded(told, 'apply'), told);
  });
});
