import { Command } from '@oclif/core/command';
import type { Config } from '@oclif/core/config';
import { quoteFor } from '../core/argv.ts';
import type { ExitName } from '../core/fault.ts';
import { withoutAddressCredentials } from '../core/hidden.ts';
import { CARRIED, type CarriedFlag } from '../ui/carry.ts';
import { withBareBooleans, writtenBoolean } from './boolean-words.ts';
import { type FlagShape, setsFlag, withEnvironment } from './environment.ts';
import { seamsOf } from './plugin.ts';
import type { Seams } from './seams.ts';
import type { Asked, SessionFlags } from './session.ts';

/** What every command shares: the environment's flags, the seams, and an exit name instead of a number. */
export abstract class BaseCommand extends Command {
  static override usage = '<%= command.id %> [flags]';

  /** argv as the person wrote it. */
  protected readonly typed: readonly string[];

  constructor(argv: string[], config: Config) {
    super(argv, config);
    this.typed = [...argv];
  }

  abstract override run(): Promise<ExitName>;

  protected get seams(): Seams {
    return seamsOf(this.config);
  }

  /** argv with the environment twins of unset flags before it, booleans as the parser knows them. */
  protected words(): string[] {
    return [...withBareBooleans(withEnvironment(this.argv.map(levelled), this.#shapes, this.seams.env), this.#shapes)];
  }

  protected asked(flags: SessionFlags, typed: readonly string[]): Asked {
    const command = this.id ?? '';
    const line = [command, ...withoutToken(typed).map(quoted)].join(' ');
    const { commandIDs: commands } = this.config;
    return { command, flags, typed: line, carried: carriedFlags(typed, this.words(), { flags, shapes: this.#shapes }), commands };
  }

  get #shapes(): Readonly<Record<string, FlagShape>> {
    return (this.ctor.flags ?? {}) as Readonly<Record<string, FlagShape>>;
  }

  /** The shell renders every error, in one place. */
  protected override async catch(error: Error): Promise<void> {
    throw error;
  }
}

/** `-v` alone is the first level, as in other programs; kubectl’s `-v=6` is as it stands. */
const levelled = (word: string, index: number, argv: readonly string[]) =>
  word === '-v' && !/^\d+$/.test(argv[index + 1] ?? '') ? '-v=1' : word;

/** A word as it may be shown: what was typed into an address is not repeated. */
const quoted = (word: string) => quoteFor(process.platform, withoutAddressCredentials(word));

function withoutToken(argv: readonly string[]): readonly string[] {
  return argv.filter((word, index) => word !== '--token' && !word.startsWith('--token=') && argv[index - 1] !== '--token');
}

interface Parsed {
  readonly flags: SessionFlags;
  readonly shapes: Readonly<Record<string, FlagShape>>;
}

/** Flags that somebody set: on the command line, or by the environment, whose words come with those that were typed in `words`. */
function carriedFlags(typed: readonly string[], words: readonly string[], { flags, shapes }: Parsed): readonly CarriedFlag[] {
  const values: Readonly<Record<string, unknown>> = { ...flags };
  return CARRIED.flatMap((name) => {
    const [shape, value] = [shapes[name], values[name]];
    // Off by the command line: the environment may say on, and the next command reads it as well.
    if (shape?.type === 'boolean' && writtenBoolean(typed, name, shapes) === false) return [{ name, text: `--${name}=false` }];
    const isIn = (some: readonly string[]) => shape !== undefined && some.some((word) => setsFlag(word, name, shape));
    if (value === undefined || value === false || !isIn(words)) return [];
    const from = isIn(typed) ? {} : ({ fromEnvironment: true } as const);
    if (value === true) return [{ name, text: `--${name}`, ...from }];
    return (Array.isArray(value) ? value : [value]).map((one) => ({ name, text: quoted(`--${name}=${one}`), ...from }));
  });
}
