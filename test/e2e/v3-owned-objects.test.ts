import { NEW_SERVER, OLD_SERVER } from '../control-plane/service-objects.ts';
import { describeOwnerWay, ofV3OrPolicy } from '../support/describe-owner-way.ts';
import { OF_POLICIES } from '../support/v3-owned-objects.ts';

/** The longer list is in `npm run test:full` (`owner-ways.test.ts`). The played API server answers as the service's sources say of each release. */
describeOwnerWay({
  title: 'from v3.26 to v3.32',
  ...{ installed: ['v3.26.5', 'calico.yaml'], servers: [OLD_SERVER, OLD_SERVER, NEW_SERVER], policies: 'renamed' },
  ...{ dead: ofV3OrPolicy, removed: ofV3OrPolicy, notedDying: OF_POLICIES },
});
