import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runExecPlugin } from '../../../src/adapters/kube/exec.ts';
import type { Connection } from '../../../src/adapters/kubeconfig/connection.ts';
import { listed, PLUGIN_API, PLUGIN_CASES, pluginGround } from '../../support/plugin-cases.ts';

type Ground = Awaited<ReturnType<typeof pluginGround>>;

/** Undefined if the plugin ran, else why not. From the ground's home as the current folder. */
async function refusalOf({ command, env, home }: Ground, more: Readonly<Record<string, string>> = {}) {
  const connection = { cluster: {}, env: { ...env, ...more } } as unknown as Connection;
  const before = process.cwd();
  process.chdir(home);
  try {
    const exec = { apiVersion: PLUGIN_API, command, interactiveMode: 'Never' };
    return await runExecPlugin(exec, connection, { terminal: false }).then(
      () => undefined,
      (thrown: { readonly code?: string; readonly message: string }) => thrown,
    );
  } finally {
    process.chdir(before);
  }
}

const onGround = async (one: Parameters<typeof pluginGround>[0], work: (ground: Ground) => Promise<void>) => {
  const ground = await pluginGround(one);
  await work(ground).finally(() => rm(dirname(ground.home), { recursive: true }));
};

describe('a credential plugin, by the preferences of kubectl', () => {
  if (process.platform === 'win32') return;

  for (const one of PLUGIN_CASES)
    it(`${one.runs ? 'runs' : 'does not run'} with ${one.what}`, () =>
      onGround(one, async (ground) => {
        const refusal = await refusalOf(ground);
        assert.equal(existsSync(ground.marker), one.runs, refusal?.message);
        assert.equal(refusal === undefined, one.runs);
      }));

  const denied = PLUGIN_CASES.find(({ what }) => what === 'DenyAll') ?? assert.fail();

  it('is refused with the file and what to do', () =>
    onGround(denied, async (ground) => {
      const refusal = await refusalOf(ground);
      assert.equal(refusal?.code, 'usage');
      assert.equal(
        refusal.message,
        `credential plugin login is not allowed by ${join(ground.home, '.kube', 'kuberc')}: credentialPluginPolicy is DenyAll`,
      );
    }));

  it('goes by the file that KUBERC names, which has to be there, and by none where it is off', () =>
    onGround(denied, async (ground) => {
      for (const [name, off] of [
        ['KUBERC', 'off'],
        ['KUBECTL_KUBERC', 'false'],
      ] as const)
        assert.equal(await refusalOf(ground, { [name]: off }), undefined);
      await rm(ground.marker);
      const file = join(ground.home, 'mine');
      assert.match(
        (await refusalOf(ground, { KUBERC: file }))?.message ?? '',
        /cannot be read, so no credential plugin is run: .*mine: ENOENT/,
      );
      await writeFile(file, 'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n');
      assert.equal(await refusalOf(ground, { KUBERC: file }), undefined);
      await rm(file);
      await mkdir(file);
      assert.match((await refusalOf(ground, { KUBERC: file }))?.message ?? '', /EISDIR/);
    }));

  it('is allowed by the word of kubectl 1.35 as well', () =>
    onGround({ kuberc: listed('login').replace('command:', 'name:') }, async (ground) => assert.equal(await refusalOf(ground), undefined)));

  it('is not run by a file that stands for gigabytes', () => {
    const rows = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array.from({ length: 9 }, () => `*a${i}`).join(', ')}]`);
    const kuberc = `apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\na0: &a0 x\n${rows.join('\n')}\n`;
    return onGround({ kuberc }, async (ground) => {
      assert.match((await refusalOf(ground))?.message ?? '', /Excessive alias count/);
    });
  });
});
