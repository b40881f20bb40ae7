import { refText } from '../kernel/object.ts';
import type { PlannedStage } from '../kernel/plan.ts';
import { clip, columns } from './columns.ts';
import { maskedTwoWay } from './mask.ts';

const VALUE_WIDTH = 40;

/** What is installed against the target where no base tells edits: the user reads it and says whether it may go. */
export function twoWayLines(stages: readonly PlannedStage[], wide: boolean, namespace?: string): readonly string[] {
  const fields = stages
    .flatMap(({ twoWay }) => twoWay ?? [])
    .filter(({ ref }) => namespace === undefined || ref.namespace === undefined || ref.namespace === namespace)
    .map(maskedTwoWay);
  if (fields.length === 0) return [];
  const shown = (value: unknown) => {
    if (value === undefined) return '(goes)';
    const text = (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\n', '⏎');
    return wide ? text : clip(text, VALUE_WIDTH);
  };
  const rows = fields.map(({ ref, path, live, target, owners }) => [
    `${refText(ref)} ${path}`.trim(),
    shown(live),
    shown(target),
    owners.join(', ') || 'nobody',
  ]);
  return [
    'no base tells your edits from the release: every field that differs',
    ...columns([['FIELD', 'LIVE', 'TARGET', 'OWNER'], ...rows]),
  ];
}
