import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { purposeOf, RequestLog } from '../control-plane/proxy-log.ts';
import { removalsTooEarly } from './removal-order.ts';

const MAPS = '/api/v1/namespaces/kube-system/secrets';
const OWN = '?fieldManager=netsvc-upgrade&fieldValidation=Strict';
const HEAD = `${MAPS}/netsvc-upgrade-owners`;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** What the server and the client were told; 0: nothing came. */
  readonly served: number;
  readonly answered: number;
  readonly fault?: string;
}

/** A chunk of this name with one object and one reference of it. */
function chunk(name: string, object: string, owner: string): Sent {
  const lines = [{ entries: 1 }, { object: { uid: object }, references: [{ uid: 'other' }, { uid: owner }], removed: [1] }];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const body = { metadata: { name }, data: { 'entries.jsonl.gz': gzipSync(text).toString('base64') } };
  return { method: 'POST', path: `${MAPS}${OWN}`, body, served: 201, answered: 201 };
}

/** The head is stored, and names these chunks. */
function head(names: readonly string[], served = 200, answered = 200): Sent {
  const journal = { appends: names.map((name) => ({ chunks: [{ name }] })) };
  const body = {
    metadata: { name: 'netsvc-upgrade-owners' },
    data: { 'journal.json': Buffer.from(JSON.stringify({ journal })).toString('base64') },
  };
  return { method: 'PUT', path: `${HEAD}${OWN}`, body, served, answered };
}

const read: Sent = { method: 'GET', path: HEAD, served: 200, answered: 200 };
const place = '/metadata/ownerReferences/1';

function removal(object: string, owner: string): Sent {
  const body = [
    { op: 'test', path: '/metadata/uid', value: object },
    { op: 'test', path: place, value: { uid: owner } },
    { op: 'remove', path: place },
  ];
  return { method: 'PATCH', path: '/api/v1/namespaces/shop/configmaps/owned?fieldManager=kubectl', body, served: 200, answered: 200 };
}

const blind: Sent = { ...removal('a', 'x'), body: [{ op: 'remove', path: place }] };

function logOf(sent: readonly Sent[]) {
  const log = new RequestLog();
  for (const { method, path, body, served, answered, fault } of sent) {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const entry = log.arrive({ method, path, purpose: purposeOf(method, path), userAgent: '', isRepeated: false, ...text });
    if (fault) entry.fault = fault;
    if (served > 0) entry.serverStatus = served;
    if (answered > 0) log.answered(entry, answered);
  }
  return log.requests;
}

describe('removals and the journal', () => {
  const [first, second] = [chunk('c1', 'a', 'x'), chunk('c2', 'b', 'y')];
  const early = /^request \d+ PATCH .* removes \w+, came before its record/;
  const rows: readonly (readonly [string, readonly Sent[], RegExp | undefined])[] = [
    ['the record, then the removal', [first, head(['c1']), removal('a', 'x')], undefined],
    [
      'two records, then what both hold',
      [first, head(['c1']), second, head(['c1', 'c2']), removal('b', 'y'), removal('a', 'x')],
      undefined,
    ],
    ['an answer that was lost, and the head read after it', [first, head(['c1'], 200, 0), read, removal('a', 'x')], undefined],
    [
      'what goes back needs no record',
      [first, head(['c1']), removal('a', 'x'), { ...blind, body: [{ op: 'add', path: place }] }],
      undefined,
    ],
    ['an answer that was lost', [first, head(['c1'], 200, 0), removal('a', 'x')], early],
    ['a record that was refused', [first, head(['c1'], 409, 409), read, removal('a', 'x')], early],
    ['a record that never reached the server', [first, head(['c1'], 0, 0), read, removal('a', 'x')], early],
    ['what was read before it was stored', [first, read, head(['c1'], 200, 0), removal('a', 'x')], early],
    ['what was read was of before', [first, head(['c1'], 200, 0), { ...read, fault: 'stale' }, removal('a', 'x')], early],
    ['the removal first', [removal('a', 'x'), first, head(['c1'])], early],
    ['a second record that came too late', [first, head(['c1']), second, removal('b', 'y'), head(['c1', 'c2'])], early],
    ['the record of another object', [first, head(['c1']), removal('b', 'x')], early],
    ['the record of another reference', [first, head(['c1']), removal('a', 'y')], early],
    ['a chunk that no head names', [first, second, head(['c1']), removal('b', 'y')], early],
    ['nobody says what is removed', [first, head(['c1']), blind], /whatever is there/],
    ['no removal at all', [first, head(['c1'])], /nothing was removed/],
  ];
  for (const [title, sent, complaint] of rows)
    it(`${complaint ? 'are wrong' : 'are right'}: ${title}`, () => {
      const found = removalsTooEarly(logOf(sent)).join('\n');
      if (complaint) assert.match(found, complaint);
      else assert.equal(found, '');
    });
});
