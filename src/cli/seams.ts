import type { Trace } from '../adapters/trace.ts';
import type { Context } from '../kernel/context.ts';
import type { EffectTypes, EnginePorts } from '../kernel/effect-type.ts';
import type { Installation } from '../kernel/installation.ts';
import type { IntentKind } from '../kernel/intent.ts';
import type { Interruption } from '../kernel/interruption.ts';
import type { Notifier } from '../kernel/ports.ts';
import type { Profile } from '../kernel/profile.ts';
import type { AnyStage } from '../kernel/stage.ts';
import type { CarriedFlag } from './carried.ts';
import type { Chain } from './command-names.ts';
import type { RunFlags } from './flags.ts';
import type { Agree, Uses } from './recorded-flags.ts';
import type { Terminal } from './terminal.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a command asks of what it is given. */
export interface Needs {
  /** The command needs no names of the service: none are looked up. */
  readonly anyProfile?: boolean;
  /** The command changes nothing: it can do without a work folder that lasts. */
  readonly looksOnly?: boolean;
  /** What it performs; a command that performs no stage looks at an upgrade. */
  readonly chain?: Chain | undefined;
  /** What the command's flags do not say may be in the run record. */
  readonly usesRecord?: Uses;
}

export interface ComposeRequest extends Needs {
  readonly flags: RunFlags;
  readonly env: Environment;
  readonly interruption: Interruption;
  /** The user sits there: credential plugins may ask. */
  readonly interactive: boolean;
  /** What continues underneath, if the user wants to see it. */
  readonly trace?: Trace | undefined;
  /** Before flags of the run record that decide trust are used; without it no record is. */
  readonly agree?: Agree;
  /** Warnings of the API server and of tools. */
  warn(text: string): void;
  /** Which cluster is meant, before anything is asked of it. */
  meant?(cluster: MeantCluster): void;
}

/** A cluster as the screens name it. */
export type MeantCluster = Pick<Context, 'contextName' | 'server'>;

/** Ports joined to adapters for one command on one cluster. */
export interface Composition extends Omit<EnginePorts, 'effects'> {
  readonly profile: Profile;
  readonly context: Context;
  /** Flags that were taken from the run record. */
  readonly recorded?: readonly CarriedFlag[];
  /** Ends connections and removes the private kubeconfig. */
  close(): Promise<void>;
}

/** The same with what actions may do: the engine acts through it. */
export type Acting = Composition & EnginePorts;

/** Ctrl-C as signals, until released. */
export interface Interrupts extends Interruption {
  /** What is still under way does not listen: the command ends without it. */
  readonly over: AbortSignal;
  /** What was thrown and nothing caught, if anything was: the command has been told to end, and ends with it. */
  readonly defect?: () => { readonly thrown: unknown } | undefined;
  release(): void;
}

/** Everything that commands get from outside; tests put fakes here and nowhere else. */
export interface Seams {
  readonly version: string;
  readonly env: Environment;
  readonly terminal: Terminal;
  compose(request: ComposeRequest): Promise<Composition>;
  /** Of an upgrade unless said. */
  loadChain(kind?: IntentKind): Promise<readonly AnyStage[]>;
  /** What their actions may do. */
  loadEffects(): Promise<EffectTypes>;
  /** What is installed; undefined where that is not clear. */
  installed(composition: Composition): Promise<Installation | undefined>;
  /** What `--notify` names. Throws Fault('usage') for what cannot be one. */
  openNotifier(value: string): Promise<Notifier>;
  /** `say` tells the user what Ctrl-C just did. */
  listenForInterrupts(say: (text: string) => void): Interrupts;
  every(ms: number, call: () => void): () => void;
}
