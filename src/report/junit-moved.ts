import type { PlannedStage } from '../kernel/plan.ts';
import type { JunitCase } from './junit.ts';
import { editRows, hostRows, ownerRows, takenRows, twoWayRows } from './report-parts.ts';

/** Suites of what was met of other people's things. An edit that waits for a decision does not pass; what a check judges (hosts) does, with its verdict. */
export function movedSuites(plans: readonly PlannedStage[]): readonly { readonly name: string; readonly cases: readonly JunitCase[] }[] {
  return [
    { name: 'edits', cases: editRows(plans).map(editCase) },
    {
      name: 'differences that no base explains',
      cases: twoWayRows(plans).map(({ field, live, target, owners }) =>
        passed('differences', field, [`installed: ${live}`, `target: ${target}`, `field managers: ${owners}`].join('\n')),
      ),
    },
    {
      name: 'ownership taken over',
      cases: takenRows(plans).map(({ object, field, from, hint }) =>
        passed('ownership', `${object} ${field}`.trim(), `was of ${from}${hint === '' ? '' : `. ${hint}`}`),
      ),
    },
    {
      name: 'owner references',
      cases: ownerRows(plans).map(({ object, what, owner }) => passed('owner references', `${object} ${owner}`, what)),
    },
    {
      name: 'host endpoints',
      cases: hostRows(plans).map(({ node, verdict, detail }) =>
        verdict === 'same' ? passed('host endpoints', node) : passed('host endpoints', node, `${verdict}: ${detail}`),
      ),
    },
  ];
}

const passed = (group: string, name: string, text = ''): JunitCase => ({ group, name, outcome: 'passed', text });

function editCase({ object, field, outcome, isOpen, mine, theirs, from, note }: ReturnType<typeof editRows>[number]): JunitCase {
  const text = [outcome, `yours: ${mine}`, `target: ${theirs}`, `found in ${from}`, note].filter((line) => line !== '').join('\n');
  const of = { group: 'edits', name: `${object} ${field}`.trim(), text };
  return isOpen ? { ...of, outcome: 'failed', message: outcome } : { ...of, outcome: 'passed' };
}
