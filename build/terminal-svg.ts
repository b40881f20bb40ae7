import type { Span } from './terminal-screen.ts';

/** Pixels of a character, of a line, and around it all. */
const [WIDTH, HEIGHT, ROOM] = [8.43, 18, 12];
const COLOURS: Readonly<Record<string, string>> = { '2': '#9198a1', '31': '#ff7b72', '32': '#3fb950', '33': '#d29922' };

/** Lines of a terminal as a picture that needs no font but the reader's own; `title` is read to those who cannot see it. */
export function terminalSvg(title: string, lines: readonly (readonly Span[])[], columns: number): string {
  const [width, height] = [Math.ceil(columns * WIDTH + 2 * ROOM), lines.length * HEIGHT + 2 * ROOM];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${escaped(title).replaceAll('\u00a0', ' ')}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    '<g fill="#e6edf3" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14">',
    ...lines.map((line, row) => textOf(line, ROOM + row * HEIGHT + 14)),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** Every span is put at its own column and made as wide as its columns: the reader's font may be of another width. */
function textOf(line: readonly Span[], y: number): string {
  let column = 0;
  const spans = line.map(({ text, styles }) => {
    const [x, length] = [round(ROOM + column * WIDTH), round([...text].length * WIDTH)];
    column += [...text].length;
    const colour = styles.map((style) => COLOURS[style]).find((one) => one !== undefined);
    const look = `${colour ? ` fill="${colour}"` : ''}${styles.includes('1') ? ' font-weight="bold"' : ''}`;
    return `<tspan x="${x}" textLength="${length}"${look}>${escaped(text)}</tspan>`;
  });
  return `<text y="${y}">${spans.join('')}</text>`;
}

const round = (pixels: number) => Math.round(pixels * 10) / 10;

/** Blanks that are kept: an SVG makes one of several others. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', ' ': '\u00a0' };

function escaped(text: string): string {
  return text.replace(/[&<> ]/g, (one) => ENTITIES[one] ?? one);
}

/** The lines of such a picture as text. */
export function svgLines(svg: string): readonly string[] {
  const words = (text: string) =>
    text
      .replace(/<[^>]*>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&')
      .replaceAll('\u00a0', ' ');
  return [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, inner = '']) => words(inner));
}
