import { BACK, RUN, sweptCluster } from '../test/support/rollback-sweep.ts';
import { program, surroundingsEnv } from '../test/support/upgrade-process.ts';
import { type Section, sample } from './measure.ts';
import { besideRequests } from './plan.ts';

/** An upgrade and its rollback, in turns on one cluster, with Typha: what the rollback takes beside the way forward. On a busy machine read the CPU. */
export async function rollbackOn(nodes: number, rounds: number): Promise<Section> {
  const cluster = await sweptCluster({ source: 'v3.27.5', file: 'calico-typha.yaml', nodes });
  try {
    const env = surroundingsEnv(cluster.around);
    const lines = [
      '| nodes | round | forward, s | back, s | ratio | CPU forward, s | CPU back, s | plan of the rollback, s |',
      '|---|---|---|---|---|---|---|---|',
    ];
    const planned = { name: '`plan --rollback`', program, args: ['plan', '--rollback', ...BACK.slice(2)], env };
    let beside = '';
    for (let round = 1; round <= rounds; round += 1) {
      const forward = await sample({ name: 'run', program, args: [...RUN], env });
      const plan = await sample(planned);
      if (round === 1) beside = await besideRequests(planned, 5);
      const back = await sample({ name: 'rollback', program, args: [...BACK], env });
      const [there, again, looked] = [forward, back, plan].map(({ wallMs }) => (wallMs / 1000).toFixed(1));
      const cpu = [forward, back].map(({ cpuMs }) => (cpuMs / 1000).toFixed(1)).join(' | ');
      lines.push(`| ${nodes} | ${round} | ${there} | ${again} | ${(back.wallMs / forward.wallMs).toFixed(2)}× | ${cpu} | ${looked} |`);
    }
    return {
      title: 'Rollback',
      aim: 'at most 1.1× the way forward on the same cluster, beside a write for each label and name. Its plan: at most 1.0 s beside its requests.',
      lines: [...lines, '', beside],
    };
  } finally {
    await cluster.stop();
  }
}
