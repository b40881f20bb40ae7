import assert from 'node:assert/strict';
import { metricsText, type RunMetrics } from '../../src/report/metrics.ts';

const BEGUN: RunMetrics = { info: { to: 'v3.32.1' }, startedAt: 100, updatedAt: 115, finished: false, stages: new Map(), pods: new Map() };
const samples = (run: RunMetrics) =>
  metricsText(run)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

describe('the metrics of a run', () => {
  it('have what is known, each metric with HELP and TYPE, and no time of a sample', () => {
    assert.deepEqual(samples(BEGUN), [
      'netsvc_upgrade_info{to="v3.32.1"} 1',
      'netsvc_upgrade_running 1',
      'netsvc_upgrade_finished 0',
      'netsvc_upgrade_start_time_seconds 100',
      'netsvc_upgrade_last_update_time_seconds 115',
    ]);
    const lines = metricsText(BEGUN).split('\n');
    assert.equal(lines.at(-1), '', 'the last line ends');
    for (const [index, line] of lines.entries()) {
      const [, name] = /^# HELP (\w+) \S/.exec(line) ?? [];
      if (name !== undefined) assert.equal(lines[index + 1], `# TYPE ${name} gauge`);
    }
    assert.equal(lines.filter((line) => line.startsWith('# HELP')).length, 5);
  });

  it('have the end, the stages, the pods and the findings', () => {
    const run: RunMetrics = {
      ...BEGUN,
      ...{ exit: 5, step: { step: 5, of: 9 }, findings: { error: 1, warning: 0 } },
      stages: new Map([
        ['backup', { state: 'done', seconds: 0.5 }],
        ['apply', { state: 'failed' }],
      ]),
      pods: new Map([['DaemonSet/kube-system/calico-node', { old: 2, updating: 0, new: 1, failed: 1 }]]),
    };
    assert.deepEqual(samples(run).slice(1), [
      'netsvc_upgrade_running 0',
      'netsvc_upgrade_finished 0',
      'netsvc_upgrade_exit_code 5',
      'netsvc_upgrade_start_time_seconds 100',
      'netsvc_upgrade_last_update_time_seconds 115',
      'netsvc_upgrade_step 5',
      'netsvc_upgrade_steps 9',
      'netsvc_upgrade_stage_state{stage="backup",state="done"} 1',
      'netsvc_upgrade_stage_state{stage="apply",state="failed"} 1',
      'netsvc_upgrade_stage_duration_seconds{stage="backup"} 0.5',
      'netsvc_upgrade_rollout_pods{workload="DaemonSet/kube-system/calico-node",phase="old"} 2',
      'netsvc_upgrade_rollout_pods{workload="DaemonSet/kube-system/calico-node",phase="updating"} 0',
      'netsvc_upgrade_rollout_pods{workload="DaemonSet/kube-system/calico-node",phase="new"} 1',
      'netsvc_upgrade_rollout_pods{workload="DaemonSet/kube-system/calico-node",phase="failed"} 1',
      'netsvc_upgrade_findings{outcome="error"} 1',
      'netsvc_upgrade_findings{outcome="warning"} 0',
    ]);
  });

  it('let no name of the cluster leave its label', () => {
    const [info] = samples({ ...BEGUN, info: { from: 'a"} 1\nnetsvc_upgrade_finished 1\\' } });
    assert.equal(info, String.raw`netsvc_upgrade_info{from="a\"} 1\\nnetsvc_upgrade_finished 1\\"} 1`);
    const [hidden] = samples({ ...BEGUN, info: { from: '\u001b[2J' } });
    assert.equal(hidden, String.raw`netsvc_upgrade_info{from="\\u001b[2J"} 1`);
  });
});
