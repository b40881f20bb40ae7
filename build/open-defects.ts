import { calico } from '../src/profiles/calico.ts';

/** Prints the defects that are open in the newest release that their rows know: `node build/open-defects.ts`. Newer releases count as having them. */
for (const { id, lines, sources } of calico.defects ?? []) {
  const last = lines.at(-1);
  if (last && 'openOn' in last) console.log([last.from, id, ...sources].join('  '));
}
