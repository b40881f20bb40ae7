import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { failed, listed, type PreflightCheck } from '../survey/index.ts';

export const chartPreflightChecks: readonly PreflightCheck[] = [
  /** What `apply` would find now, told before anything is written (§4.2/2). */
  {
    id: 'NS-608',
    title: 'chart release can be upgraded',
    category: 'manifest',
    severity: 'error',
    ref: '§4.2/2',
    judge(facts, { chain }) {
      // In a chain that continues to it, its own findings are shown.
      if (chain?.later.includes('apply')) return notApplicable('checked by apply');
      const findings = read(facts.chart);
      if (findings === undefined) return notApplicable('this path does not use the chart tool');
      const open = findings.filter(({ outcome }) => outcome === 'error');
      const [first] = open;
      if (first === undefined) return ok('the chart release can be upgraded');
      const ids = listed(open.map(({ id }) => id));
      const conflicts = open.every(({ exit }) => exit === 'conflicts');
      const more = open.length > 1 ? ` (and ${counted(open.length - 1, 'more finding')}: the details of each are shown with -o wide)` : '';
      return failed(
        `${counted(open.length, 'finding')} against the upgrade of the chart release: ${ids}`,
        `${first.id}: ${first.hint ?? first.message}${more}`,
        {
          evidence: open.map(({ id, message }) => ({ text: id, detail: message })),
          next: first.next ?? command`kubectl netsvc-upgrade explain ${first.id}`,
          ...(conflicts ? { exit: 'conflicts' } : {}),
        },
      );
    },
  },
];
