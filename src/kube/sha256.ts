/** Of Node itself: Web Crypto begins a job for each text, which takes longer than the sum of a small one. */
export function sha256Of(content: string | Uint8Array): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', content);
}
