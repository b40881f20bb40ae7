import type { Effect } from '../../kernel/action.ts';
import { announced, type EffectTypes, type EnginePorts, type GuardTypes, whole } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { type ObjectRef, refText } from '../../kernel/object.ts';
import { type InstallCli, installCli } from './install-cli.ts';
import { askGuid, guidIn, type StoreExpected } from './store-identity.ts';

const LIMIT_MS = 15_000;

/**
 * Checked right before a write of the CLI to a key-value store, as its configuration or endpoints may have changed since the proof. Throws
 * Fault `failed` if the store is another one, or unknown.
 */
export async function assertSameStore(
  { tools }: Pick<EnginePorts, 'tools'>,
  { run, program, store }: Pick<Extract<Effect, { type: 'exec' }>, 'run' | 'program' | 'store'>,
): Promise<void> {
  if (run.tool !== 'netsvcctl') return;
  const config = run.args.filter((argument) => argument.startsWith('--config='));
  if (config.length === 0) return;
  if (store === undefined) throw new Error(`a write by ${config.join(' ')} names no store that it is meant for`);
  const answer = guidIn(
    store,
    await tools.run(askGuid(store, config), { timeoutMs: LIMIT_MS, ...(program === undefined ? {} : { program }) }),
  );
  if ('guid' in answer && answer.guid === store.guid) return;
  const now = 'guid' in answer ? `it has ${store.guidField} ${answer.guid}, not ${store.guid}` : answer.because;
  throw new Fault('failed', `this is another key-value store than the one confirmed, or it cannot be told: ${now}`, [
    `check ${config.join(' ').slice('--config='.length)} and its endpoints; this write was not sent`,
    'then run the same command again: what is done stays done',
  ]);
}

interface RemoveFile {
  readonly type: 'remove-file';
  readonly file: string;
  readonly keepAs: string;
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'install-cli': InstallCli;
    readonly 'write-cli-config': WriteCliConfig;
    readonly 'remove-file': RemoveFile;
  }
  interface Exec {
    /** The store that the service's CLI must reach in the moment of the write. */
    readonly store?: StoreExpected;
  }
  interface Guards {
    readonly 'same-store': Exec;
  }
}

export const cliEffects: Pick<EffectTypes, 'install-cli' | 'write-cli-config' | 'remove-file'> = {
  'install-cli': {
    does: 'writes',
    isFixed: true,
    perform: installCli,
    dryRun: announced,
    text: ({ url, sha256, to, replaces }) =>
      `download ${url} (sha256 ${sha256 ?? 'not published: not checked'}) as ${to}${replaces ? `, in place of ${replaces}` : ''}`,
    mask: whole,
    digest: withoutCopy,
  },
  'write-cli-config': {
    does: 'writes',
    isFixed: true,
    perform: async (ports, effect) => ({ detail: await writeCliConfig(ports, effect) }),
    dryRun: announced,
    text: ({ to, certificates }) => `write ${[...Object.keys(certificates?.files ?? {}), to].join(', ')} (0600)`,
    mask: whole,
    digest: whole,
  },
  'remove-file': {
    does: 'writes',
    isFixed: true,
    async perform({ machine }, { file, keepAs }) {
      await machine.moveAside(file, keepAs);
      return { detail: `kept as ${keepAs}` };
    },
    dryRun: announced,
    text: ({ file, keepAs }) => `move ${file} to ${keepAs}`,
    mask: whole,
    digest: withoutCopy,
  },
};

/** Names of copies carry the time of the run. */
function withoutCopy(effect: InstallCli | RemoveFile): unknown {
  return { ...effect, keepAs: undefined };
}

export const cliGuards: Pick<GuardTypes, 'same-store'> = {
  'same-store': { of: 'exec', assert: assertSameStore },
};

/** The configuration of the service's CLI, where there is none; 0600. */
interface WriteCliConfig {
  readonly type: 'write-cli-config';
  readonly to: string;
  readonly content: string;
  /** Files beside it from a Secret: path → key of its data. Their values are read when they are written, and never shown. */
  readonly certificates?: { readonly secret: ObjectRef; readonly files: Readonly<Record<string, string>> };
}

/**
 * Certificates first, then the configuration that names them: an interrupted write is unused, and the next run continues. Existing files
 * with other content are kept and reported.
 */
export async function writeCliConfig(ports: EnginePorts, effect: Extract<Effect, { type: 'write-cli-config' }>): Promise<string> {
  const { to, content, certificates } = effect;
  if (certificates) {
    const { secret, files } = certificates;
    const data = ((await ports.cluster.get(K.Secret, secret.name, secret.namespace))?.data ?? {}) as Readonly<Record<string, string>>;
    const empty = Object.values(files).filter((key) => (data[key] ?? '') === '');
    if (empty.length > 0)
      throw new Fault('failed', `${refText(secret)} has no value for ${empty.join(', ')}: nothing was written`, [
        'see that the agents reach their store, then run the same command again',
      ]);
    for (const [file, key] of Object.entries(files)) await ports.machine.writeNew(file, atob(data[key] ?? ''));
  }
  await ports.machine.writeNew(to, content);
  return to;
}
