import assert from 'node:assert/strict';
import { killedThere, killPoints, STORIES } from '../support/canary-requests.ts';

/** On the sandbox: every request, and every write of kubectl. */
describe('a canary that is killed before and after each request', function () {
  this.timeout(3_600_000);

  for (const story of STORIES)
    it(`replaces no agent that nobody chose, and comes to the same end: one that ${story}`, async () => {
      const points = await killPoints(story);
      const failures: string[] = [];
      for (const point of points) await killedThere(story, point).catch((thrown: unknown) => void failures.push(String(thrown)));
      assert.deepEqual(failures, []);
      assert.ok(points.length > 100, `only ${points.length} points`);
    });
});
