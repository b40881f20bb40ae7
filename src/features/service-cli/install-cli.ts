import type { Effect } from '../../kernel/action.ts';
import type { ToolResult } from '../../kernel/argv.ts';
import type { EnginePorts, Performed } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import { clientRelease } from '../../kernel/service-cli.ts';

/** Fetched, checked, `replaces` copied to `keepAs`; then the new file takes its place in one step. */
export interface InstallCli {
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

/**
 * A truncated download, or one for another machine, must not replace a working program; throws Fault('failed'). New CLIs print their
 * release without a connection, old ones only as the first line of the full answer.
 */
async function assertStarts(
  { tools }: Pick<EnginePorts, 'tools'>,
  program: string,
  { url, release }: { readonly url: string; readonly release: string },
): Promise<void> {
  let said = '';
  for (const args of [['version', '--client'], ['version']]) {
    const answer = await tools.run({ tool: 'netsvcctl', args }, { program, timeoutMs: TRIAL_MS });
    const client = clientRelease(answer.stdout);
    if (client === release) return;
    said = client === undefined ? problemOf(answer) : `its version is ${client}`;
    if (client !== undefined) break;
  }
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
