import { faultsIn, type Room } from './seeded-fault.ts';

export const LOCK: Room = {
  name: 'lock',
  tests: ['test/adapters/lock/lock.test.ts', 'test/adapters/records/records.test.ts', 'test/adapters/tools/await-orphans.test.ts'],
  faults: [
    ...faultsIn('src/adapters/lock/lock.ts', [
      ['lease && !isFree(lease, now) ? holderOf(lease) : undefined', 'lease ? holderOf(lease) : undefined'],
      ['return holder && isGone?.(holder.identity) ? undefined : holder;', 'return holder;'],
      ['if (holder) throw locked(holder);\n', ''],
      ['(await deps.awaitOrphans?.(holderOf(before)?.identity)) === true', 'false'],
      [
        'const lease = before ? await cluster.replace(K.Lease, wanted) : await cluster.create(K.Lease, wanted);',
        'const lease = await cluster.create(K.Lease, wanted);',
      ],
      ['!own.hadOrphans && first?.state', 'first?.state'],
      ['first?.state !== undefined && first.state ===', 'first?.state ==='],
      ['first?.state !== undefined && first.state === freeState(own.before);', 'first?.state !== undefined;'],
      ['first ??= { state', 'first = { state'],
      ['holderOf(lease) || specOf(lease).renewTime ?', 'holderOf(lease) ?'],
      ['throw quicker ? locked(quicker) : thrown;', 'throw thrown;'],
      ['if (holder && holder.identity !== identity) throw locked(holder);', ''],
      [
        'deps.cluster.replace(K.Lease, renewed(await stillOurs(read, deps.identity), await serverNow(deps)));',
        'deps.cluster.replace(K.Lease, renewed((await read()) ?? lease, await serverNow(deps)));',
      ],
      ['      since = attempt;\n', ''],
      ['since = attempt;', 'since = (deps.startStopwatch ?? startStopwatch)();'],
      ['else if (isTooOld()) lose(notRenewed(thrown));', ''],
      ['if (!isOurs(live)) return;', 'if (!live) return;'],
      ['if (isOurs(await read())) throw thrown;', ''],
      ['if (!lost.signal.aborted && isTooOld()) lose(notRenewed(undefined));', ''],
      ['if (running && isTooOld()) lose(notRenewed(undefined));', ''],
      ['return clock.now().getTime() + skew;', 'return clock.now().getTime();'],
      ["thrown instanceof ApiFailure && thrown.status === 404 ? takenAway('nobody') : undefined", 'undefined'],
      ['thrown instanceof OtherCluster || ', ''],
      ["(thrown instanceof Fault && thrown.code === 'locked')", 'thrown instanceof Fault'],
    ]),
    ...faultsIn('src/adapters/lock/lease.ts', [
      ['serverNow > renewed + leaseDurationSeconds * 1000', 'serverNow > renewed + leaseDurationSeconds'],
      ['!holderIdentity || Number.isNaN(renewed) ||', '!holderIdentity ||'],
      ['return { ...lease, spec: { ...specOf(lease), renewTime: microTime(serverNow) } };', 'return { ...lease };'],
      ["spec: { holderIdentity: '',", "spec: { holderIdentity: specOf(lease).holderIdentity ?? '',"],
    ]),
    ...faultsIn('src/adapters/lock/lease.ts', [['(LEASE_SECONDS - 15) * 1000', '(LEASE_SECONDS + 15) * 1000']]),
  ],
};
