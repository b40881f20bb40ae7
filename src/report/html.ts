import { visible } from '../kernel/visible.ts';

/** Text that is already HTML. Only `html` makes it, so that a plain text can never become markup. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlValue = string | number | undefined | Html | readonly HtmlValue[];

/** A template whose values are escaped unless they are Html themselves; safe in text and in quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, index) => part + rendered(values[index])).join(''));
}

function rendered(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? escaped(value) : value.map(rendered).join('');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '`': '&#96;' };

function escaped(text: string): string {
  return visible(text).replace(/[&<>"'`]/g, (one) => ENTITIES[one] ?? one);
}

/** Data for the page's own script, in an element of a type that no browser runs. */
export function dataBlock(id: string, data: unknown): Html {
  const shown = JSON.stringify(data, (_, value: unknown) => (typeof value === 'string' ? visible(value) : value));
  const text = shown.replace(/[<>&\u2028\u2029]/g, (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
  return html`<script type="application/json" id="${id}">${new Html(text)}</script>`;
}
