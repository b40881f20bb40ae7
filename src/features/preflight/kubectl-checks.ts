import { type Check, notApplicable, ok, type Reading, read } from '../../kernel/check.ts';
import type { ClientFacts } from '../survey/index.ts';
import { failed, type PreflightCheck } from '../survey/index.ts';
import { minorNumber } from './server-checks.ts';

const INSTALL = 'Install kubectl of the server’s minor version and put it on PATH.';
const CLIENT = 'kubectl version --client';

/** What the first two checks need: every stage that starts kubectl knows it and evaluates them too. */
interface KubectlJudged {
  readonly client: Reading<ClientFacts>;
}

export const kubectlFound: Check<KubectlJudged> = {
  id: 'NS-003',
  title: 'kubectl found',
  category: 'tools',
  severity: 'error',
  ref: '§1/5',
  judge: (facts) => {
    const { path, gitVersion } = read(facts.client);
    if (path === undefined) return failed('kubectl is not on PATH', INSTALL, { next: CLIENT });
    return ok(`kubectl ${gitVersion ?? 'of unknown version'} at ${path}`);
  },
};

/** Below: server-side apply is not yet stable. */
const FLOOR = 22;
/** From here on kubectl moves the fields of an earlier client-side apply to the server-side one (domain §6.4). */
const MIGRATES = 26;

export const kubectlNewEnough: Check<KubectlJudged> = {
  id: 'NS-004',
  title: 'kubectl new enough for server-side apply',
  category: 'tools',
  severity: 'error',
  ref: 'domain §6.4',
  judge: (facts) => {
    const { path, gitVersion } = read(facts.client);
    if (path === undefined) return notApplicable('there is no kubectl');
    if (gitVersion === undefined) return failed('kubectl does not tell its version', INSTALL, { next: CLIENT });
    const minor = minorNumber(gitVersion);
    if (minor >= MIGRATES) return ok(`kubectl ${gitVersion} takes over client-side applied fields`);
    const because = `kubectl ${gitVersion} is older than v1.${MIGRATES}: containers and variables that the target dropped would stay`;
    return failed(because, INSTALL, { next: CLIENT, severity: minor < FLOOR ? 'error' : 'warning' });
  },
};

/** Of every plan that starts kubectl, before anything is written. */
export const kubectlChecks: readonly Check<KubectlJudged>[] = [kubectlFound, kubectlNewEnough];

export const kubectlSkewChecks: readonly PreflightCheck[] = [
  {
    id: 'NS-005',
    title: 'kubectl within one minor of the server',
    category: 'tools',
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
        { next: CLIENT },
      );
    },
  },
];
