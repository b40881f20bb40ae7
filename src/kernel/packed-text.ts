type Chunk = Uint8Array<ArrayBuffer>;

/** Texts are packed and unpacked in pieces of about this many characters. */
const PIECE = 64 * 1024;

/** A long text that is wanted later: what is alike in thousands of lines takes a tenth of the memory. */
export class PackedText {
  readonly #gzip: readonly Chunk[];
  /** Characters. */
  readonly length: number;

  private constructor(gzip: readonly Chunk[], length: number) {
    this.#gzip = gzip;
    this.length = length;
  }

  /** The lines after one another. */
  static async of(lines: Iterable<string>): Promise<PackedText> {
    const { readable, writable } = new CompressionStream('gzip');
    const [length, gzip] = await Promise.all([write(writable, lines), chunksOf(readable)]);
    return new PackedText(gzip, length);
  }

  async text(): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of this.pieces()) text += decoder.decode(piece, { stream: true });
    return text + decoder.decode();
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    yield* new Blob([...this.#gzip]).stream().pipeThrough(new DecompressionStream('gzip'));
  }
}

async function chunksOf(packed: AsyncIterable<Chunk>): Promise<readonly Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of packed) chunks.push(chunk);
  return chunks;
}

async function write(to: CompressionStream['writable'], lines: Iterable<string>): Promise<number> {
  const writer = to.getWriter();
  const encoder = new TextEncoder();
  let [piece, length] = ['', 0];
  for (const line of lines) {
    piece += line;
    length += line.length;
    if (piece.length < PIECE) continue;
    await writer.write(encoder.encode(piece));
    piece = '';
  }
  await writer.write(encoder.encode(piece));
  await writer.close();
  return length;
}

/** A file of text. */
export type TextFile = { readonly name: string } & (
  | { readonly content: string; readonly packed?: undefined }
  | { readonly content?: undefined; readonly packed: PackedText }
);
