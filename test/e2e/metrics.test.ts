import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtLint } from '../prometheus/lint.ts';
import { testFolder } from '../support/folders.ts';
import { describeWhere, lacksProgram } from '../support/needs.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

const problem = lacksProgram('go');

describeWhere(problem, 'the metrics of a run, by the lint of promtool', function () {
  this.timeout(0); // the very first run builds it
  const folder = testFolder('promlint-');
  let lint: (metrics: string) => string;
  before(async () => {
    lint = await builtLint();
  });

  for (const [what, fault, exit] of [
    ['that came to its end', 'none', 0],
    ['that a pod stopped', 'crash-loop', 5],
  ] as const)
    it(`have nothing to complain of in a run ${what}`, async () => {
      const scenario = await installedSandbox();
      scenario.cluster.nodes.fault('node-02', fault);
      const file = join(folder, `${fault}.prom`);
      assert.equal(await sandboxCommand(scenario).run('run', '--yes', '--metrics-file', file), exit);
      const text = readFileSync(file, 'utf8');
      assert.match(text, /^netsvc_upgrade_rollout_pods\{workload="DaemonSet\/kube-system\/netsvc-node",phase="new"\} \d$/m);
      assert.equal(lint(text), '');
    });

  it('would be found if they were wrong', () => {
    assert.match(lint('netsvc_upgrade_x 1\n'), /no help text/);
    assert.match(lint('# HELP a x\n# TYPE a gauge\na{b="\\u001b"} 1\n'), /^exit 1: /);
  });
});
