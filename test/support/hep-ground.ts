import assert from 'node:assert/strict';
import { delimiter, join } from 'node:path';
import { hepStage } from '../../src/features/hosts/stage.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { unlessGone } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type FaultProxy, startFaultProxy } from '../control-plane/fault-proxy.ts';
import { playEndpointControllers } from '../control-plane/host-endpoint-controllers.ts';
import type { GroundOptions, GroundSweep, SweepGround } from './describe-sweep.ts';
import { armed, type FaultPoint, pointText } from './fault-points.ts';
import { FLEET_NODES, type HostFleet, hostFleet } from './hep-fleet.ts';
import { NETSVC_FLEET } from './hep-services.ts';
import { installedCluster, opened } from './installed-cluster.ts';
import { assertDone } from './owner-faults.ts';
import { performStage } from './perform-stage.ts';
import { emptied, expected } from './proxied-ground.ts';
import { installClusterCli } from './service-cli.ts';
import type { Surroundings } from './upgrade-process.ts';

/** The migration to automatic host endpoints on a real server, the CLI's calls included: the controllers act meanwhile, past the proxy. */
export const HEP: GroundSweep = {
  what: 'hosts get automatic endpoints',
  keeps: 'leaves no host without an endpoint or a label at any moment, and ends as the clean run does',
  open: hepGround,
};

const { release, source, manifest, group, createdBy, allowAllProfile, agents, program } = NETSVC_FLEET;
/** Longer than a call of the CLI: who does not wait for an endpoint deletes the old one before it. */
const LATE_MS = 1_500;
/** A wait that a fault keeps from its end is tried again soon. */
const FLAGS = { profile: 'netsvc', release, 'manifest-url': source, timeout: '30s' } as const;

function hepGround({ maxMinutes }: GroundOptions): Promise<SweepGround> {
  return opened(async (endBy) => {
    const cluster = await installedCluster({ manifest, nodes: 3, maxMinutes });
    endBy(cluster.stop);
    const { plane } = cluster;
    const bin = join(plane.dir, 'bin');
    await installClusterCli(cluster, join(bin, program), { group, client: release });
    const fleet = await hostFleet(plane.api, group);
    endBy(fleet.stop);
    const played = { group, createdBy, allowAllProfile, agents, manner: 'new', never: new Set<string>() } as const;
    const controllers = playEndpointControllers(plane.api, { ...played, late: new Map(FLEET_NODES.map((node) => [node, LATE_MS])) });
    endBy(controllers.stop);
    const proxy = await startFaultProxy({ behind: plane.access, kubeconfigPath: join(plane.dir, 'proxy.kubeconfig'), maxMinutes });
    endBy(proxy.stop);
    const { kubectl } = cluster.around;
    const path = [bin, join(kubectl, '..'), '/usr/bin', '/bin'].join(delimiter);
    return swept({
      ...{ plane, fleet, proxy },
      around: { home: join(plane.dir, 'home'), kubeconfig: proxy.kubeconfigPath, kubectl, env: { PATH: path } },
    });
  });
}

interface Ground {
  readonly plane: ControlPlane;
  readonly fleet: HostFleet;
  readonly proxy: FaultProxy;
  readonly around: Surroundings;
}

async function swept({ plane, fleet, proxy, around }: Ground): Promise<SweepGround> {
  const migrate = () => performStage(hepStage, around, FLAGS);
  const asBefore = async () => {
    proxy.disarm();
    await forgetRuns(plane);
    await emptied(around.home);
    await fleet.reset();
  };

  /** The migration with the fault on the way, and once more. */
  const round = async (where: string, fault?: FaultPoint) => {
    await asBefore();
    const losses = await fleet.watched();
    if (fault) proxy.arm(armed(fault));
    const first = await migrate().catch(expected);
    const struck = proxy.disarm();
    const what = `${where}: ${struck?.method} ${struck?.path}`;
    // Without a fault it must be done at once; the second try has nothing to do then.
    if (!struck && first) assertDone(first, what);
    assert.ok(struck || first, `${what}: it was refused though no fault was met`);
    assert.deepEqual(losses, [], what);
    assertDone(await migrate(), what);
    await fleet.seen();
    assert.deepEqual(losses, [], what);
    return { struck, what, end: await fleet.state() };
  };

  const from = proxy.requests.length;
  const { end } = await round('without a fault');
  const clean = proxy.requests.slice(from);
  return {
    clean,
    async sweep(point) {
      const { struck, what, end: now } = await round(pointText(point), point);
      assert.deepEqual(now, end, what);
      return struck !== undefined;
    },
  };
}

/** No record and no lock of a run in the cluster any more. */
async function forgetRuns({ api }: ControlPlane): Promise<void> {
  const secrets = '/api/v1/namespaces/kube-system/secrets';
  const { items } = await api.get<{ readonly items: readonly KubeObject[] }>(secrets);
  const ours = items
    .filter(({ metadata }) => metadata.name.startsWith('netsvc-upgrade-'))
    .map(({ metadata }) => `${secrets}/${metadata.name}`);
  for (const path of [...ours, '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/netsvc-upgrade'])
    await api.send('DELETE', path).catch(unlessGone);
}
