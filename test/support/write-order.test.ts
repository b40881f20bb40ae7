import assert from 'node:assert/strict';
import { type LoggedRequest, purposeOf, RequestLog } from '../control-plane/proxy-log.ts';
import { writesPastProxy, writesTooEarly } from './write-order.ts';

const OWN = '?fieldManager=netsvc-upgrade&fieldValidation=Strict';
const LOCK = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases${OWN}`;
const RECORD = `/api/v1/namespaces/kube-system/secrets${OWN}`;
const AGENT = '/apis/apps/v1/namespaces/kube-system/daemonsets/netsvc-node?fieldManager=kubectl';

/** A run that sends these one after another; status 0: the answer never came. */
function runOf(...sent: readonly (readonly [string, string, number])[]): readonly LoggedRequest[] {
  const log = new RequestLog();
  for (const [method, path, status] of sent) {
    const entry = log.arrive({ method, path, purpose: purposeOf(method, path), userAgent: '', isRepeated: false });
    if (status > 0) log.answered(entry, status);
  }
  return log.requests;
}

describe('the order of writes', () => {
  const rows: readonly (readonly [string, readonly (readonly [string, string, number])[], RegExp | undefined])[] = [
    [
      'lock, record, agent',
      [
        ['POST', LOCK, 201],
        ['POST', RECORD, 201],
        ['PATCH', AGENT, 200],
      ],
      undefined,
    ],
    [
      'questions and dry runs before the lock',
      [
        ['PATCH', `${AGENT}&dryRun=All`, 200],
        ['GET', AGENT, 200],
      ],
      undefined,
    ],
    [
      'the record before the lock',
      [
        ['POST', RECORD, 201],
        ['POST', LOCK, 201],
      ],
      /before the lock/,
    ],
    ['no lock at all', [['POST', RECORD, 201]], /before the lock/],
    [
      'the agent before the record',
      [
        ['POST', LOCK, 201],
        ['PATCH', AGENT, 200],
        ['POST', RECORD, 201],
      ],
      /before the run record/,
    ],
    [
      'the record was refused',
      [
        ['POST', LOCK, 201],
        ['POST', RECORD, 500],
        ['PATCH', AGENT, 200],
      ],
      /before the run record/,
    ],
    [
      'the lock was never answered',
      [
        ['POST', LOCK, 0],
        ['POST', RECORD, 201],
      ],
      /before the lock/,
    ],
    ['only the lock was tried', [['POST', LOCK, 500]], undefined],
    [
      'a Secret of the manifest is no record',
      [
        ['POST', LOCK, 201],
        ['POST', RECORD.replace('netsvc-upgrade', 'kubectl'), 201],
      ],
      /run record/,
    ],
  ];
  for (const [title, sent, complaint] of rows) {
    it(`${complaint ? 'is wrong' : 'is right'}: ${title}`, () => {
      const found = writesTooEarly(runOf(...sent)).join('\n');
      if (complaint) assert.match(found, complaint);
      else assert.equal(found, '');
    });
  }
});

describe('writes past the proxy', () => {
  const line = (auditID: string, userAgent?: string) => JSON.stringify({ auditID, verb: 'patch', requestURI: '/api', userAgent });

  it('are those of tools that the proxy never saw', () => {
    const log = [line('seen', 'kubectl/v1'), line('past', 'kubectl/v1'), line('ground')].join('\n');
    assert.deepEqual(writesPastProxy(`${log}\n`, new Set(['seen'])), ['patch /api by kubectl/v1']);
  });
});
