import type { Effect } from '../../kernel/action.ts';
import type { ToolResult } from '../../kernel/argv.ts';
import { announced, type EffectTypes, type EnginePorts, type GuardTypes, type Performed, whole } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { type ObjectRef, refText } from '../../kernel/object.ts';
import { AGAIN, text, thenAgainAs } from '../../kernel/step.ts';
import { clientRelease } from '../survey/index.ts';
import { askGuid, askRelease, guidIn, type StoreExpected } from './cli-list.ts';

/** Fetched, checked, `replaces` copied to `keepAs`; then the new file takes its place in one step. */
interface InstallCli {
  readonly type: 'install-cli';
  readonly release: string;
  /** Below the release, or an address of its own. */
  readonly path: string;
  /** Where `path` is, for the user. */
  readonly url: string;
  /** The sum that it has to have; absent if none is known, which the user has accepted (NS-309). */
  readonly sha256?: string;
  readonly to: string;
  readonly replaces?: string;
  readonly keepAs?: string;
}

/** The configuration of the service's CLI, where there is none; 0600. */
interface WriteCliConfig {
  readonly type: 'write-cli-config';
  readonly to: string;
  readonly content: string;
  /** Files beside it from a Secret: path → key of its data. Their values are read when they are written, and never shown. */
  readonly certificates?: { readonly secret: ObjectRef; readonly files: Readonly<Record<string, string>> };
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

/** Programs are larger than manifests: the released ones have up to a hundred MB. */
const LIMIT_BYTES = 300 * 1024 * 1024;

const TRIAL_MS = 15_000;

const PROBLEMS: Readonly<Record<NonNullable<ToolResult['problem']>, string>> = {
  'not-found': 'it cannot be started on this machine',
  'timed-out': `it did not end within ${TRIAL_MS / 1000} s`,
  cancelled: 'it was interrupted',
  signal: 'it crashed',
};

function problemOf({ problem, exitCode }: ToolResult): string {
  return problem === undefined ? `it does not say its release, exit code ${exitCode ?? 'none'}` : PROBLEMS[problem];
}

/** A truncated download, or one for another machine, must not replace a working program; throws Fault('failed'). */
async function assertStarts(
  { tools }: Pick<EnginePorts, 'tools'>,
  program: string,
  { url, release }: { readonly url: string; readonly release: string },
): Promise<void> {
  const answer = await askRelease(tools, program, TRIAL_MS);
  const client = clientRelease(answer.stdout);
  if (client === release) return;
  const said = client === undefined ? problemOf(answer) : `its version is ${client}`;
  throw new Fault('failed', `${url} was started once and is not ${release} (${said}): nothing was installed`, [
    'fetch it again, or from another source with --manifest-url; it must be for this machine',
  ]);
}

/** Fetches the new CLI, checks its sum and puts it in place in one step. Throws Fault('failed') for any other sum. */
export async function installCli(ports: EnginePorts, effect: Extract<Effect, { type: 'install-cli' }>): Promise<Performed> {
  const { release, path, to, keepAs } = effect;
  const { bytes, sha256, url, file } = await ports.artifacts.fetch(release, path, LIMIT_BYTES);
  if (effect.sha256 !== undefined && effect.sha256 !== sha256) {
    throw new Fault('failed', `${url} has sha256 ${sha256}, it has to have ${effect.sha256}: nothing was installed`, [
      'do not use it; fetch it again, or from another source with --manifest-url',
    ]);
  }
  const from = await ports.work.write(`${file}-${release}`, bytes);
  await ports.machine.installExecutable(from, sha256, to, (started) => assertStarts(ports, started, { url, release }), keepAs);
  const checked = effect.sha256 === undefined ? 'not checked, for no sum of it is known' : 'as it has to be';
  const detail = `${to}, sha256 ${sha256} (${checked})${keepAs ? `; the old one kept as ${keepAs}` : ''}`;
  return { detail, digests: { [`${file}-${release}`]: sha256 } };
}

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
    thenAgainAs('what is done stays done'),
  ]);
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
        text`see that the agents reach their store, then ${AGAIN}`,
      ]);
    for (const [file, key] of Object.entries(files)) await ports.machine.writeNew(file, atob(data[key] ?? ''));
  }
  await ports.machine.writeNew(to, content);
  return to;
}
