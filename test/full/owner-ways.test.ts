import { BETWEEN_SERVER, LATER_SERVER, NEW_SERVER, OLD_SERVER } from '../control-plane/service-objects.ts';
import { describeOwnerWay, ofNone, ofPolicy, ofV3, ofV3OrPolicy, ofV3Policy } from '../support/describe-owner-way.ts';
import { ALL, OF_POLICIES } from '../support/v3-owned-objects.ts';

for (const [title, release] of [
  ['v3.15', 'v3.15.5'],
  ['v3.27', 'v3.27.2'],
] as const)
  describeOwnerWay({
    title: `from ${title} to v3.32`,
    ...{ installed: [release, 'calico.yaml'], servers: [OLD_SERVER, OLD_SERVER, NEW_SERVER], policies: 'renamed' },
    ...{ dead: ofV3OrPolicy, removed: ofV3OrPolicy, notedDying: OF_POLICIES },
  });

describeOwnerWay({
  title: 'from v3.27.5, which notes the UIDs that it shows, to v3.32',
  ...{ installed: ['v3.27.5', 'calico.yaml'], servers: [BETWEEN_SERVER, BETWEEN_SERVER, NEW_SERVER], policies: 'renamed' },
  ...{ dead: ofPolicy, removed: ofPolicy, notedDying: ALL },
});

describeOwnerWay({
  title: 'from v3.26 to v3.27.5',
  ...{ installed: ['v3.26.5', 'calico.yaml'], release: 'v3.27.5', policies: 'as they are' },
  ...{ servers: [OLD_SERVER, OLD_SERVER, BETWEEN_SERVER], dead: ofV3, removed: ofV3, notedDying: ALL },
});

for (const [title, release, file] of [
  ['v3.28', 'v3.28.1', 'calico-vxlan.yaml'],
  ['v3.30', 'v3.30.7', 'calico.yaml'],
  ['v3.31', 'v3.31.2', 'calico.yaml'],
] as const)
  describeOwnerWay({
    title: `from ${title} to v3.32`,
    ...{ installed: [release, file], servers: [LATER_SERVER, LATER_SERVER, NEW_SERVER], policies: 'renamed' },
    ...{ dead: ofPolicy, removed: ofPolicy, notedDying: OF_POLICIES },
  });

describeOwnerWay({
  title: 'from v3.32.1, where the renaming is held, to v3.32.2, which releases it',
  ...{ installed: ['v3.32.1', 'calico.yaml'], release: 'v3.32.2', policies: 'renamed' },
  ...{ servers: [LATER_SERVER, NEW_SERVER, NEW_SERVER], dead: ofPolicy, removed: ofPolicy },
});

describeOwnerWay({
  title: 'from v3.26 to v3.32, with the renaming held',
  ...{ installed: ['v3.26.5', 'calico.yaml'], servers: [OLD_SERVER, OLD_SERVER, NEW_SERVER], policies: 'held' },
  ...{ dead: ofV3, removed: ofV3OrPolicy, staysOff: ofPolicy },
});

/** The collector goes on seeing these policies in lists under their UIDs: nothing dies before it has to ask for one by name. */
describeOwnerWay({
  title: 'from v3.30 to v3.32 on canal, which never renames',
  ...{ installed: ['v3.30.7', 'canal.yaml'], servers: [LATER_SERVER, LATER_SERVER, NEW_SERVER], policies: 'canal' },
  ...{ dead: ofNone, removed: ofPolicy, staysOff: ofV3Policy },
});

describeOwnerWay({
  title: 'from agents of v3.30 beside an API server of v3.26 that nobody identifies to v3.32',
  ...{ installed: ['v3.30.7', 'calico.yaml'], servers: [OLD_SERVER, OLD_SERVER, NEW_SERVER], policies: 'renamed' },
  ...{ dead: ofV3OrPolicy, removed: ofV3OrPolicy },
});

/** What the store keeps is played by custom resources: UIDs stay, and nothing dies either way. */
describeOwnerWay({
  title: 'from v3.26 to v3.32 in key-value mode',
  ...{ installed: ['v3.26.5', 'calico-etcd.yaml'], servers: [OLD_SERVER, OLD_SERVER, OLD_SERVER], policies: 'as they are' },
  ...{ dead: ofNone, removed: ofV3OrPolicy },
});
