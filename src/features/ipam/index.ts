/** The face of this feature: all that other rooms may use of it. */
export { addressesInOrder, adviceFor, countedFaults, shown } from './checks.ts';
export type { IpamFault } from './faults.ts';
export { keepsIpam, keptIpam, newFaults, readKeptIpam } from './kept.ts';
export { givesAddresses, hasOwnCni, type IpamFacts, notedNode, readIpam, readIpamAlone } from './survey.ts';
