/** A character and how it looks: `32` is green, `1` bold, as a terminal's codes have it. */
interface Cell {
  readonly text: string;
  readonly styles: readonly string[];
}

/** Characters beside one another that look the same. */
export interface Span {
  readonly text: string;
  readonly styles: readonly string[];
}

const ESCAPE = '\u001b';
/** A control sequence with its numbers and its letter, or one character. */
const CODE = new RegExp(`${ESCAPE}\\[([0-9;?]*)([A-Za-z])|[^]`, 'gu');
/** What ends a style: 22 ends bold and dim, 39 a colour. */
const ENDS: Readonly<Record<string, RegExp>> = { '0': /./, '22': /^[12]$/, '39': /^3[0-7]$/ };

/** A terminal of this many columns that keeps every line: cursor moves, erasing and the few looks that this program uses. */
export class TerminalScreen {
  readonly #columns: number;
  readonly #lines: Cell[][] = [[]];
  /** Rows that the terminal began itself, because the line before had no room. */
  readonly #continued = new Set<number>();
  #row = 0;
  #column = 0;
  #styles: readonly string[] = [];

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** Takes what a program wrote; `frame` is called whenever the program says that a picture of its is complete. */
  write(output: string, frame: () => void = () => undefined): void {
    for (const [character, numbers = '', code] of output.matchAll(CODE)) {
      if (code === undefined) this.#put(character);
      else if (code === 'l' && numbers === '?2026') frame();
      else this.#obey(code, numbers);
    }
  }

  /** Lines from the first to the last that has something in it. */
  lines(): readonly (readonly Span[])[] {
    const last = this.#lines.findLastIndex((line) => textOf(line) !== '');
    return this.#lines.slice(0, last + 1).map(spansOf);
  }

  /** True if the line of this row did not fit into the row above. */
  isContinued(row: number): boolean {
    return this.#continued.has(row);
  }

  #put(character: string): void {
    if (character === '\n') {
      this.#row += 1;
      this.#continued.delete(this.#row);
    } else if (character === '\r') this.#column = 0;
    else if (character >= ' ') {
      if (this.#column >= this.#columns) {
        [this.#row, this.#column] = [this.#row + 1, 0];
        this.#continued.add(this.#row);
      }
      const line = this.#lineAt(this.#row);
      while (line.length < this.#column) line.push({ text: ' ', styles: [] });
      line[this.#column] = { text: character, styles: this.#styles };
      this.#column += 1;
    }
    this.#lineAt(this.#row);
  }

  #obey(code: string, numbers: string): void {
    const count = Math.max(1, Number(numbers) || 1);
    if (code === 'A') this.#row = Math.max(0, this.#row - count);
    if (code === 'B') this.#row += count;
    if (code === 'G') this.#column = count - 1;
    if (code === 'K') this.#lineAt(this.#row).splice(numbers === '2' ? 0 : this.#column);
    if (code === 'J') this.#eraseBelow();
    if (code === 'm') for (const number of numbers === '' ? ['0'] : numbers.split(';')) this.#look(number);
  }

  /** From the cursor to the end. */
  #eraseBelow(): void {
    this.#lineAt(this.#row).splice(this.#column);
    this.#lines.splice(this.#row + 1);
  }

  #look(number: string): void {
    const ends = ENDS[number];
    this.#styles = ends ? this.#styles.filter((one) => !ends.test(one)) : [...this.#styles, number];
  }

  #lineAt(row: number): Cell[] {
    while (this.#lines.length <= row) this.#lines.push([]);
    return this.#lines[row] ?? [];
  }
}

function textOf(line: readonly Cell[]): string {
  return line
    .map(({ text }) => text)
    .join('')
    .trimEnd();
}

function spansOf(line: readonly Cell[]): readonly Span[] {
  const spans: Span[] = [];
  for (const { text, styles } of line.slice(0, textOf(line).length)) {
    const last = spans.at(-1);
    if (last && last.styles.join() === styles.join()) spans[spans.length - 1] = { text: last.text + text, styles };
    else spans.push({ text, styles });
  }
  return spans;
}
