import assert from 'node:assert/strict';
import { killedThere, killPoints } from '../support/killed-commands.ts';
import { STORIES, type StoryName } from '../support/killed-stories.ts';
import { sampled } from '../support/owner-sweep.ts';
import { seedOf } from '../support/seed.ts';

const SAMPLE = Number(process.env.SAMPLE) || 8;
const seed = seedOf(process.env, 20261130);

/** All of them are in the full suite. */
describe(`a command that is killed, at ${SAMPLE} of its requests (SEED=${seed})`, function () {
  this.timeout(240_000);

  for (const name of Object.keys(STORIES) as StoryName[])
    it(`replaces no agent that nobody chose, names what is left, and comes to its end: ${name}`, async () => {
      const points = await killPoints(name);
      // Most requests only read: half of the sample is around those that change something.
      const around = points.filter(({ kill, among }) => kill === 'after' || among === 'writes');
      const some = new Set([...sampled(around, SAMPLE / 2, seed), ...sampled(points, SAMPLE / 2, seed)]);
      const failures: string[] = [];
      for (const point of some) await killedThere(name, point).catch((thrown: unknown) => void failures.push(String(thrown)));
      assert.deepEqual(failures, []);
    });
});
