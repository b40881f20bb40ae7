import { within } from '../support/installed-cluster.ts';
import { sweptStore } from '../support/kvstore-back.ts';
import { SOURCES } from '../support/rollback-sweep.ts';

/** Its title says which CLIs it had. */
describe('a rollback from the end of an upgrade, with a real key-value store that asks for client certificates', function () {
  this.timeout(900_000);
  for (const source of SOURCES)
    it(source, async function () {
      await within(sweptStore(source), async (swept) => {
        await swept.forward();
        await swept.rename();
        await swept.refused();
        await swept.putBack();
        await swept.back();
        if (this.test) this.test.title += `: refused while renamed, then equal, with ${swept.programs}`;
      });
    });
});
