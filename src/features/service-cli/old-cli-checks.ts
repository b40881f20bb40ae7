import { command } from '../../kernel/argv.ts';
import { type Evidence, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { parseImage, parseRelease, releaseTag } from '../../kernel/release.ts';
import { type CliFile, failIfAny, PROGRAM, type PreflightCheck } from '../survey/index.ts';

function isCurrent({ release }: CliFile, target: string): boolean {
  const [own, wanted] = [parseRelease(release ?? ''), parseRelease(target)];
  return own !== undefined && wanted !== undefined && releaseTag(own) === releaseTag(wanted);
}

export const noOldCli: PreflightCheck = {
  id: 'NS-802',
  title: 'no older CLI on PATH',
  category: 'tools',
  severity: 'warning',
  ref: '§1/4',
  judge: (facts, { profile, options }): Verdict => {
    const files = read(facts.clis);
    const old = files.filter((file) => !isCurrent(file, options.release));
    const passed = files.length === 0 ? `no ${profile.cli.program} on PATH` : `${profile.cli.program} ${options.release} on PATH`;
    const evidence = old.map(({ file, release }): Evidence => ({ text: file, detail: release ?? 'does not tell its release' }));
    return failIfAny(evidence, passed, (names) => ({
      because: `${counted(old.length, 'older CLI')} on PATH: ${names}`,
      hint: 'The stage cli of the upgrade replaces it. Do not use the older CLI afterwards.',
      next: `${PROGRAM} cli --dry-run=server`,
    }));
  },
};

export const oldCliChecks: readonly PreflightCheck[] = [
  {
    id: 'NS-803',
    title: 'no older CLI in the cluster',
    category: 'tools',
    severity: 'warning',
    ref: '§1/4',
    judge: (facts, { profile, options }) => {
      const names = profile.cli.images.map((image) => parseImage(image).name);
      const old = read(facts.pods).flatMap((pod) => {
        if (pod.ended) return [];
        const image = pod.containers.find((container) => names.includes(parseImage(container.image).name))?.image;
        if (image === undefined || image.endsWith(`:${options.release}`)) return [];
        return [{ text: `Pod/${pod.namespace}/${pod.name}`, detail: image }];
      });
      return failIfAny(old, `no older ${profile.cli.program} in the cluster`, (text) => ({
        because: `${counted(old.length, 'pod')} with another release of ${profile.cli.program}: ${text}`,
        hint: `Store its manifest, delete the pod before the upgrade, and create it again with ${options.release} afterwards.`,
        next: showCommand(old[0]?.text),
      }));
    },
  },
];

function showCommand(text = ''): string {
  const [, namespace, name] = text.split('/');
  return command`kubectl get pod ${name ?? ''} -n ${namespace ?? ''} -o yaml`;
}
