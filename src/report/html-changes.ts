import { counted } from '../kernel/counted.ts';
import { refText } from '../kernel/object.ts';
import type { FieldChange, PlannedObject, PlannedStage } from '../kernel/plan.ts';
import { clip } from './columns.ts';
import { type Html, html } from './html.ts';

const FIELDS = 100;
const OBJECTS = 1000;
const VALUE_WIDTH = 160;

/** What was planned for each object: fields, what stays behind. */
export function changesSection(plans: readonly PlannedStage[]): Html | undefined {
  const objects = plans.flatMap((plan) => plan.objects);
  const changed = objects.filter(({ change }) => change !== 'unchanged');
  const notes = plans.flatMap((plan) => plan.notes.map((note) => html`<li>${plan.id}: ${note}</li>`));
  if (objects.length === 0 && notes.length === 0) return undefined;
  const more = changed.length - OBJECTS;
  return html`<section id="changes"><h2>What was planned for each object</h2>
${notes.length > 0 ? html`<ul>${notes}</ul>` : ''}
<p>${changed.length} to change, ${objects.length - changed.length} as they are.</p>
${changed.length > 0 ? objectTable(changed.slice(0, OBJECTS)) : ''}${more > 0 ? html`<p>and ${more} more, all in the JSON report</p>` : ''}</section>
`;
}

function objectTable(objects: readonly PlannedObject[]): Html {
  return html`<div class="wide" tabindex="0" role="region" aria-label="objects"><table class="found"><thead><tr><th scope="col">Object</th><th scope="col">Change</th><th scope="col">Fields</th></tr></thead>
<tbody>${objects.map(objectRow)}</tbody></table></div>
`;
}

function objectRow({ ref, change, fields, hidden, note }: PlannedObject): Html {
  const more = fields.length - FIELDS;
  const list = html`<ul>${fields.slice(0, FIELDS).map(fieldItem)}${hidden.map((path) => html`<li><code>${path}</code> will be removed; kubectl’s dry run does not show it</li>`)}</ul>`;
  const details = html`<details><summary>${counted(fields.length + hidden.length, 'field')}</summary>${list}${more > 0 ? html`<p>and ${more} more, all in the JSON report</p>` : ''}</details>`;
  return html`<tr><th scope="row">${refText(ref)}</th><td>${change}</td><td>${note}${fields.length + hidden.length > 0 ? details : ''}</td></tr>
`;
}

function fieldItem({ path, before, after }: FieldChange): Html {
  const removed = before === undefined ? '' : html` <del>${valueText(before)}</del>`;
  const added = after === undefined ? '' : html` <ins>${valueText(after)}</ins>`;
  return html`<li><code>${path}</code>${removed}${added}</li>`;
}

function valueText(value: unknown): string {
  return clip(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), VALUE_WIDTH);
}
