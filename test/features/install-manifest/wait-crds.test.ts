import assert from 'node:assert/strict';
import { waitCrds } from '../../../src/features/install-manifest/effects.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';

type Answer = ApiFailure | 'absent' | 'new' | 'established' | 'refused';

const CONDITIONS: Readonly<Record<'new' | 'established' | 'refused', readonly object[] | null>> = {
  // As the server says it of one that was created just now.
  new: null,
  established: [
    { type: 'NamesAccepted', status: 'True' },
    { type: 'Established', status: 'True' },
  ],
  refused: [
    { type: 'NamesAccepted', status: 'False', message: 'plural is taken by others.io' },
    { type: 'Established', status: 'False', message: 'not all names are accepted' },
  ],
};

/** A server that gives these answers for each definition one after the other, the last one again and again. Resolves to the questions. */
async function waited(
  answers: Readonly<Record<string, readonly Answer[]>>,
  signal = new AbortController().signal,
): Promise<readonly string[]> {
  const asked: string[] = [];
  let now = 0;
  const clock = {
    now: () => new Date(now),
    async sleep(ms: number) {
      now += ms;
    },
  };
  const get = async (_kind: unknown, name: string): Promise<KubeObject | undefined> => {
    const mine = answers[name] ?? [];
    const answer = mine[Math.min(asked.filter((one) => one === name).length, mine.length - 1)];
    asked.push(name);
    if (answer instanceof ApiFailure) throw answer;
    if (answer === undefined || answer === 'absent') return undefined;
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      status: { conditions: CONDITIONS[answer] },
    };
  };
  const until = { type: 'crds-established', names: Object.keys(answers) } as const;
  await waitCrds({ cluster: { get }, clock }, until, { timeoutMs: 10_000, stop: signal, report: () => undefined });
  return asked;
}

describe('waitCrds', () => {
  it('asks once where every definition is established, and then only for what is not', async () => {
    assert.deepEqual(await waited({ a: ['established'], b: ['established'] }), ['a', 'b']);
    assert.deepEqual(await waited({ a: ['established'], b: ['absent', 'new', 'established'] }), ['a', 'b', 'b', 'b']);
  });

  it('goes on while the API server is away for a moment', async () => {
    const away = new ApiFailure(503, 'ServiceUnavailable', 'later');
    assert.deepEqual(await waited({ a: [away, 'established'] }), ['a', 'a']);
  });

  it('ends at its limit with the definitions and what the server says of them', async () => {
    await assert.rejects(waited({ a: ['established'], b: ['refused'], c: ['absent'] }), (fault: Fault) => {
      assert.ok(fault instanceof Fault);
      assert.equal(fault.code, 'timeout');
      assert.match(fault.message, /b: plural is taken by others\.io; c: does not exist/);
      assert.match(fault.suggestions.join(' '), /kubectl describe crd b/);
      return true;
    });
  });

  it('says at once what the server refuses', async () => {
    await assert.rejects(waited({ a: [new ApiFailure(403, 'Forbidden', 'not allowed')] }), { name: 'ApiFailure', message: 'not allowed' });
  });

  it('ends when a person stops it', async () => {
    await assert.rejects(waited({ a: ['new'] }, AbortSignal.abort()), { name: 'Fault', code: 'interrupted' });
  });
});
