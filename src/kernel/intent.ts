import { type Command, ownCommand } from './command.ts';

export type IntentKind = 'upgrade' | 'rollback';

/** The upgrade that a rollback takes back, as its record had it. */
export interface TakenBack {
  readonly runId: string;
  /** The run that began it, where that is another one: it went forward again after a rollback was begun. */
  readonly since?: string;
  /** Release that it came from. */
  readonly from: string;
  /** Release that it went to. */
  readonly to: string;
  /** Ids of its stages that wrote something, or were about to. */
  readonly wrote: readonly string[];
  /** Ids of what was kept of the user's changes, oldest first: by this run, and by those that it went forward from. Absent: nothing. */
  readonly kept?: readonly string[];
  readonly startedAt: string;
  /** The oldest of the agents and the API server then, or `unknown`. */
  readonly oldest?: string;
  /** It was taken back to the end before: what differs from the older release is what the user changed since. */
  readonly isOver?: true;
  /** Folder of the backup that was taken before it. */
  readonly backup?: string;
}

/** What a run is for: an unfinished one is continued by the same intent alone. */
export interface Intent {
  readonly kind: IntentKind;
  /** Release of the agents when the run began; absent where no stage has looked, or none could be told. */
  readonly from?: string;
  readonly to: string;
  /** Only of a rollback. */
  readonly takesBack?: TakenBack;
}

/** The words for an intent. */
interface IntentWords {
  /** `The upgrade is done`. */
  readonly noun: string;
  /** `Upgrade v3.27.5 → v3.32.1`, and of a cluster: `Upgrade context "prod"`. */
  readonly title: string;
  readonly order: string;
  /** `a run to v3.32.1 is unfinished`. */
  readonly run: string;
  /** It goes to a release that may be older. */
  readonly goesBack: boolean;
  /** The sub-command that continues it. */
  readonly resumedBy: 'run' | 'rollback';
}

const WORDS: Readonly<Record<IntentKind, IntentWords>> = {
  upgrade: { noun: 'upgrade', title: 'Upgrade', order: 'Upgrade', run: 'a run', goesBack: false, resumedBy: 'run' },
  rollback: { noun: 'rollback', title: 'Rollback', order: 'Roll back', run: 'a rollback', goesBack: true, resumedBy: 'rollback' },
};

export const isIntentKind = (value: unknown): value is IntentKind => typeof value === 'string' && Object.hasOwn(WORDS, value);

export const intentWords = ({ kind }: Pick<Intent, 'kind'>): IntentWords => WORDS[kind];

/** What a context says of it. */
interface Meant {
  readonly intent: Pick<Intent, 'kind'>;
  readonly goal: { readonly release: string; readonly takesBack?: TakenBack };
}

/** What this command is for. */
export function intentOf({ intent, goal }: Meant): Intent {
  const { release: to, takesBack } = goal;
  return { ...intent, to, ...(takesBack ? { takesBack } : {}) };
}

/** The command that continues it. */
export function continueCommand({ kind, to }: Intent): Command {
  const { resumedBy, goesBack } = WORDS[kind];
  return goesBack ? ownCommand(resumedBy) : ownCommand(resumedBy).with('--release', to);
}
