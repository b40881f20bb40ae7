import assert from 'node:assert/strict';
import { killedThere, killPoints } from '../support/killed-commands.ts';
import { STORIES, type StoryName } from '../support/killed-stories.ts';

/** In memory: before and after every request, every write of kubectl and every command of the user. */
describe('a command that is killed, before and after each of its requests', function () {
  this.timeout(7_200_000);

  for (const name of Object.keys(STORIES) as StoryName[])
    it(`replaces no agent that nobody chose, names what is left, and comes to its end: ${name}`, async () => {
      const points = await killPoints(name);
      const failures: string[] = [];
      for (const point of points) await killedThere(name, point).catch((thrown: unknown) => void failures.push(String(thrown)));
      assert.deepEqual(failures, []);
      assert.ok(points.length > 100, `only ${points.length} points`);
    });
});
