import { BETWEEN_SERVER, LATER_SERVER, NEW_SERVER, OLD_SERVER } from '../control-plane/service-objects.ts';
import { describeOwnerWay, ofPolicy, ofV3OrPolicy } from '../support/describe-owner-way.ts';
import { ALL, OF_POLICIES } from '../support/v3-owned-objects.ts';

/** The longer list is in `npm run test:full` (`owner-ways.test.ts`). The played API server answers as the service's sources say of each release. */
describeOwnerWay({
  title: 'from v3.26 to v3.32',
  ...{ installed: ['v3.26.5', 'calico.yaml'], servers: [OLD_SERVER, OLD_SERVER, NEW_SERVER], policies: 'renamed' },
  ...{ dead: ofV3OrPolicy, removed: ofV3OrPolicy, notedDying: OF_POLICIES },
});

describeOwnerWay({
  title: 'from v3.27.5, which notes the UIDs that it shows, to v3.32',
  ...{ installed: ['v3.27.5', 'calico.yaml'], servers: [BETWEEN_SERVER, BETWEEN_SERVER, NEW_SERVER], policies: 'renamed' },
  ...{ dead: ofPolicy, removed: ofPolicy, notedDying: ALL },
});

describeOwnerWay({
  title: 'from v3.30 to v3.32',
  ...{ installed: ['v3.30.7', 'calico.yaml'], servers: [LATER_SERVER, LATER_SERVER, NEW_SERVER], policies: 'renamed' },
  ...{ dead: ofPolicy, removed: ofPolicy, notedDying: OF_POLICIES },
});
