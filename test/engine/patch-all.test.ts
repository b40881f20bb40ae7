import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { type PatchingParts, patchAll } from '../../src/engine/patch-all.ts';
import type { GuardedPatch } from '../../src/kernel/action.ts';
import { Outdated } from '../../src/kernel/fault.ts';
import { K } from '../../src/kernel/kinds.ts';
import { ApiFailure, type Cluster } from '../../src/kernel/ports.ts';
import { steppingClock } from '../support/operator-script.ts';

const OBJECTS = 60;
const patches: readonly GuardedPatch[] = Array.from({ length: OBJECTS }, (_, index) => ({
  target: { apiVersion: 'v1', kind: 'ConfigMap', name: `c${index}`, namespace: 'shop' },
  patch: [],
  uid: `uid-${index}`,
}));

interface Tried {
  readonly done: readonly string[];
  readonly thrown: unknown;
  /** In flight at most. */
  readonly widest: number;
  readonly seconds: number;
}

/** Some objects answer with failures of their own, all others are patched; with `times` these are so many, then they are patched as well. */
async function tried(
  failures: Readonly<Record<string, ApiFailure>>,
  { times = Number.POSITIVE_INFINITY, stopAfter = Number.POSITIVE_INFINITY, limits = {} as PatchingParts['limits'] } = {},
): Promise<Tried> {
  const done: string[] = [];
  const stop = new AbortController();
  const failed = new Map<string, number>();
  const clock = steppingClock();
  let [inFlight, widest] = [0, 0];
  const cluster: Partial<Cluster> = {
    resolve: async () => K.ConfigMap,
    patch: async (_kind, { name }) => {
      inFlight += 1;
      widest = Math.max(widest, inFlight);
      await turn();
      inFlight -= 1;
      const failure = failures[name];
      const before = failed.get(name) ?? 0;
      failed.set(name, before + 1);
      if (failure && before < times) throw failure;
      if (done.push(name) >= stopAfter) stop.abort();
      return {} as never;
    },
  };
  const parts = { limits, mustHold: () => undefined, stop: stop.signal, report: () => undefined };
  const what = { patches, what: 'put back' };
  const thrown = await patchAll({ cluster: cluster as Cluster, clock }, what, parts).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { done, thrown, widest, seconds: clock.seconds() };
}

const forbidden = new ApiFailure(403, 'Forbidden', 'may not patch');
const denied = new ApiFailure(400, 'Unknown', 'admission webhook denied the request');
const invalid = new ApiFailure(422, 'Invalid', 'is invalid', [{ field: 'spec', message: 'immutable' }]);
const unpatched = new ApiFailure(405, 'MethodNotAllowed', 'is not supported');
const movedOn = new ApiFailure(422, 'Invalid', 'testing path /metadata/uid failed');

describe('many patches at once', () => {
  it('are at most 16 in flight, or as many as the user allows', async () => {
    assert.equal((await tried({})).widest, 16);
    assert.equal((await tried({}, { limits: { parallel: 2 } })).widest, 2);
  });

  it('are at most as many per second as the user allows', async () => {
    assert.equal((await tried({})).seconds, 0);
    const { seconds } = await tried({}, { limits: { qps: 10 } });
    assert.ok(Math.abs(seconds - (OBJECTS - 1) / 10) < 0.001, `${seconds}`);
  });

  it('are all sent but the refused ones, which are named together at the end', async () => {
    const { done, thrown } = await tried({ c0: forbidden, c1: denied, c2: invalid, c3: unpatched });
    assert.equal(done.length, OBJECTS - 4);
    assert.ok(thrown instanceof Error && !(thrown instanceof Outdated));
    assert.match(
      thrown.message,
      /^the server refuses 4 of 60 patches: .*c0: may not patch; .*c1: admission webhook .*c2: is invalid; .*c3: is not supported$/,
    );
  });

  it('are planned anew first where an object moved on: that one may still be done', async () => {
    const { done, thrown } = await tried({ c0: forbidden, c1: movedOn });
    assert.deepEqual([done.length, thrown instanceof Outdated], [OBJECTS - 2, true]);
  });

  it('say whether some of them were done when they end early, also where one was refused before', async () => {
    const all = Object.fromEntries(patches.map(({ target }) => [target.name, movedOn]));
    for (const [failures, stopAfter, hasWritten, text] of [
      [{ c0: forbidden }, 5, true, /^stopped after \d+ of 60 objects$/],
      [{ c1: movedOn }, undefined, true, /^1 of 60 objects changed meanwhile/],
      [all, undefined, false, /^60 of 60 objects changed meanwhile/],
    ] as const) {
      const { thrown } = await tried(failures, stopAfter === undefined ? {} : { stopAfter });
      assert.ok(thrown instanceof Outdated, String(thrown));
      assert.match(thrown.message, text);
      assert.equal(thrown.hasWritten, hasWritten, thrown.message);
    }
  });

  it('are sent again where no answer came, or the server was away, but not for ever', async () => {
    const away = new ApiFailure(503, 'ServiceUnavailable', 'away');
    const broken = new ApiFailure(0, 'ECONNRESET', 'the connection was reset');
    assert.equal((await tried({ c0: away, c1: broken }, { times: 2 })).done.length, OBJECTS);
    assert.equal((await tried({ c0: away }, { times: 3 })).thrown, away);
  });

  for (const [what, failure] of [
    ['the credentials are not accepted', new ApiFailure(401, 'Unauthorized', 'who are you?')],
    ['no answer comes', new ApiFailure(0, 'ECONNREFUSED', 'no answer')],
    ['something before the server answers', new ApiFailure(403, 'HTTP 403', 'the proxy says no')],
  ] as const)
    it(`stop at once where ${what}`, async () => {
      const { done, thrown } = await tried(Object.fromEntries(patches.map(({ target }) => [target.name, failure])));
      assert.deepEqual([done, thrown], [[], failure]);
    });
});
