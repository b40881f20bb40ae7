import type { Options } from '../kernel/context.ts';
import { commandsThat } from './command-names.ts';

/** Those that know what is upgraded to. */
export const TARGETED = commandsThat('performs', 'evaluates', 'targets');
/** Those, and a rollback. */
export const BOTH_WAYS = commandsThat('performs', 'evaluates', 'targets', 'returns');
/** Those that ask a cluster. */
export const CLUSTER = commandsThat('performs', 'evaluates', 'targets', 'returns', 'asks');
/** Those that can ask one. */
export const CONNECTED = [...CLUSTER, ...commandsThat('finds')];

/** Flags of the upgrade as a whole, which the next command is given as well. */
export const carried = { helpGroup: 'run', carried: true, decidesTrust: false, on: TARGETED } as const;
/** The commands of a whole upgrade or rollback, with those that have the stage. */
export const partOf = (...stages: readonly string[]) => ({ on: ['plan', 'run', 'commit', 'rollback', ...stages] });
export const repeatable = { multiple: true, multipleNonGreedy: true } as const;

/** Names that are looked up when the shell asks: in the kubeconfig, or at the API server. */
export type LiveNames = 'contexts' | 'clusters' | 'users' | 'namespaces' | 'nodes';

/** What the row of a flag says: what oclif is given, and what is read of it elsewhere. */
interface Told {
  /** The commands that have it. */
  readonly on?: readonly string[];
  /** Commands that have it as well, each with what is different there. */
  readonly as?: Readonly<Record<string, object>>;
  /** A text unless said. A duration is written as one (`90s`); its option has milliseconds. */
  readonly type?: 'boolean' | 'integer' | 'duration';
  readonly char?: string;
  readonly summary?: string;
  readonly helpGroup?: string;
  readonly helpValue?: string;
  /** The only values that it may have. */
  readonly options?: readonly string[];
  readonly default?: string | number;
  readonly min?: number;
  readonly max?: number;
  readonly required?: boolean;
  readonly exclusive?: readonly string[];
  readonly multiple?: boolean;
  readonly multipleNonGreedy?: boolean;
  /** The variable that stands for it where it is not given. */
  readonly env?: string;
  /** A command that looks at a run takes it from the run record, if it is not given. */
  readonly recorded?: boolean;
  /** The value is a file or folder, or may be one: the shell completes it. */
  readonly file?: boolean;
  /** The value is one of these names: the shell completes it. */
  readonly live?: LiveNames;
  /** The option of the stages that has its value. */
  readonly option?: keyof Options;
  /** Its value is a command of the user: no record and no report has it, and from a record none is started. */
  readonly isUserCommand?: true;
  /** It gives the agents an update strategy for the run alone. */
  readonly isPace?: true;
  /** A rollback is not given it: all is undone, its conflicts are others, waivers are asked for again, no backup is written over, and a failed probe would refuse it. */
  readonly ofOneWay?: true;
  /** It says where a run stops for the user, or which part is meant. Whoever continues without it means the rest. */
  readonly stops?: true;
  /** It changes where a command writes and whether it asks, not what it finds. */
  readonly isForm?: true;
  /** helm's name for it, where helm has it. */
  readonly helm?: string;
}

/** A flag that the next command is given as well says whether it decides trust. */
type Carried =
  | { readonly carried?: false; readonly decidesTrust?: undefined }
  | {
      readonly carried: true;
      /**
       * It names what is applied, started or believed, where credentials go, or what is waived. It is used only if it was typed, or agreed to
       * in a question that names its value. From a run record no command takes it, and no suggestion repeats it.
       */
      readonly decidesTrust: boolean;
    };

export type Row = Told & Carried;

export type Table = Readonly<Record<string, Row>>;

type One<R> = R extends { readonly type: 'boolean' }
  ? boolean
  : R extends { readonly type: 'integer' }
    ? number
    : R extends { readonly options: readonly (infer Name)[] }
      ? Name
      : string;

type ValueOf<R> = R extends { readonly multiple: true } ? readonly One<R>[] : One<R>;

/** The values of flags as parsed: flag over its variable over default. */
export type Values<Rows> = { readonly [Name in keyof Rows]?: ValueOf<Rows[Name]> };

type OptionOf<R> = R extends { readonly type: 'duration' } ? number : ValueOf<R>;

/** Rows whose option is of another type than their value. */
export type Wrong<Rows> = {
  [Name in keyof Rows]: Rows[Name] extends { readonly option: infer Option extends keyof Options }
    ? OptionOf<Rows[Name]> extends NonNullable<Options[Option]>
      ? never
      : Name
    : never;
}[keyof Rows];
