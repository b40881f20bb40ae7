import type { EffectTypes } from '../../kernel/effect-type.ts';
import { whole } from '../../kernel/effect-type.ts';
import { K } from '../../kernel/kinds.ts';
import { timeText } from '../../kernel/time-text.ts';
import { probeText } from './image-probe.ts';
import type { ProbeImages } from './probe-images.ts';
import { probeImages } from './probe-images.ts';

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'probe-images': ProbeImages;
  }
}

export const imageEffects: Pick<EffectTypes, 'probe-images'> = {
  'probe-images': {
    does: 'writes',
    isFixed: false,
    perform: async (ports, effect, around) => ({ detail: await probeImages(ports, effect, { signal: around.stop, ...around }) }),
    async dryRun({ cluster }, { daemonSet }) {
      await cluster.dryRunCreate(K.DaemonSet, daemonSet);
      return { detail: 'not created (dry run)' };
    },
    text: ({ daemonSet, images, timeoutMs }) =>
      `create ${probeText(daemonSet)} with ${images.length} images, watch its pods for at most ${timeText(timeoutMs)}, then delete it`,
    mask: whole,
    digest: whole,
  },
};
