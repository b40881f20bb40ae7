import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read } from '../../kernel/check.ts';
import { failed, type PreflightCheck, withInstallation } from '../survey/index.ts';

const MIB = 1024 ** 2;
/** Manifests, a backup and the new CLI. */
const NEEDED = 256 * MIB;
const COMFORTABLE = 1024 * MIB;

export const machineChecks: readonly PreflightCheck[] = [
  {
    id: 'NS-804',
    title: 'chart tool found',
    category: 'tools',
    severity: 'error',
    ref: '§4.2/2',
    judge: withInstallation((installation, facts) => {
      if (installation.path !== 'chart') return notApplicable(`the ${installation.path} path does not use the chart tool`);
      const [first] = read(facts.chartTool);
      if (first !== undefined) return ok(`helm at ${first}`);
      return failed(
        'helm is not on PATH, and this installation came from a chart',
        'Install helm 3.14 or newer, or helm 4, and put it on PATH.',
        {
          next: 'helm version',
        },
      );
    }),
  },
  {
    id: 'NS-801',
    title: 'work folder usable',
    category: 'tools',
    severity: 'error',
    ref: '§4.1',
    judge: (facts) => {
      const { path, freeBytes, writable } = read(facts.work);
      const free = `${Math.floor(freeBytes / MIB)} MiB`;
      if (!writable) {
        const hint = 'Correct its permissions, or name another place with XDG_STATE_HOME: an upgrade keeps its backup and its files there.';
        return failed(`the work folder ${path} cannot be written`, hint, { next: command`ls -ld ${path}` });
      }
      if (freeBytes >= COMFORTABLE) return ok(`${free} free in ${path}`);
      return failed(
        `only ${free} free in the work folder ${path}`,
        `Free some space: manifests, the backup and the new CLI need at least ${NEEDED / MIB} MiB.`,
        { next: command`df -h ${path}`, severity: freeBytes < NEEDED ? 'error' : 'warning' },
      );
    },
  },
];
