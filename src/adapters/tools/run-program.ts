import type { Readable } from 'node:stream';
import type { RunToolOptions, ToolResult } from '../../kernel/argv.ts';

export interface ProgramRun extends Omit<RunToolOptions, 'program'> {
  /** The whole environment: nothing of ours is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Its text, or the open file that it is. */
  readonly stdin?: string | number;
  /** Only the last lines of what it prints are kept, so that no amount of it ends the program. */
  readonly keepsLast?: true;
}

/** Bytes of stdout, and of stderr, after which a program is ended. */
const OUTPUT_LIMIT = 64 * 1024 * 1024;
/** Of the last lines, where only they are kept. */
const LAST_BYTES = 64 * 1024;
/** Between asking a program to end and ending it. */
const GRACE_MS = 2000;
/** A round without output. */
const SILENT_MS = 500;
const ROUNDS = 10;

/** Runs a file by argv, never through a shell. How it failed is data; this does not throw. Undefined: no such program was found. */
export async function runProgram(program: string | undefined, args: readonly string[], run: ProgramRun): Promise<ToolResult> {
  if (program === undefined) return { exitCode: undefined, stdout: '', stderr: '', problem: 'not-found', durationMs: 0 };
  // Loaded here, as a small command starts no program and this is half of what it would load.
  const { execa } = await import('execa');
  const child = execa(program, [...args], {
    ...settingsOf(run),
    env: run.env,
    extendEnv: false,
    reject: false,
    // Collected here: execa would put all the output of a failed program, escaped, into an error's message.
    buffer: false,
    // Ctrl-C at the terminal reaches the whole process group: the first one must not cut a write in the middle.
    detached: GROUPED,
    forceKillAfterDelay: GRACE_MS,
    windowsHide: true,
  });
  const [stdout, stderr] = (['stdout', 'stderr'] as const).map((name) =>
    run.keepsLast
      ? collectLast(child[name])
      : collectOutput(child[name], () => child.kill(), run.onLine && ((line) => run.onLine?.(line, name))),
  );
  let own: number | undefined;
  child.nodeChildProcess.once('exit', (code, signal) => {
    // What a killed program started, such as a credential plugin, would hold its output open. A program asked to end may have its own code.
    if (signal !== null || child.nodeChildProcess.killed || run.signal?.aborted) endGroup(child.pid);
    else own = code ?? undefined;
    for (const stream of [child.stdout, child.stderr]) letGo(stream, run.signal);
  });
  const result = await child;
  const [out, err] = [stdout?.finish(), stderr?.finish()];
  const cut = Boolean(out?.cut || err?.cut);
  const exitCode = cut ? undefined : (own ?? result.exitCode);
  const problem = own === undefined || cut ? problemOf(result, cut) : {};
  return { exitCode, stdout: out?.text ?? '', stderr: err?.text ?? '', durationMs: result.durationMs, ...problem };
}

/**
 * Of a program that has ended: what it left behind may hold its output open for ever. Silent for two rounds, nothing of its own is left in
 * it; and after ten, whatever comes is of others.
 */
function letGo(stream: Readable | null, signal: AbortSignal | undefined): void {
  let [rounds, silent] = [0, 0];
  const timer = setInterval(() => {
    rounds += 1;
    silent += 1;
    if (silent > 1 || rounds >= ROUNDS || signal?.aborted) stream?.destroy();
  }, SILENT_MS);
  stream?.on('data', () => {
    silent = 0;
  });
  if (!stream || stream.closed) clearInterval(timer);
  else stream.once('close', () => clearInterval(timer));
}

function settingsOf({ stdin, timeoutMs, signal }: ProgramRun) {
  return {
    // Any open file may be handed over; execa's types know only its own.
    ...(typeof stdin === 'string' ? { input: stdin } : { stdin: (stdin as 0 | undefined) ?? ('ignore' as const) }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    ...(signal === undefined ? {} : { cancelSignal: signal }),
  };
}

interface Ended {
  readonly exitCode?: number;
  readonly timedOut: boolean;
  readonly isCanceled: boolean;
  readonly isTerminated: boolean;
}

function problemOf(result: Ended, cut: boolean): Pick<ToolResult, 'problem'> {
  if (result.isCanceled) return { problem: 'cancelled' };
  if (result.timedOut) return { problem: 'timed-out' };
  if (result.isTerminated || cut) return { problem: 'signal' };
  return result.exitCode === undefined ? { problem: 'not-found' } : {};
}

/** Keeps the last lines of what a stream prints. One whose beginning is gone is none: it may have said what the rest of it is. */
function collectLast(stream: Readable | null) {
  let [last, isWhole] = [Buffer.alloc(0), true];
  stream?.on('data', (chunk: Uint8Array) => {
    const all = Buffer.concat([last, chunk]);
    isWhole &&= all.length <= LAST_BYTES;
    last = all.subarray(-LAST_BYTES);
  });
  return {
    finish() {
      const text = last.toString('utf8');
      return { text: isWhole ? text : text.split('\n').slice(1).join('\n'), cut: false };
    },
  };
}

/** Keeps what a stream prints, and reports it line by line. `cut`: more came than the limit in bytes; `tooMuch` is called once. */
function collectOutput(stream: Readable | null, tooMuch: () => void, onLine?: (line: string) => void) {
  const chunks: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let [size, cut, rest] = [0, false, ''];
  stream?.on('data', (chunk: Uint8Array) => {
    if (cut) return;
    const kept = chunk.subarray(0, OUTPUT_LIMIT - size);
    chunks.push(kept);
    size += kept.length;
    const lines = onLine ? (rest + decoder.decode(kept, { stream: true })).split(/\r?\n/) : [];
    rest = lines.pop() ?? '';
    for (const line of lines) onLine?.(line);
    if (kept.length === chunk.length) return;
    cut = true;
    tooMuch();
  });
  return {
    finish() {
      // The last line may have no end.
      if (rest !== '') onLine?.(rest);
      return { text: Buffer.concat(chunks).toString('utf8'), cut };
    },
  };
}

/** Whether programs can be started in a group of their own, which a Ctrl-C at the terminal does not reach. */
export const GROUPED = process.platform !== 'win32';

/** Ends a program of a group of its own and what it had started. */
export function endGroup(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (!GROUPED || pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}
