import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkTitles } from '../src/features/chain.ts';

export const CHECKS_INDEX = join(import.meta.dirname, '..', 'docs', 'reference', 'checks', 'README.md');

/** What the first digit after `NS-` tells. */
const FAMILIES: Readonly<Record<string, string>> = {
  0: 'Kubernetes and access',
  1: 'Installation',
  2: 'Apply',
  3: 'Wait, verify and CLI',
  4: 'Workloads and nodes',
  5: 'Resources of the service',
  6: 'Target manifest',
  7: 'Follow-up procedures',
  8: 'This machine and its tools',
  9: 'Advice',
};

/** docs/reference/checks/README.md, from the rows of all checks. */
export function checksIndex(): string {
  return `# Checks

What each check means, why it matters at this upgrade, how to fix what it finds, and when it may be accepted
(\`--accept ID\`, or \`--accept ID=SUBJECT\` for one piece of evidence). The same text comes from \`kubectl netsvc-upgrade explain ID\`.
<!-- written by build/checks-index.ts -->
${Object.entries(FAMILIES).map(familyTable).join('')}`;
}

function familyTable([digit, name]: readonly [string, string]): string {
  const rows = Object.entries(checkTitles).filter(([id]) => id.charAt(3) === digit);
  return `\n## ${name}\n\n| Id | Check |\n|---|---|\n${rows.map(([id, title]) => `| [${id}](${id}.md) | ${title} |\n`).join('')}`;
}

/** The id that a new check of each family gets: above all that are given out. */
export function freeIds(): readonly string[] {
  const given = Object.keys(checkTitles);
  return Object.keys(FAMILIES).map((digit) => {
    const numbers = given.filter((id) => id.charAt(3) === digit).map((id) => Number(id.slice(3)));
    return `NS-${String(Math.max(...numbers) + 1).padStart(3, '0')}`;
  });
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(CHECKS_INDEX, checksIndex());
  const rows = Object.values(FAMILIES).map((family, index) => `${freeIds()[index]}  ${family}\n`);
  process.stdout.write(`The next free id of each family:\n${rows.join('')}`);
}
