import type { Interfaces } from '@oclif/core';
import type { Options } from '../kernel/context.ts';
import type { LiveNames } from './plain-flags.ts';

/** Commands that evaluate or perform stages of the chain. */
export const CHAIN: readonly string[] = [
  ...['preflight', 'plan', 'run', 'backup', 'crds', 'alp', 'policy', 'hep', 'apply', 'wait', 'cli', 'verify'],
];
/** Those that know what is upgraded to. */
export const TARGETED = [...CHAIN, 'ownerrefs'];
/** Those that ask a cluster. */
export const CLUSTER = [...TARGETED, 'status', 'report', 'unlock'];

/** What the row of a flag says beside what the parser takes from it. */
export interface Row {
  /** The commands that have it. */
  readonly on?: readonly string[];
  /** Commands that have it as well, each with what is different there. */
  readonly as?: Readonly<Record<string, object>>;
  /** The next command is given it as well. */
  readonly carried?: boolean;
  /** A command that looks at a run takes it from the run record, if it is not given. */
  readonly recorded?: boolean;
  /** The value is a file or folder, or may be one: the shell completes it. */
  readonly file?: boolean;
  /** The value is one of these names: the shell completes it. */
  readonly live?: LiveNames;
  readonly multiple?: boolean;
  /** The option of the stages that has its value as it is written. */
  readonly option?: keyof Options;
  /** helm's name for it, where helm has it. */
  readonly helm?: string;
}

/** A row names an option of its own type only. */
interface Sets<Value> extends Row {
  readonly option?: { [Name in keyof Options]-?: Value extends NonNullable<Options[Name]> ? Name : never }[keyof Options];
}

type Parsed<Table extends Interfaces.FlagInput> = Omit<Interfaces.InferredFlags<Table>, 'json'>;
type ReadOnly<Value> = Value extends readonly (infer One)[] ? readonly One[] : Value;

/** The values of flags as parsed: flag over environment over default. */
export type Values<Table extends Interfaces.FlagInput> = { readonly [Name in keyof Parsed<Table>]?: ReadOnly<Parsed<Table>[Name]> };

type Definition<T, More = Sets<T>> = Interfaces.FlagDefinition<T, More>;

// The same values as oclif's functions of these names make, without loading oclif: `status` and `unlock` run without it.
export const made = (row: object) => ({
  parse: async (input: unknown) => input,
  multiple: false,
  ...row,
  input: [],
  type: 'option',
});

export const string = made as unknown as Definition<string>;

type Choice<Value, Many> = Partial<Omit<Interfaces.OptionFlag<Value>, 'options' | 'multiple'>> & {
  readonly options: readonly Value[];
  readonly multiple?: Many;
};

export const option = ((row: object) => (more?: object) => made({ ...row, ...more })) as unknown as <
  const Value extends string,
  const Many extends boolean = false,
>(
  row: Sets<Value> & Choice<Value, Many>,
) => () => Interfaces.OptionFlag<Many extends true ? Value[] : Value>;

/** oclif reads the number: whoever parses with this has loaded it. */
async function readNumber(...given: readonly unknown[]): Promise<unknown> {
  const { integer: read } = await import('./integer.ts');
  return (read as (...all: readonly unknown[]) => Promise<unknown>)(...given);
}

export const integer = ((row: object) => made({ parse: readNumber, ...row } as object)) as unknown as Definition<
  number,
  Sets<number> & { readonly min?: number; readonly max?: number }
>;

export function boolean(row: Sets<boolean> & Partial<Interfaces.BooleanFlag<boolean>>): Interfaces.BooleanFlag<boolean> {
  return { parse: async (on: boolean) => on, ...row, allowNo: false, type: 'boolean' } as Interfaces.BooleanFlag<boolean>;
}

/** The rows of some tables, by the flag's name. */
export function rowsOf(...tables: readonly object[]): readonly (readonly [string, Row])[] {
  return tables.flatMap((table) => Object.entries(table) as [string, Row][]);
}
