import { type Command, command } from '../../kernel/argv.ts';
import { notApplicable, ok, read } from '../../kernel/check.ts';
import { localRepairCommand, type RepairCommand } from '../../kernel/command.ts';
import { isByChart } from '../../kernel/installation.ts';
import { failed, type PreflightCheck, type PreflightFacts, table, withInstallation } from '../survey/index.ts';
import { minorNumber } from '../tested-way/index.ts';

const INSTALL = 'Download kubectl of the server’s minor version, make it executable, and put it on PATH before any other.';

/** Where Kubernetes publishes kubectl. A server's version may have more at its end: `v1.35.1+k3s1`. */
function download({ client, server }: KubectlJudged): { readonly next: Command; readonly fix?: RepairCommand } {
  const { platform } = read(client);
  const version = server && 'value' in server ? /^v\d+\.\d+\.\d+/.exec(server.value.gitVersion)?.[0] : undefined;
  const program = platform.startsWith('windows/') ? 'kubectl.exe' : 'kubectl';
  if (version === undefined) return { next: CLIENT };
  return { fix: localRepairCommand`curl -fLO ${`https://dl.k8s.io/release/${version}/bin/${platform}/${program}`}`, next: CLIENT };
}

/** Where the server is not asked. */
const CLIENT = command`kubectl version --client`;

const MIB = 1024 ** 2;
/** Free space for manifests, a backup and the new CLI. */
export const NEEDED_MIB = 256;
const NEEDED = NEEDED_MIB * MIB;
const COMFORTABLE = 1024 * MIB;

const TOOLS = { category: 'tools', severity: 'error' } as const;

export const machineChecks: readonly PreflightCheck[] = table(TOOLS, [
  {
    id: 'NS-005',
    title: 'kubectl within one minor of the server',
    severity: 'warning',
    ref: 'domain §13',
    judge: (facts) => {
      const { path, gitVersion } = read(facts.client);
      const server = read(facts.server);
      if (path === undefined || gitVersion === undefined) return notApplicable('the version of kubectl is not known');
      const apart = Math.abs(minorNumber(gitVersion) - Number.parseInt(server.minor, 10));
      if (apart <= 1) return ok(`kubectl ${gitVersion}, server ${server.gitVersion}`);
      return failed(
        `kubectl ${gitVersion} and server ${server.gitVersion} are ${apart} minors apart; kubectl supports one minor of difference`,
        INSTALL,
        download(facts),
      );
    },
  },
  {
    id: 'NS-804',
    title: 'chart tool found',
    ref: '§4.2/2',
    isNeverWaived: true,
    judge: withInstallation((installation, facts) => {
      if (!isByChart(installation)) return notApplicable(`the ${installation.path} path does not use the chart tool`);
      const [first] = read(facts.chartTool);
      if (first !== undefined) return ok(`helm at ${first}`);
      return failed(
        'helm is not on PATH, and this installation came from a chart',
        'Install helm 3.14 or newer, or helm 4, and put it on PATH.',
        { next: command`helm version` },
      );
    }),
  },
  {
    id: 'NS-801',
    title: 'work folder usable',
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
        `Free some space: manifests, the backup and the new CLI need at least ${NEEDED_MIB} MiB.`,
        { next: command`df -h ${path}`, severity: freeBytes < NEEDED ? 'error' : 'warning' },
      );
    },
  },
]);

/** What the checks below need: every stage that starts kubectl evaluates them too, and asks for the server where one of them is open. */
type KubectlJudged = Pick<PreflightFacts, 'client'> & Partial<Pick<PreflightFacts, 'server'>>;

/** Below: server-side apply is not yet stable. */
const FLOOR = 22;
/** From here on kubectl moves the fields of an earlier client-side apply to the server-side one (domain §6.4). */
export const OLDEST_KUBECTL = 26;

/** Of every plan that starts kubectl, before anything is written. */
export const kubectlChecks = table<KubectlJudged, typeof TOOLS>(TOOLS, [
  {
    id: 'NS-003',
    title: 'kubectl found',
    ref: '§1/5',
    isNeverWaived: true,
    judge: (facts) => {
      const { path, gitVersion } = read(facts.client);
      if (path === undefined) return failed('kubectl is not on PATH', INSTALL, download(facts));
      return ok(`kubectl ${gitVersion ?? 'of unknown version'} at ${path}`);
    },
  },
  {
    id: 'NS-004',
    title: 'kubectl new enough for server-side apply',
    ref: 'domain §6.4',
    judge: (facts) => {
      const { path, gitVersion } = read(facts.client);
      if (path === undefined) return notApplicable('there is no kubectl');
      if (gitVersion === undefined) return failed('kubectl does not tell its version', INSTALL, download(facts));
      const minor = minorNumber(gitVersion);
      if (minor >= OLDEST_KUBECTL) return ok(`kubectl ${gitVersion} takes over client-side applied fields`);
      const because = `kubectl ${gitVersion} is older than v1.${OLDEST_KUBECTL}: containers and variables that the target dropped would stay`;
      return failed(because, INSTALL, { ...download(facts), severity: minor < FLOOR ? 'error' : 'warning' });
    },
  },
]);
