/** What a pod says of one of its connections, as the log of the pod has it last. Times in milliseconds, of a clock that only this pod has. */
export interface LinkSaid {
  readonly link: number;
  readonly now: number;
  readonly joined: boolean;
  readonly broken: number;
  readonly beats: number;
  readonly longestMs: number;
  /** When the longest gap was over. */
  readonly when: number;
  /** When the last answer came; 0 before the first. */
  readonly last: number;
  /** When the last one came before the newest break. */
  readonly fell?: number;
}

export interface LogSaid {
  readonly links: ReadonlyMap<number, LinkSaid>;
  /** What the program of the image says about a connection that was never made. */
  readonly says: ReadonlyMap<number, string>;
  /** Milliseconds between two answers. */
  readonly beatMs: number | undefined;
}

const LINK = /^link (\d{1,4}) (\d{1,12}) (yes|no) (\d{1,7}) (\d{1,10}) (\d{1,10}) (\d{1,12}) (\d{1,12})$/;
const SAYS = /^says (\d{1,4}) (.{1,200})$/;

/** Reads the end of a log. Anybody may have written it: what is no report, or cannot be true, is left out. */
export function readLog(log: string): LogSaid {
  const links = new Map<number, LinkSaid>();
  const says = new Map<number, string>();
  let beatMs: number | undefined;
  for (const line of log.split('\n')) {
    const said = linkIn(line);
    if (said) links.set(said.link, withFall(said, links.get(said.link)));
    const [, number, words] = SAYS.exec(line) ?? [];
    if (words !== undefined) says.set(Number(number), words);
    const [, beat] = /^beat (0\.2|1)$/.exec(line) ?? [];
    if (beat !== undefined) beatMs = Number(beat) * 1000;
  }
  return { links, says, beatMs };
}

/** A connection is soon made again: only the report right after a break says when it was. */
function withFall(said: LinkSaid, before: LinkSaid | undefined): LinkSaid {
  const fell = said.joined || said.broken === before?.broken ? before?.fell : said.last;
  return fell === undefined ? said : { ...said, fell };
}

function linkIn(line: string): LinkSaid | undefined {
  const [, link, now, joined, ...figures] = LINK.exec(line) ?? [];
  const [broken = 0, beats = 0, longest = 0, when = 0, last = 0] = figures.map(Number);
  if (link === undefined || now === undefined) return undefined;
  const at = Number(now);
  if (when > at || last > at || longest > when) return undefined;
  return {
    ...{ link: Number(link), now: at * 10, joined: joined === 'yes', broken, beats },
    ...{ longestMs: longest * 10, when: when * 10, last: last * 10 },
  };
}
