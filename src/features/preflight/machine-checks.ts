import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { parseRelease, releaseTag } from '../../kernel/release.ts';
import { imageName } from '../sidecars/mesh-checks.ts';
import { failed, failIfAny, PROGRAM, preflightCheck, withInstallation } from '../survey/define-check.ts';
import type { CliFile } from '../survey/facts.ts';

const MIB = 1024 ** 2;
/** Manifests, a backup and the new CLI. */
const NEEDED = 256 * MIB;
const COMFORTABLE = 1024 * MIB;

export const workFolder = preflightCheck('NS-801', {
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
});

function isCurrent({ release }: CliFile, target: string): boolean {
  const [own, wanted] = [parseRelease(release ?? ''), parseRelease(target)];
  return own !== undefined && wanted !== undefined && releaseTag(own) === releaseTag(wanted);
}

export const noOldCli = preflightCheck('NS-802', {
  category: 'tools',
  severity: 'warning',
  ref: '§1/4',
  judge: (facts, { profile, options }): Verdict => {
    const files = read(facts.clis);
    const old = files.filter((file) => !isCurrent(file, options.release));
    const passed = files.length === 0 ? `no ${profile.cli.program} on PATH` : `${profile.cli.program} ${options.release} on PATH`;
    return failIfAny(
      old.map(({ file, release }): Evidence => ({ text: file, detail: release ?? 'does not tell its release' })),
      passed,
      (names) => ({
        because: `${counted(old.length, 'older CLI')} on PATH: ${names}`,
        hint: 'Replace it as part of the upgrade: an older CLI must not be used afterwards.',
        next: `${PROGRAM} cli --dry-run=server`,
      }),
    );
  },
});

export const noOldCliInCluster = preflightCheck('NS-803', {
  category: 'tools',
  severity: 'warning',
  ref: '§1/4',
  judge: (facts, { profile, options }) => {
    const names = profile.cli.images.map(imageName);
    const old = read(facts.pods).flatMap((pod) => {
      if (pod.ended) return [];
      const image = pod.containers.find((container) => names.includes(imageName(container.image)))?.image;
      if (image === undefined || image.endsWith(`:${options.release}`)) return [];
      return [{ text: `Pod/${pod.namespace}/${pod.name}`, detail: image }];
    });
    return failIfAny(old, `no older ${profile.cli.program} in the cluster`, (text) => ({
      because: `${counted(old.length, 'pod')} with another release of ${profile.cli.program}: ${text}`,
      hint: `Delete it before the upgrade and start it again with ${options.release} afterwards.`,
      next: deleteCommand(old[0]?.text),
    }));
  },
});

function deleteCommand(text = ''): string {
  const [, namespace, name] = text.split('/');
  return command`kubectl delete pod ${name ?? ''} -n ${namespace ?? ''}`;
}

export const chartTool = preflightCheck('NS-804', {
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
});
