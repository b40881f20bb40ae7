import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { installedCluster } from '../test/support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../test/support/releases.ts';
import { program } from '../test/support/upgrade-process.ts';
import { interleave, ratioTable, type Section } from './measure.ts';

/** One request with Node's own means: what no program on Node can be quicker than. */
const BARE_HTTPS = `
const { request } = process.getBuiltinModule('node:https');
const { readFileSync, writeSync } = process.getBuiltinModule('node:fs');
const text = readFileSync(process.env.KUBECONFIG, 'utf8');
const [server, ca, cert, key] = ['server', 'certificate-authority-data', 'client-certificate-data', 'client-key-data'].map((name) => new RegExp(name + ': (.*)').exec(text)[1]);
const pem = (data) => Buffer.from(data, 'base64');
request(server + '/api/v1/namespaces/kube-system', { ca: pem(ca), cert: pem(cert), key: pem(key) }, (answer) => {
  answer.setEncoding('utf8').on('data', (part) => writeSync(1, part)).on('end', () => process.exit());
}).end();
`;

/** The shortest command that asks the cluster something, against kubectl asking for one object. */
export async function oneRequest(): Promise<Section> {
  const cluster = await installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 1 });
  try {
    const { kubeconfig: json, kubectl, home } = cluster.around;
    // As users have it: the YAML that kubectl writes.
    const kubeconfig = join(home, 'config');
    const { stdout } = await execa(kubectl, ['config', 'view', '--raw', '-o', 'yaml', `--kubeconfig=${json}`]);
    await writeFile(kubeconfig, stdout, { mode: 0o600 });
    const env = { KUBECONFIG: kubeconfig, HOME: home, PATH: `${join(kubectl, '..')}:${process.env.PATH ?? ''}` };
    // With more authorities than its own Node reads them all for its first connection: a setting of the machine, not of the program.
    const plainly = { ...env, NODE_EXTRA_CA_CERTS: '' };
    const node = process.execPath;
    const figures = await interleave(
      [
        { name: '`kubectl get --raw`', program: kubectl, args: ['get', '--raw', '/api/v1/namespaces/kube-system'], env },
        { name: '`node -e 0`', program: node, args: ['-e', '0'], env: plainly },
        { name: 'the same request with `node:https` alone', program: node, args: ['-e', BARE_HTTPS], env: plainly },
        { name: '`netsvc-upgrade unlock`', program, args: ['unlock'], env: plainly },
        { name: '`kubectl __complete get ns ""`', program: kubectl, args: ['__complete', 'get', 'ns', ''], env },
        {
          name: 'completion of namespaces, `__complete status -n ""`',
          program,
          args: ['__complete', 'status', '-n', ''],
          env: plainly,
        },
        { name: '`netsvc-upgrade status`', program, args: ['status', '--profile', 'netsvc'], env: plainly },
      ],
      15,
    );
    return {
      title: 'One request',
      aim: 'at most 3× kubectl, which is started for the kubeconfig; completion at most 300 ms',
      lines: ratioTable(figures),
    };
  } finally {
    await cluster.stop();
  }
}
