import assert from 'node:assert/strict';
import { type OwnerStanding, type UidRules, uidAfter } from '../../../src/features/ownerrefs/owner-fate.ts';

const STORED = '30316465-6365-4463-ad63-3564622d3638';
const SERVED = '0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c';
const OTHER = '11111111-2222-4333-8444-555555555555';

describe('the UID of an owner after the upgrade', () => {
  const owner: OwnerStanding & UidRules = {
    stored: false,
    servedUid: STORED,
    backingUid: STORED,
    renamePending: false,
    keepsUids: false,
    targetConverts: true,
  };
  const { backingUid: _, ...unread } = owner;
  const cases: readonly [string, OwnerStanding & UidRules, unknown][] = [
    ['is converted where the old release served the stored one', owner, { fate: 'converted', uid: SERVED }],
    ['is kept where the old release converts already', { ...owner, servedUid: SERVED }, { fate: 'kept', uid: SERVED }],
    ['is not known before, if the policy is stored anew', { ...owner, renamePending: true }, { fate: 're-created' }],
    [
      'is not known of a stored policy either, if it is stored anew',
      { ...owner, stored: true, renamePending: true },
      { fate: 're-created' },
    ],
    ['does not matter where its name no longer finds it', { ...owner, unaddressed: true }, { fate: 'unaddressed' }],
    [
      'is not known if the policy is stored anew, found meanwhile or not',
      { ...owner, unaddressed: true, renamePending: true },
      { fate: 're-created' },
    ],
    ['is kept of a stored object, whatever the API calls it', { ...owner, stored: true, unaddressed: true }, { fate: 'kept', uid: STORED }],
    [
      'is kept in a key-value datastore, which has names of its own',
      { ...unread, keepsUids: true, unaddressed: true },
      { fate: 'kept', uid: STORED },
    ],
    ['is kept of a stored object', { ...owner, stored: true }, { fate: 'kept', uid: STORED }],
    ['is kept in a key-value datastore', { ...unread, keepsUids: true }, { fate: 'kept', uid: STORED }],
    ['is kept if the target does not convert', { ...owner, targetConverts: false }, { fate: 'kept', uid: STORED }],
    ['does not exist without the owner', { ...owner, servedUid: undefined }, { fate: 'gone' }],
    ['does not exist without the owner, whatever is pending', { ...owner, servedUid: undefined, renamePending: true }, { fate: 'gone' }],
    ['is unknown without the stored object and the release', unread, { fate: 'unknown' }],
    ['follows from the release alone', { ...unread, sourceConverts: false }, { fate: 'converted', uid: SERVED }],
    ['follows from a release that converts, too', { ...unread, servedUid: OTHER, sourceConverts: true }, { fate: 'kept', uid: OTHER }],
    ['is unknown if the stored UID is none', { ...owner, backingUid: 'x' }, { fate: 'unknown' }],
  ];
  for (const [title, standing, expected] of cases) it(title, () => assert.deepEqual(uidAfter(standing, standing), expected));
});
