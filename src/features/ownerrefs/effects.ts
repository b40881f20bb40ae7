import { announced, type EffectTypes, type GuardTypes, whole } from '../../kernel/effect-type.ts';
import type { ForgetOwners, RecordOwners } from './journal-effects.ts';
import { assertRecorded, forgetOwners, recordOwners } from './journal-effects.ts';

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'record-owners': RecordOwners;
    readonly 'forget-owners': ForgetOwners;
  }
  interface PatchAll {
    /** What is removed must be in this journal, as the cluster has it: every other patch is refused. */
    readonly recordedIn?: 'owner-journal';
  }
  interface Guards {
    readonly 'recorded-owners': PatchAll;
  }
}

export const ownerEffects: Pick<EffectTypes, 'record-owners' | 'forget-owners'> = {
  'record-owners': {
    does: 'writes',
    isFixed: false,
    perform: recordOwners,
    dryRun: announced,
    text: ({ entries }) => `write the owner references of ${entries.length} objects to the journal in the cluster, and read them back`,
    mask: whole,
    digest: whole,
  },
  'forget-owners': {
    does: 'writes',
    isFixed: false,
    // A journal that is wanted no more would count as lost otherwise.
    notesFirst: { stripped: undefined },
    perform: async (ports, effect) => ({ detail: await forgetOwners(ports, effect) }),
    dryRun: announced,
    text: ({ file }) => `write the journal of owner references to ${file}, then delete it from the cluster`,
    mask: whole,
    digest: whole,
  },
};

export const ownerGuards: Pick<GuardTypes, 'recorded-owners'> = {
  'recorded-owners': { of: 'patch-all', assert: assertRecorded },
};
