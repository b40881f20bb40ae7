import {
  constructFromEvents,
  defineScalarTag,
  EVENT_ID,
  type Event,
  mapTag,
  NOT_RESOLVED,
  parseEvents,
  SCALAR_STYLE,
  Schema,
  seqTag,
  strTag,
} from 'js-yaml';

/** Tabs, other line ends and what else counts as white space here and there. */
const ODD = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\u00a0\ufeff\ufffe\uffff]/u;

/** The end of a document: readers differ about one before the content. */
const END = /^\.\.\./m;

/** Plain texts that may be something else than a text: numbers, booleans, null, merge keys; `=` too. */
const MAY_BE_OTHER = /^(?:$|[-+.\d~=<]|(?:y|n|yes|no|on|off|true|false|null)$)/i;

export interface QuickReading {
  readonly value: unknown;
  /** Line of the first content, counted from 1. */
  readonly line: number;
}

/**
 * Reads a document up to ten times as fast as the careful reader, whose answer for ambiguous plain text is `plain`. Undefined wherever the
 * two could differ: several documents, errors, anchors, tags, quoted text too far left, odd keys.
 */
export function readQuickly(text: string, plain: (source: string) => unknown): QuickReading | undefined {
  if (ODD.test(text) || END.test(text)) return undefined;
  try {
    const events = parseEvents(text, {});
    const start = rootOf(events);
    if (start === undefined || !isPlainlyWritten(events, text)) return undefined;
    const [value] = constructFromEvents(events, { source: text, schema: schemaWith(plain) });
    return { value, line: text.slice(0, start).split('\n').length };
  } catch {
    return undefined;
  }
}

/** Where the one map begins; undefined for anything else. */
function rootOf([document, root, ...rest]: readonly Event[]): number | undefined {
  if (document?.type !== EVENT_ID.DOCUMENT || document.directives.length > 0 || root?.type !== EVENT_ID.MAPPING) return undefined;
  return rest.some(({ type }) => type === EVENT_ID.DOCUMENT) ? undefined : root.start;
}

function isPlainlyWritten(events: readonly Event[], text: string): boolean {
  // Of each collection that is open, whether it is a map and how many nodes it has had.
  const open: { readonly map: boolean; nodes: number }[] = [];
  return events.every((event) => {
    if (event.type === EVENT_ID.DOCUMENT) return true;
    if (event.type === EVENT_ID.POP) {
      open.pop();
      return true;
    }
    if (event.type === EVENT_ID.ALIAS || event.anchorStart >= 0 || event.tagStart >= 0) return false;
    const around = open.at(-1);
    const isKey = around?.map === true && around.nodes % 2 === 0;
    if (around) around.nodes += 1;
    if (event.type === EVENT_ID.SCALAR) return isKey ? isPlainKey(event, text) : isPlainText(event, text);
    open.push({ map: event.type === EVENT_ID.MAPPING, nodes: 0 });
    return !isKey;
  });
}

/** Before a text in quotes that no key and no dash stands before. */
const OWN_LINE = /^ +["']$/;

type Text = Extract<Event, { readonly type: typeof EVENT_ID.SCALAR }>;

function isPlainText({ style, valueStart, valueEnd }: Text, text: string): boolean {
  if (style !== SCALAR_STYLE.SINGLE_QUOTED && style !== SCALAR_STYLE.DOUBLE_QUOTED) return true;
  const [, ...later] = text.slice(valueStart, valueEnd).split('\n');
  if (later.length === 0) return true;
  // Readers disagree about later lines that stand no further right than the key, which is further left where the text has its own line.
  const line = text.slice(text.lastIndexOf('\n', valueStart) + 1, valueStart);
  const least = OWN_LINE.test(line) ? line.length - 1 : (/^[ -]*/.exec(line)?.[0].length ?? 0) + 1;
  return later.every((one) => one === '' || one.search(/[^ ]/) >= least);
}

/** Longer ones are refused by some. */
const LONGEST_KEY = 1_000;

function isPlainKey(event: Text, text: string): boolean {
  const source = text.slice(event.valueStart, event.valueEnd);
  if (source.length > LONGEST_KEY || source === '__proto__' || !isPlainText(event, text)) return false;
  return event.style !== SCALAR_STYLE.PLAIN || !MAY_BE_OTHER.test(source);
}

/** A number without a sign, a fraction or a leading zero: the same by all rules. */
const WHOLE = /^(?:0|[1-9]\d{0,14})$/;

function schemaWith(plain: (source: string) => unknown): Schema {
  const known = new Map<string, unknown>([
    ['', null],
    ['true', true],
    ['false', false],
  ]);
  const scalar = defineScalarTag<unknown>('tag:netsvc-upgrade,plain', {
    implicit: true,
    resolve(source, isExplicit) {
      // A text of several paragraphs is no number and no boolean.
      if (isExplicit || source.includes('\n') || !MAY_BE_OTHER.test(source)) return NOT_RESOLVED;
      if (WHOLE.test(source)) return Number(source);
      if (!known.has(source)) known.set(source, plain(source));
      return known.get(source);
    },
    identify: () => false,
  });
  return new Schema([scalar, strTag, seqTag, mapTag]);
}
