import assert from 'node:assert/strict';
import { Fault, stepsAfter } from '../../src/kernel/fault.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';

describe('what to do after a failure', () => {
  const cases: readonly (readonly [string, unknown, RegExp])[] = [
    ['a fault says itself', new Fault('failed', 'no room', ['make some']), /^make some$/],
    ['a full etcd', new ApiFailure(500, 'InternalError', 'etcdserver: mvcc: database space exceeded'), /^make room in etcd: .*NOSPACE/],
    [
      'a missing permission',
      new ApiFailure(403, 'Forbidden', 'may not'),
      /^print the roles .*: kubectl netsvc-upgrade permissions --for run; once /,
    ],
    [
      'a server that is away',
      new ApiFailure(0, 'ECONNREFUSED', 'no answer'),
      /^see whether the API server answers: kubectl cluster-info; then run the same/,
    ],
    ['a server that fails', new ApiFailure(500, 'InternalError', 'oh'), /^run the same command again$/],
  ];
  for (const [what, thrown, wanted] of cases) it(`names the next step: ${what}`, () => assert.match(stepsAfter(thrown).join('; '), wanted));

  it('promises nothing of a defect', () => assert.deepEqual(stepsAfter(new TypeError('x is undefined')), []));
});
