const known = new WeakSet<NodeJS.WriteStream>();

/** The stream; a reader that goes away (`| head -1`) ends the output, never the upgrade. */
export function surviving<Stream extends NodeJS.WriteStream>(stream: Stream): Stream {
  if (known.has(stream)) return stream;
  known.add(stream);
  return stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
