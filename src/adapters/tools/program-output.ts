import type { Readable } from 'node:stream';

export interface CollectedOutput {
  readonly text: string;
  /** More came than the limit allows; the text ends there. */
  readonly cut: boolean;
}

/** Keeps what a stream says, up to a limit in bytes, and tells it line by line; `tooMuch` is called once. */
export function collectOutput(stream: Readable | null, limit: number, tooMuch: () => void, onLine?: (line: string) => void) {
  const chunks: Uint8Array[] = [];
  const lines = lineReader(onLine);
  let size = 0;
  let cut = false;
  stream?.on('data', (chunk: Uint8Array) => {
    if (cut) return;
    const kept = chunk.subarray(0, limit - size);
    chunks.push(kept);
    size += kept.length;
    lines.take(kept);
    if (kept.length === chunk.length) return;
    cut = true;
    tooMuch();
  });
  return {
    finish(): CollectedOutput {
      lines.finish();
      return { text: Buffer.concat(chunks).toString('utf8'), cut };
    },
  };
}

function lineReader(onLine?: (line: string) => void) {
  const decoder = new TextDecoder();
  let rest = '';
  return {
    take(chunk: Uint8Array) {
      if (!onLine) return;
      const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line);
    },
    /** The last line may have no end. */
    finish() {
      if (rest !== '') onLine?.(rest);
    },
  };
}
