import type { Installation } from '../../kernel/installation.ts';
import type { OpenStage, Remember } from '../../kernel/stage.ts';
import { oldestRelease, UNKNOWN_RELEASE } from './oldest-release.ts';

/**
 * What is installed, for the run record: whichever stage writes first, the cluster does not tell it any more once that stage has continued.
 * What the stage itself wants remembered counts more.
 */
export function rememberingInstalled(open: OpenStage, installation: Installation): OpenStage {
  return {
    ...open,
    plan() {
      const plan = open.plan();
      return 'skip' in plan ? plan : { ...plan, remember: { ...rememberOf(installation), ...plan.remember } };
    },
  };
}

/** Path, variant and releases that are installed, and on how many nodes. */
export function rememberOf(installation: Installation): Remember {
  const { path, variant, release, nodes } = installation;
  const oldest = oldestRelease(installation) ?? UNKNOWN_RELEASE;
  return {
    ...{ path, oldest },
    ...(variant === undefined ? {} : { variant }),
    ...(release === undefined ? {} : { source: release }),
    ...(nodes === undefined ? {} : { nodes }),
  };
}
