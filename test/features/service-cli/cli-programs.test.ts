import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { openArtifacts } from '../../../src/adapters/artifacts/artifacts.ts';
import { localFiles, localMachine } from '../../../src/adapters/machine.ts';
import { openTools } from '../../../src/adapters/tools/tools.ts';
import { openWorkFolder } from '../../../src/adapters/work-folder.ts';
import { installCli } from '../../../src/features/service-cli/effects.ts';
import { cliStage } from '../../../src/features/service-cli/stage.ts';
import { readClusterVersion } from '../../../src/features/verify/stage.ts';
import type { Context } from '../../../src/kernel/context.ts';
import type { EnginePorts } from '../../../src/kernel/effect-type.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import type { Profile } from '../../../src/kernel/profile.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { emptyFolder } from '../../support/folders.ts';
import { NO_SUMS } from '../../support/no-sums.ts';
import { installStandIn } from '../../support/stand-in-cli.ts';
import { ofRelease } from '../../support/stand-in-cli-state.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

const TARGET = NETSVC_TARGET;

describe('the stage cli with real programs and files', () => {
  const home = emptyFolder('cli-stage-');
  let sources: Sources;
  let context: Context;

  beforeEach(async () => {
    for (const folder of ['bin', `files/${TARGET}/bin`]) await mkdir(join(home, folder), { recursive: true });
    await writeFile(join(home, 'kubeconfig'), 'apiVersion: v1\n');
    const kubernetes = ofRelease(TARGET);
    installStandIn(join(home, 'bin', 'netsvcctl'), { generation: 'old', client: 'v3.27.5', kubernetes });
    const profile: Profile = { ...netsvc, cli: { ...netsvc.cli, configFile: join(home, 'netsvcctl.cfg') } };
    // ETCD_ENDPOINTS in the surroundings would make the CLI hang.
    const env = { PATH: [join(home, 'bin'), '/usr/bin', '/bin'].join(delimiter), HOME: home, ETCD_ENDPOINTS: 'https://10.0.0.1:2379' };
    const tools = openTools({
      kubeconfigPath: join(home, 'kubeconfig'),
      env,
      programs: { kubectl: 'kubectl', helm: 'helm', netsvcctl: 'netsvcctl' },
      cliEnvironment: [...netsvc.cli.environment, 'ETCD_ENDPOINTS'],
    });
    const { os, arch } = tools.platform();
    installStandIn(join(home, 'files', TARGET, 'bin', `netsvcctl-${os}-${arch}`), { client: TARGET, kubernetes });
    sources = {
      cluster: clusterOf([]).cluster,
      tools,
      files: localFiles(),
      work: await openWorkFolder(join(home, 'work')),
      artifacts: openArtifacts({ source: join(home, 'files'), env, lastKnownRelease: TARGET, sums: NO_SUMS }),
    } as unknown as Sources;
    context = { ...contextOf({ release: TARGET }, profile), workFolder: join(home, 'work') };
  });

  async function performOnce(): Promise<readonly string[]> {
    const plan = (await cliStage.open(sources, context)).plan();
    if ('skip' in plan) return [];
    const machine = localMachine();
    for (const { effect } of plan.actions) {
      if (effect.type === 'remove-file') await machine.moveAside(effect.file, effect.keepAs);
      if (effect.type === 'install-cli') await installCli({ ...sources, machine } as unknown as EnginePorts, effect);
    }
    return plan.actions.map(({ id }) => id);
  }

  it('replaces the old program, keeps it, and has nothing to do the second time', async () => {
    assert.deepEqual(await performOnce(), ['install', 'configure', 'elsewhere']);
    assert.equal(
      (await sources.tools.run({ tool: 'netsvcctl', args: ['version', '--client'] })).stdout.split('\n')[0],
      `Client Version:    ${TARGET}`,
    );
    assert.match((await readdir(join(home, 'work', 'old-cli')))[0] ?? '', /^netsvcctl-v3\.27\.5-/);
    assert.deepEqual(await performOnce(), []);
  });

  it('lets the new program tell the cluster version, with a stray datastore in the surroundings', async () => {
    await performOnce();
    const clis = [{ file: join(home, 'bin', 'netsvcctl'), release: TARGET }];
    const { cli } = await readClusterVersion(sources, context, clis, 'api');
    assert.deepEqual(cli, { by: `${join(home, 'bin', 'netsvcctl')} version`, value: TARGET });
  });

  it('leaves alone a program that says nothing of itself', async () => {
    await writeFile(join(home, 'bin', 'netsvcctl'), '#!/bin/sh\nexit 1\n');
    await chmod(join(home, 'bin', 'netsvcctl'), 0o755);
    assert.deepEqual(await performOnce(), ['install', 'by-hand-1', 'configure', 'elsewhere']);
    assert.equal(await readFile(join(home, 'bin', 'netsvcctl'), 'utf8'), '#!/bin/sh\nexit 1\n');
  });
});
