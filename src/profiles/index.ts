import type { Profile } from '../kernel/profile.ts';
import { calico } from './calico.ts';
import { netsvc } from './netsvc.ts';

/** The profiles that come with the program, by `--profile` name. */
export const shippedProfiles: readonly Profile[] = [netsvc, calico];
