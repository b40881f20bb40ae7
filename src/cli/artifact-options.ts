import type { ArtifactsOptions } from '../adapters/artifacts/artifacts.ts';
import type { Profile } from '../kernel/profile.ts';
import type { ComposeRequest } from './seams.ts';

/** Where the release's files come from. */
export function artifactOptionsOf(
  { flags, env, trace, interruption }: Pick<ComposeRequest, 'flags' | 'env' | 'trace' | 'interruption'>,
  profile: Profile,
): Omit<ArtifactsOptions, 'sums'> {
  // Besides the system's. By default a private mirror's certificate is checked by the API server's authority.
  const certificateAuthority = flags['manifest-ca'] ?? flags['certificate-authority'];
  return {
    source: flags['manifest-url'] ?? profile.manifestUrl ?? '',
    env,
    lastKnownRelease: profile.defaultRelease,
    trace,
    cut: interruption.hard,
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
  };
}
