import { writeFileSync } from 'node:fs';
import { installedCluster, within } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { told } from '../support/upgrade-process.ts';

const RUN = ['run', '--yes', '--skip', 'cli', '--accept', 'NS-301', '--manifest-url', releases] as const;

describe('rollback on a real control plane', function () {
  this.timeout(600_000);

  it('goes back', () =>
    within(installedCluster({ manifest: manifestFile('v3.27.5', process.env.MF ?? 'calico.yaml', releases), nodes: 3 }), async (cluster) => {
      const dump = async (name: string) => {
        const text = await cluster.plane.kubectl(['get', 'all,cm,sa,clusterrole,clusterrolebinding,role,rolebinding,pdb,crd', '-A', '-o', 'json', '--show-managed-fields=false']);
        writeFileSync(`/tmp/rb-${name}.json`, typeof text === 'string' ? text : (text as any).stdout);
      };
      await dump('before');
      const went = await cluster.upgrade(...RUN);
      console.log(went.exitCode, told(went));
      await dump('new');
      const plan = await cluster.upgrade('rollback', '--dry-run=client', '--manifest-url', releases);
      console.log(plan.exitCode, told(plan));
      const back = await cluster.upgrade('rollback', '--yes', '--manifest-url', releases, '--accept', 'NS-301');
      console.log(back.exitCode, told(back));
      await dump('after');
      const status = await cluster.upgrade('status');
      console.log(status.exitCode, told(status));
      const again = await cluster.upgrade('rollback', '--yes', '--manifest-url', releases);
      console.log(again.exitCode, told(again));
    }));
});
