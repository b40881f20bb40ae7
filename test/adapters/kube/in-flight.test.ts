import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { type Answer, InFlight } from '../../../src/adapters/kube/in-flight.ts';

/** So many requests that are sent at once; what is returned answers them. */
function flights(inFlight: InFlight, count: number): (answer: Answer) => void {
  const sent = Array.from({ length: count }, () => {
    assert.equal(inFlight.enter('read'), undefined);
    return inFlight.sent();
  });
  return (answer) => {
    for (const one of sent.splice(0)) inFlight.leave(one, answer);
  };
}

/** So many requests, one after the other, that go well. */
function well(inFlight: InFlight, count: number): void {
  for (let number = 0; number < count; number += 1) flights(inFlight, 1)('good');
}

/** Eight were in flight when they were refused. */
function halved(): InFlight {
  const inFlight = new InFlight();
  flights(inFlight, 8)('too much');
  assert.equal(inFlight.limit, 4);
  return inFlight;
}

describe('requests in flight', () => {
  it('are not limited until the server refuses one', () => {
    const inFlight = new InFlight();
    flights(inFlight, 100)('other');
    assert.equal(inFlight.limit, Number.POSITIVE_INFINITY);
  });

  it('are half as many after those that were refused together, and never none', () => {
    const inFlight = halved();
    flights(inFlight, 4)('too much');
    assert.equal(inFlight.limit, 2);
    flights(inFlight, 2)('too much');
    assert.equal(inFlight.limit, 1);
    flights(inFlight, 1)('too much');
    assert.equal(inFlight.limit, 1);
  });

  it('stay as many where one is refused that is alone, or that others were sent with and have left', () => {
    const inFlight = new InFlight();
    flights(inFlight, 1)('too much');
    assert.equal(inFlight.limit, Number.POSITIVE_INFINITY);
    const all = Array.from({ length: 16 }, () => {
      inFlight.enter('read');
      return inFlight.sent();
    });
    for (const one of all.slice(0, -1)) inFlight.leave(one, 'good');
    inFlight.leave(all.at(-1) ?? assert.fail(), 'too much');
    assert.equal(inFlight.limit, 8);
  });

  it('may be a quarter more after each row of good answers, and in the end as many as ever', () => {
    const inFlight = halved();
    well(inFlight, 31);
    assert.equal(inFlight.limit, 4);
    well(inFlight, 1);
    assert.equal(inFlight.limit, 5);
    well(inFlight, 32 * 4);
    assert.equal(inFlight.limit, 10);
    well(inFlight, 32 * 10);
    assert.equal(inFlight.limit, Number.POSITIVE_INFINITY);
  });

  it('begin a new row where one is refused', () => {
    const inFlight = halved();
    well(inFlight, 31);
    flights(inFlight, 4)('too much');
    well(inFlight, 31);
    assert.equal(inFlight.limit, 2);
  });

  it('above the limit wait for others to leave, the lock first, then writes', async () => {
    const inFlight = halved();
    const answer = flights(inFlight, 4);
    const order: string[] = [];
    const later = (['read', 'write', 'lock'] as const).map((rank) => inFlight.enter(rank)?.then(() => order.push(rank)));
    await turn();
    assert.deepEqual(order, []);
    answer('good');
    await Promise.all(later);
    assert.deepEqual(order, ['lock', 'write', 'read']);
  });
});
